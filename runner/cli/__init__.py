"""The command line: thin users of the Python API."""
