import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from sqlalchemy import create_engine, text

from runner.core.clock import SystemClock
from runner.core.errors import (
    ConfigError,
    OutboundCancelled,
    OutboundError,
    OutboundRefused,
    OutboundTimeout,
)
from runner.core.jsonvalue import JsonValue
from runner.core.tooling import Cancellation
from runner.outbound.databases import Query, ReadOnlyDatabase, Rows, open_read_only
from runner.outbound.limit import Limit
from tests.fakes.cancellation import never

SLOW = {
    "sqlite": """
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n
    """,
    "postgresql": "SELECT pg_sleep(60)",
}


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "sqlite":
        return f"sqlite:///{tmp_path / 'crm.db'}"
    url: str = request.getfixturevalue("empty_postgres_url")
    return url.replace("postgresql://", "postgresql+psycopg://")


@pytest.fixture
def database(url: str, tmp_path: Path) -> Iterator[ReadOnlyDatabase]:
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT)"))
        rows = [{"id": number, "name": f"n{number}%"} for number in range(1, 6)]
        connection.execute(text("INSERT INTO accounts VALUES (:id, :name)"), rows)
    engine.dispose()
    opened = open_read_only("crm", url, root=tmp_path, pool_size=2)
    yield opened
    opened.close()


def ask(
    database: ReadOnlyDatabase,
    statement: str,
    *,
    seconds: float = 20,
    max_rows: int = 100,
    cancelled: Cancellation | None = None,
    **parameters: JsonValue,
) -> Rows:
    query = Query(statement=statement, parameters=parameters, max_rows=max_rows)
    return database.ask(query, limit=Limit(seconds, cancelled or never(), SystemClock()))


def names(database: ReadOnlyDatabase) -> list[JsonValue]:
    return [row["name"] for row in ask(database, "SELECT name FROM accounts ORDER BY id").rows]


def test_what_is_bound_stays_a_value(database: ReadOnlyDatabase) -> None:
    hostile = "x' OR '1'='1"

    assert ask(database, "SELECT id FROM accounts WHERE name = :name", name=hostile).rows == []
    assert ask(database, "SELECT :name AS said", name=hostile).rows == [{"said": hostile}]


def test_percent_signs_and_colons_in_texts_stay_what_they_are(database: ReadOnlyDatabase) -> None:
    statement = "SELECT '10:30 %(x)s %' AS a FROM accounts WHERE name LIKE 'n3%' AND id = :id"

    assert ask(database, statement, id=3).rows == [{"a": "10:30 %(x)s %"}]


def test_no_more_rows_are_read_than_may_be(database: ReadOnlyDatabase) -> None:
    statement = "SELECT id FROM accounts ORDER BY id"

    assert ask(database, statement, max_rows=2) == Rows(rows=[{"id": 1}, {"id": 2}], is_cut=True)
    assert not ask(database, statement, max_rows=5).is_cut


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM accounts",
        "INSERT INTO accounts VALUES (9, 'x')",
        "UPDATE accounts SET name = 'x'",
        "DROP TABLE accounts",
        "CREATE TABLE other (id INTEGER)",
        "WITH gone AS (DELETE FROM accounts RETURNING id) SELECT * FROM gone",
    ],
)
def test_nothing_can_be_written(database: ReadOnlyDatabase, statement: str) -> None:
    with pytest.raises(OutboundError, match="the database 'crm' raised"):
        ask(database, statement)

    assert names(database) == ["n1%", "n2%", "n3%", "n4%", "n5%"]


@pytest.mark.parametrize(
    "statement",
    ["SELECT 1; DELETE FROM accounts", "COMMIT; DELETE FROM accounts", "", "/* only this */"],
)
def test_only_one_statement_is_run(database: ReadOnlyDatabase, statement: str) -> None:
    with pytest.raises(OutboundRefused, match="not one statement"):
        ask(database, statement)

    assert len(names(database)) == 5


@pytest.mark.parametrize(
    "statement",
    [
        "ATTACH DATABASE 'other.db' AS other",
        "PRAGMA query_only = OFF",
        "SELECT load_extension('x')",
        "VACUUM INTO 'copy.db'",
        "BEGIN IMMEDIATE",
    ],
)
@pytest.mark.parametrize("kind", ["sqlite"])
def test_sqlite_reaches_no_other_file(
    database: ReadOnlyDatabase, tmp_path: Path, statement: str
) -> None:
    with pytest.raises(OutboundError):
        ask(database, statement)

    assert [path.name for path in tmp_path.iterdir()] == ["crm.db"]


@pytest.mark.parametrize("kind", ["postgresql"])
@pytest.mark.parametrize(
    "statement",
    [
        "SET TRANSACTION READ WRITE",
        "SELECT set_config('transaction_read_only', 'off', true)",
        "COMMIT",
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE",
        "SELECT set_config('default_transaction_read_only', 'off', false)",
    ],
)
def test_no_statement_makes_the_next_one_write(database: ReadOnlyDatabase, statement: str) -> None:
    for _ in range(3):
        try:
            ask(database, statement)
        except OutboundError:
            continue

    with pytest.raises(OutboundError):
        ask(database, "DELETE FROM accounts")
    with pytest.raises(OutboundError):
        ask(database, "WITH gone AS (DELETE FROM accounts RETURNING id) SELECT * FROM gone")
    assert len(names(database)) == 5


def test_a_statement_ends_with_the_limit(database: ReadOnlyDatabase, kind: str) -> None:
    began = time.monotonic()

    with pytest.raises(OutboundTimeout):
        ask(database, SLOW[kind], seconds=0.5)

    assert time.monotonic() - began < 8
    assert len(names(database)) == 5


def test_a_statement_that_nobody_wants_any_more_ends(database: ReadOnlyDatabase, kind: str) -> None:
    flag = never()
    Timer(0.5, flag.set).start()
    began = time.monotonic()

    with pytest.raises(OutboundCancelled):
        ask(database, SLOW[kind], cancelled=flag)

    assert time.monotonic() - began < 8


def test_an_error_quotes_neither_the_statement_nor_its_values(database: ReadOnlyDatabase) -> None:
    with pytest.raises(OutboundError) as caught:
        ask(database, "SELECT secret_column FROM accounts WHERE name = :name", name="hunter2")

    assert "hunter2" not in str(caught.value)
    assert "secret_column" not in str(caught.value)


@pytest.mark.parametrize("kind", ["postgresql"])
def test_values_of_every_type_become_json(database: ReadOnlyDatabase) -> None:
    statement = """
        SELECT DATE '2026-01-02' AS day, 1.50::numeric AS price, ARRAY[1, 2] AS list,
               '{"a": [true, null]}'::jsonb AS json, 'ab'::bytea AS bytes, NULL AS nothing
    """

    assert ask(database, statement).rows == [
        {
            "day": "2026-01-02",
            "price": "1.50",
            "list": [1, 2],
            "json": {"a": [True, None]},
            "bytes": "ab",
            "nothing": None,
        }
    ]


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    database = open_read_only("crm", "sqlite:///none.db", root=tmp_path, pool_size=1)

    with pytest.raises(OutboundError, match="not there"):
        ask(database, "SELECT 1")

    assert list(tmp_path.iterdir()) == []


def test_a_relative_file_starts_at_the_project(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "a b#.db").close()
    database = open_read_only("crm", "sqlite:///a b#.db", root=tmp_path, pool_size=1)

    assert ask(database, "SELECT 1 AS a").rows == [{"a": 1}]


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:", "mysql://host/name"])
def test_what_is_no_database_is_refused(tmp_path: Path, url: str) -> None:
    with pytest.raises(ConfigError, match=r"databases\.crm\.url"):
        open_read_only("crm", url, root=tmp_path, pool_size=1)
