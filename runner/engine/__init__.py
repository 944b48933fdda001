"""The turn loop and what surrounds it."""
