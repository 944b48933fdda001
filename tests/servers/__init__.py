"""Servers of our own that tests speak to."""
