"""What tests do to a store beside its own roles: move its clock's marks, count what it executes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from sqlalchemy import Connection, event, update

from runner.store.clock import db_now, db_now_plus
from runner.store.database import Database
from runner.store.tables import ApprovalRow, TurnRow

_AGO = timedelta(seconds=-1)


@dataclass
class Counts:
    """What a database was asked since the counting began."""

    statements: int = 0
    commits: int = 0
    #: Of statements that write, with their parameters.
    bytes_written: int = 0
    texts: list[str] = field(default_factory=list)


@contextmanager
def counting(database: Database) -> Iterator[Counts]:
    """Count the statements and commits that go to *database*."""
    counts = Counts()

    def on_statement(
        _connection: Connection, _cursor: object, statement: str, parameters: object, *_: object
    ) -> None:
        if not statement.startswith("BEGIN"):
            counts.statements += 1
            counts.texts.append(statement)
        if not statement.startswith(("BEGIN", "SELECT")):
            counts.bytes_written += len(statement) + len(repr(parameters))

    def on_commit(_connection: Connection) -> None:
        counts.commits += 1

    event.listen(database.engine, "before_cursor_execute", on_statement)
    event.listen(database.engine, "commit", on_commit)
    try:
        yield counts
    finally:
        event.remove(database.engine, "before_cursor_execute", on_statement)
        event.remove(database.engine, "commit", on_commit)


def expire_lease(database: Database, turn_id: str) -> None:
    """Let the lease of a running turn be over."""
    _set(database, turn_id, lease_expires_at=db_now_plus(_AGO))


def make_due(database: Database, turn_id: str) -> None:
    """Let a pending turn be claimable now, whatever it was to wait for."""
    _set(database, turn_id, not_before=None, due_at=db_now())


def pass_deadline(database: Database, turn_id: str) -> None:
    """Let a turn's deadline have passed, which also makes it due."""
    _set(database, turn_id, deadline_at=db_now_plus(_AGO))
    _set(database, turn_id, only="pending", due_at=db_now_plus(_AGO))


def _set(database: Database, turn_id: str, only: str | None = None, **values: object) -> None:
    statement = update(TurnRow).where(TurnRow.id == turn_id).values(values)
    if only:
        statement = statement.where(TurnRow.status == only)

    def change(connection: Connection) -> None:
        connection.execute(statement)

    database.write(change)


def expire_approval(database: Database, approval_id: str) -> None:
    """Let the time to answer an approval be over."""
    statement = update(ApprovalRow).where(ApprovalRow.id == approval_id)
    past = statement.values(expires_at=db_now_plus(_AGO))
    database.write(lambda connection: connection.execute(past))
