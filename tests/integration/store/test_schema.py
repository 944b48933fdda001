from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine.interfaces import ReflectedIndex

from runner.core.errors import SchemaMismatch
from runner.store.database import Database, open_database
from runner.store.schema import ensure_schema, schema_version, upgrade_schema
from runner.store.store import Store
from runner.store.tables import Table as Tables


@pytest.fixture(params=["sqlite", "postgresql"])
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database without a schema, of each kind."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path}/new.db"
    else:
        url = request.getfixturevalue("empty_postgres_url")
    database = open_database(url)
    yield database
    database.close()


def run(database: Database, statement: str) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text(statement))

    database.write(work)


def test_an_empty_database_gets_its_schema_where_that_is_wanted(empty: Database) -> None:
    ensure_schema(empty, create=True)

    ensure_schema(empty)
    assert Store.over(empty).views.counts() == {}


def test_an_empty_database_is_refused_where_that_is_not_wanted(empty: Database) -> None:
    with pytest.raises(SchemaMismatch, match=r"has no schema yet .* run `runner db upgrade`$"):
        ensure_schema(empty)


def test_a_database_of_something_else_gets_no_schema_by_itself(empty: Database) -> None:
    run(empty, "CREATE TABLE shop (id int)")

    with pytest.raises(SchemaMismatch, match="has no schema yet"):
        ensure_schema(empty, create=True)

    upgrade_schema(empty)
    ensure_schema(empty)


def test_upgrading_again_changes_nothing(empty: Database) -> None:
    upgrade_schema(empty)
    upgrade_schema(empty)

    ensure_schema(empty)


def test_of_many_that_start_together_one_makes_the_schema(empty: Database) -> None:
    """Processes that start together: one holds the lock, the others find the schema made."""
    others = [open_database(str(empty.engine.url)) for _ in range(4)]

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda other: ensure_schema(other, create=True), others))

    ensure_schema(empty)
    for other in others:
        other.close()


def test_an_older_schema_is_refused_with_the_command_to_run(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = schema_version()
    monkeypatch.setattr("runner.store.schema.schema_version", lambda: "9999")

    with pytest.raises(SchemaMismatch) as caught:
        ensure_schema(database)

    assert str(caught.value) == (
        f"the database has schema {current} and this program needs 9999; run `runner db upgrade`"
    )


def test_a_newer_schema_is_refused(empty: Database) -> None:
    upgrade_schema(empty)
    run(empty, "UPDATE alembic_version SET version_num = '9999'")

    for attempt in (ensure_schema, upgrade_schema):
        with pytest.raises(SchemaMismatch) as caught:
            attempt(empty)
        assert str(caught.value) == (
            "the database has schema 9999, which is newer than this program's "
            f"{schema_version()}; upgrade the program"
        )


def test_an_upgrade_that_fails_leaves_nothing_behind(empty: Database) -> None:
    run(empty, "CREATE TABLE events (id int)")

    with pytest.raises(Exception, match="already exists"):
        upgrade_schema(empty)

    names = empty.read(lambda connection: inspect(connection).get_table_names())
    assert names == ["events"]


def description(database: Database) -> dict[str, object]:
    """Describe every table in the words of the database itself."""

    def describe(connection: Connection) -> dict[str, object]:
        inspector = inspect(connection)
        return {
            name: [
                [repr(column) for column in inspector.get_columns(name)],
                inspector.get_pk_constraint(name),
                sorted(map(repr, inspector.get_check_constraints(name))),
                sorted(map(repr, inspector.get_foreign_keys(name))),
                sorted(_index(index) for index in inspector.get_indexes(name)),
            ]
            for name in inspector.get_table_names()
            if name != "alembic_version"
        }

    return database.read(describe)


def _index(index: ReflectedIndex) -> str:
    options = index.pop("dialect_options", {})
    return repr((index, {name: str(value) for name, value in options.items()}))


def test_the_migrations_make_the_tables_as_they_are_declared(
    database: Database, empty_postgres_url: str, tmp_path: Path
) -> None:
    here = database.engine.dialect.name
    url = {"sqlite": f"sqlite:///{tmp_path}/declared.db", "postgresql": empty_postgres_url}[here]
    declared = open_database(url)
    declared.write(Tables.metadata.create_all)

    assert description(database) == description(declared)
    declared.close()
