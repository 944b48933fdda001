"""Definitions brought to life."""
