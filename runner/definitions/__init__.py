"""YAML documents, what they mean, and their registry."""
