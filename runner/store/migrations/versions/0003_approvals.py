"""Approvals, and the agents whose policies apply to a turn."""

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Change nothing yet."""
