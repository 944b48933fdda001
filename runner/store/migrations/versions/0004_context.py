"""What turns and conversations are about."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("turns", sa.Column("subject", sa.Text()))
    op.add_column("conversations", sa.Column("context", sa.Text()))
    op.add_column("conversations", sa.Column("subject", sa.Text()))
    # A task has its conversation to itself, so that what was given to one was given to both.
    op.execute(
        "UPDATE conversations SET context = (SELECT turns.context FROM turns"
        " WHERE turns.conversation_id = conversations.id AND turns.kind = 'task'"
        " ORDER BY turns.created_at, turns.id LIMIT 1)"
    )
