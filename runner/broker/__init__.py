"""The message broker: how wake-ups are sent and how a worker receives them."""
