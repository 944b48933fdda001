import socket
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Event

import pytest
from sqlalchemy import Connection, Select, literal, make_url, select, text
from sqlalchemy.exc import OperationalError

from runner.core.errors import ConfigError, StoreError, StoreUnavailable
from runner.store.database import Database, open_database
from runner.store.engines import postgresql_engine
from runner.store.store import Store
from runner.store.tables import DefinitionRow
from tests.integration.store.builders import add, claim, step

SHORT = timedelta(milliseconds=200)
BODIES: Select[str] = select(DefinitionRow.body)


@dataclass(frozen=True)
class Refusing:
    """An address where nothing listens, for as long as the port is held."""

    url: str
    held: socket.socket


@pytest.fixture
def refusing() -> Iterator[Refusing]:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        yield Refusing(f"postgresql://ada:secret@127.0.0.1:{port}/shop", held)


@pytest.fixture
def postgres(postgres_url: str) -> Iterator[Database]:
    database = open_database(postgres_url)
    yield database
    database.close()


def probe(connection: Connection) -> int:
    return connection.execute(select(literal(1))).scalar_one()


def save(store: Store, content_hash: str) -> None:
    store.intake.save_definition(content_hash=content_hash, kind="agent", name="a", body="b")


@pytest.mark.parametrize(
    ("url", "message"),
    [
        pytest.param("runner.db", "write sqlite:///FILE or postgresql://", id="no-url"),
        pytest.param("mysql://host/db", "not 'mysql'", id="another-database"),
        pytest.param("sqlite://", "needs a file", id="in-memory"),
        pytest.param("sqlite:///:memory:", "needs a file", id="in-memory-by-name"),
    ],
)
def test_an_address_that_cannot_be_used_is_a_mistake_in_the_config(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        open_database(url)


def test_an_unreachable_server_is_tried_five_times_and_named_without_its_password(
    refusing: Refusing,
) -> None:
    pauses: list[float] = []
    engine = postgresql_engine(
        make_url(refusing.url), pool_size=1, pool_timeout=timedelta(seconds=1)
    )
    database = Database(engine, busy_timeout=SHORT, pause=pauses.append)

    with pytest.raises(StoreUnavailable) as caught:
        database.write(probe)

    place = f"postgresql://ada@127.0.0.1:{refusing.held.getsockname()[1]}/shop"
    assert str(caught.value) == (
        f"cannot reach the database at {place!r}: connection refused; is it running?"
    )
    assert len(pauses) == 4
    assert all(pause > 0 for pause in pauses)


def test_an_unreachable_server_is_tried_for_as_long_as_asked(refusing: Refusing) -> None:
    pauses: list[float] = []
    engine = postgresql_engine(
        make_url(refusing.url), pool_size=1, pool_timeout=timedelta(seconds=1)
    )
    database = Database(engine, busy_timeout=SHORT, pause=pauses.append)

    with pytest.raises(StoreUnavailable):
        database.write(probe, insist=lambda: len(pauses) < 9)

    assert len(pauses) == 9
    assert max(pauses) < 3


def test_a_database_that_does_not_exist_is_said_to_be_missing(postgres_url: str) -> None:
    url = make_url(postgres_url).set(database="nowhere").render_as_string(hide_password=False)
    database = open_database(url)

    with pytest.raises(StoreUnavailable, match=r'database "nowhere" does not exist$'):
        database.read(probe)


def test_a_refused_statement_is_not_tried_again(database: Database) -> None:
    attempts: list[int] = []

    def work(connection: Connection) -> None:
        attempts.append(1)
        connection.execute(text("INSERT INTO definitions (body) VALUES (NULL), (1, 2)"))

    with pytest.raises(StoreError):
        database.write(work)

    assert len(attempts) == 1


def test_a_broken_constraint_is_an_error_where_none_was_expected(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute(text("INSERT INTO definitions (content_hash) VALUES ('x')"))

    with pytest.raises(StoreError, match="refused a statement"):
        database.write(work)


def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    def work(connection: Connection) -> None:
        connection.execute(
            text("INSERT INTO definitions VALUES ('h', 'agent', 'a', 'b', :at)"),
            {"at": 0 if database.engine.dialect.name == "sqlite" else "2026-01-01"},
        )
        raise KeyError

    with pytest.raises(KeyError):
        database.write(work)

    assert list(database.rows(BODIES)) == []


def test_waiting_for_a_connection_ends_with_advice(database_url: str) -> None:
    database = open_database(database_url, pool_size=1, pool_timeout=timedelta(milliseconds=50))

    with database.engine.connect(), pytest.raises(StoreUnavailable, match=r"raise .*pool_size"):
        database.read(probe)

    database.close()


def test_connections_killed_while_idle_are_replaced(postgres: Database, postgres_url: str) -> None:
    """Connections killed between steps: found dead when they are taken from the pool."""
    store = Store.over(postgres)
    claimed = claim(store, add(store))
    other = open_database(postgres_url)
    other.read(
        lambda connection: connection.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        ).all()
    )

    store.journal.commit(step(claimed))

    assert store.views.turn(claimed.turn.id).step == 1
    other.close()


def test_a_transaction_whose_connection_is_killed_is_run_again(postgres: Database) -> None:
    attempts: list[int] = []

    def work(connection: Connection) -> int:
        attempts.append(1)
        if len(attempts) == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return probe(connection)

    assert postgres.write(work) == 1
    assert len(attempts) == 2


def test_a_transaction_that_the_server_ended_for_doing_nothing_is_run_again(
    postgres: Database, postgres_url: str
) -> None:
    watcher = open_database(postgres_url)
    attempts: list[int] = []

    def is_gone(pid: int) -> bool:
        statement = text("SELECT count(*) FROM pg_stat_activity WHERE pid = :pid")
        count = watcher.read(lambda c: c.execute(statement, {"pid": pid}).scalar_one())
        return bool(count == 0)

    def work(connection: Connection) -> int:
        attempts.append(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
        if len(attempts) == 1:
            connection.execute(text("SET idle_in_transaction_session_timeout = '1ms'"))
            while not is_gone(attempts[0]):
                pass
        return probe(connection)

    assert postgres.write(work) == 1
    assert len(attempts) == 2
    watcher.close()


def test_of_two_transactions_in_deadlock_both_succeed(postgres: Database) -> None:
    store = Store.over(postgres)
    turns = [add(store).id, add(store).id]
    both_hold_one = Barrier(2)
    attempts: list[str] = []

    def lock_in(order: list[str]) -> None:
        waited = False

        def work(connection: Connection) -> None:
            nonlocal waited
            attempts.append(order[0])
            lock = text("UPDATE turns SET agent = 'x' WHERE id = :id")
            connection.execute(lock, {"id": order[0]})
            if not waited:
                waited = True
                both_hold_one.wait()
            connection.execute(lock, {"id": order[1]})

        postgres.write(work)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lock_in, [list(turns), list(reversed(turns))]))

    assert len(attempts) == 3


def test_a_transaction_that_does_nothing_for_long_is_ended_by_the_server(
    postgres: Database,
) -> None:
    def settings(connection: Connection) -> list[str]:
        names = ("idle_in_transaction_session_timeout", "TimeZone", "application_name")
        return [connection.execute(text(f"SHOW {name}")).scalar_one() for name in names]

    assert postgres.read(settings) == ["5s", "UTC", "runner"]


def test_a_locked_file_is_waited_for_and_then_named(sqlite_url: str, tmp_path: Path) -> None:
    """Another process holds SQLite's lock for longer than we wait."""
    database = open_database(sqlite_url, busy_timeout=SHORT)
    store = Store.over(database)
    holder = sqlite3.connect(tmp_path / "runner.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable) as caught:
        save(store, "h")

    assert str(caught.value) == (
        f"the database file '{tmp_path / 'runner.db'}' stayed locked for 0.2 s"
    )
    assert list(database.rows(BODIES)) == []
    holder.execute("COMMIT")
    holder.close()
    save(store, "h")
    assert len(database.rows(BODIES)) == 1
    database.close()


def test_a_lock_that_is_let_go_in_time_is_no_error(sqlite_url: str, tmp_path: Path) -> None:
    database = open_database(sqlite_url)
    holder = sqlite3.connect(tmp_path / "runner.db", isolation_level=None, check_same_thread=False)
    holder.execute("BEGIN IMMEDIATE")
    writer = threading.Thread(target=save, args=[Store.over(database), "h"])
    writer.start()
    holder.execute("COMMIT")
    writer.join()

    assert len(database.rows(BODIES)) == 1
    holder.close()
    database.close()


def test_threads_of_one_process_wait_for_one_another_as_long_as_for_the_file(
    sqlite_url: str,
) -> None:
    database = open_database(sqlite_url, busy_timeout=SHORT)
    writing, done = Event(), Event()

    def hold(_connection: Connection) -> None:
        writing.set()
        done.wait()

    holder = threading.Thread(target=database.write, args=[hold])
    holder.start()
    writing.wait()
    with pytest.raises(StoreUnavailable, match=r"stayed locked for 0\.2 s"):
        database.write(probe)
    done.set()
    holder.join()

    assert database.write(probe) == 1
    database.close()


def test_a_lock_that_sqlite_itself_does_not_wait_for_is_tried_again(
    sqlite_url: str, tmp_path: Path
) -> None:
    impatient = open_database(sqlite_url, busy_timeout=timedelta(0)).engine
    holder = sqlite3.connect(tmp_path / "runner.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    database = Database(
        impatient, busy_timeout=timedelta(minutes=1), pause=lambda _: holder.close()
    )

    save(Store.over(database), "h")

    assert len(database.rows(BODIES)) == 1
    database.close()


def test_a_transaction_holds_the_lock_before_it_reads(sqlite_url: str) -> None:
    """Two processes: what the first has read, the second cannot change before it has written."""
    first = open_database(sqlite_url)
    second = Store.over(open_database(sqlite_url, busy_timeout=SHORT))

    def read_then_write(connection: Connection) -> None:
        connection.execute(BODIES).all()
        with pytest.raises(StoreUnavailable):
            save(second, "theirs")
        connection.execute(text("UPDATE definitions SET body = 'mine'"))

    first.write(read_then_write)

    second.close()
    first.close()


def test_readers_do_not_wait_for_a_writer(sqlite_url: str, tmp_path: Path) -> None:
    database = open_database(sqlite_url, busy_timeout=SHORT)
    holder = sqlite3.connect(tmp_path / "runner.db", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")

    assert database.read(probe) == 1

    holder.close()
    database.close()


def test_a_file_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    database = open_database(f"sqlite:///{tmp_path}/nowhere/runner.db")

    with pytest.raises(
        StoreUnavailable, match=r"cannot use the database file .*is there such a folder"
    ):
        database.read(probe)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "runner.db").write_text("hello" * 1000)
    database = open_database(f"sqlite:///{tmp_path}/runner.db")

    with pytest.raises(StoreError, match="file is not a database"):
        database.read(probe)


def test_a_file_is_written_ahead_and_through_to_the_disk(sqlite_url: str) -> None:
    database = open_database(sqlite_url)

    def settings(connection: Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in names]

    assert database.read(settings) == ["wal", 2, 1]
    database.close()


def test_a_reading_connection_leaves_no_transaction_open(database: Database) -> None:
    def broken(connection: Connection) -> None:
        connection.execute(text("SELECT nothing FROM nowhere"))

    with pytest.raises(StoreError):
        database.read(broken)

    assert database.read(probe) == 1
    with database.engine.begin() as connection:
        probe(connection)


def test_the_options_in_a_url_are_kept(postgres_url: str) -> None:
    url = make_url(postgres_url).update_query_dict({"application_name": "shop"})
    database = open_database(url.render_as_string(hide_password=False))

    name = database.read(
        lambda connection: connection.execute(text("SHOW application_name")).scalar_one()
    )

    assert name == "shop"
    database.close()


def test_a_driver_error_keeps_its_cause(refusing: Refusing) -> None:
    engine = postgresql_engine(
        make_url(refusing.url), pool_size=1, pool_timeout=timedelta(seconds=1)
    )
    database = Database(engine, busy_timeout=SHORT, pause=lambda _: None)

    with pytest.raises(StoreUnavailable) as caught:
        database.read(probe)

    assert isinstance(caught.value.__cause__, OperationalError)
