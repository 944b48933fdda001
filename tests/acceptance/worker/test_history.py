"""What workers read when the store holds much that has ended."""

from typing import Final

import psycopg

from runner.core.states import TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.workers import working
from tests.waiting import until

ENDED: Final = 100_000

_COPIES: Final = """
    INSERT INTO {table} ({columns})
    SELECT {values} FROM {table} CROSS JOIN generate_series(1, %(count)s) AS copy
"""
_READ: Final = """
    SELECT coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)
    FROM pg_stat_user_tables WHERE relname = 'turns'
"""


def copy_rows(connection: psycopg.Connection, table: str, changed: dict[str, str]) -> None:
    """Multiply the rows of *table*, with *changed* columns given as expressions."""
    found = connection.execute(
        "SELECT column_name FROM information_schema.columns WHERE table_name = %s", [table]
    )
    columns = [str(row[0]) for row in found]
    statement = _COPIES.format(
        table=table,
        columns=", ".join(columns),
        values=", ".join(changed.get(column, column) for column in columns),
    )
    connection.execute(statement.encode(), {"count": ENDED})


def rows_read(connection: psycopg.Connection) -> int:
    row = connection.execute(_READ).fetchone()
    assert row is not None
    return int(row[0])


def test_neither_claims_nor_sweeps_read_turns_that_ended(make_project: MakeProject) -> None:
    project = make_project("postgresql-memory://", interval="100ms")
    runner = project.runner
    runner.run("actor", "say something")
    with psycopg.connect(project.database, autocommit=True) as connection:
        copy_rows(connection, "conversations", {"id": "id || '_' || copy"})
        copy_rows(
            connection,
            "turns",
            {
                "id": "id || '_' || copy",
                "conversation_id": "conversation_id || '_' || copy",
            },
        )
        connection.execute("ANALYZE")
        before = rows_read(connection)

        with working(project) as worker:
            turns = [runner.submit("actor", "act once") for _ in range(20)]
            ended = [runner.wait(turn.id) for turn in turns]
            worker.ask_to_stop()
            worker.wait()

        connection.execute("SELECT pg_stat_clear_snapshot()")
        until(lambda: rows_read(connection) > before, "the server to count")
        read = rows_read(connection) - before

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert read < ENDED / 10
