"""Clients: one module or package for each provider of models."""
