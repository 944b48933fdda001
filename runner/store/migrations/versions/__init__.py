"""One module for each schema version, named for its place in the order."""
