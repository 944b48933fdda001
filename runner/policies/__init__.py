"""Policies: what their rules say to what is attempted."""
