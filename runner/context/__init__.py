"""What gives live context to turns, brought to life."""
