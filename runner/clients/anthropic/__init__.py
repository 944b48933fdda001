"""The client for Claude, on the official SDK."""
