"""Chooses every implementation, once."""
