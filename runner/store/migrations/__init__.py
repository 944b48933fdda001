"""The steps that bring a database from one schema version to the next."""
