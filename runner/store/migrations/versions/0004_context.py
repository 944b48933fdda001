"""What turns and conversations are about."""

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Change nothing yet."""
