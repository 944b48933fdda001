"""Questions to a named database that cannot change it."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError

from runner.core.errors import ConfigError, OutboundError, OutboundRefused
from runner.core.jsonvalue import JsonObject, JsonValue, storable
from runner.definitions.sql_text import is_one, with_marks
from runner.outbound.limit import Limit

#: How many steps of SQLite's machine pass between two looks at the limit.
_STEPS: Final = 1_000
#: What a statement that only reads does.
_READING: Final = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)
#: Functions that reach further than the database.
_FAR: Final = frozenset({"load_extension", "readfile", "writefile", "edit", "fts3_tokenizer"})
_CONNECT_SECONDS: Final = 10

_Guard = Callable[[Connection], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One statement, and what is bound to its parameters."""

    statement: str
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)
    #: The most rows that are read.
    max_rows: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a database answered."""

    rows: Sequence[JsonObject]
    #: Whether there are more.
    is_cut: bool


class ReadOnlyDatabase:
    """One database, opened when it is first asked, for any number of threads."""

    def __init__(self, name: str, engine: Engine) -> None:
        self._name = name
        self._engine = engine

    def ask(self, query: Query, *, limit: Limit) -> Rows:
        """
        Run one statement in a transaction that cannot write, and roll it back.

        Raises:
            OutboundRefused: It is not one statement.
            OutboundTimeout: The time is up.
            OutboundCancelled: Nobody wants it any more.
            OutboundError: The database does not answer, or refuses the statement.
        """
        if not is_one(query.statement):
            raise OutboundRefused("the SQL is not one statement")
        limit.check()
        try:
            with self._engine.connect() as connection, _guarded(connection, limit):
                return _read(connection, query)
        except (SQLAlchemyError, sqlite3.Error) as error:
            limit.check()
            # Its message quotes the statement and what is bound to it.
            kind = type(getattr(error, "orig", None) or error).__name__
            raise OutboundError(f"the database {self._name!r} raised {kind}") from error

    def close(self) -> None:
        self._engine.dispose()


def open_read_only(name: str, url: str, *, root: Path, pool_size: int) -> ReadOnlyDatabase:
    """
    Say where a database is; nothing is opened yet.

    Args:
        name: What definitions call it.
        url: Its URL; the file of an SQLite database may be relative to *root*.
        root: The project's folder.
        pool_size: The most connections kept open to a server.

    Raises:
        ConfigError: The URL is of no kind of database that can be asked.
    """
    parsed = make_url(url)
    match parsed.get_backend_name():
        case "sqlite" if parsed.database not in {None, "", ":memory:"}:
            return ReadOnlyDatabase(name, _sqlite(name, root / str(parsed.database)))
        case "postgresql":
            return ReadOnlyDatabase(name, _postgresql(parsed, pool_size))
        case _:
            raise ConfigError(f"databases.{name}.url names no file and no server")


def _sqlite(name: str, file: Path) -> Engine:
    uri = f"file:{quote(str(file))}?mode=ro"

    def connect() -> sqlite3.Connection:
        if not os.path.lexists(file):
            raise OutboundError(f"the file of the database {name!r} is not there")
        connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
        connection.execute("PRAGMA query_only = ON")
        connection.set_authorizer(_authorize)
        return connection

    return create_engine("sqlite+pysqlite://", creator=connect, poolclass=NullPool)


def _authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
    is_far = action == sqlite3.SQLITE_FUNCTION and str(second).lower() in _FAR
    # The library asks for it when it opens the first connection.
    is_ours = action == sqlite3.SQLITE_PRAGMA and first == "read_uncommitted" and second is None
    may = (action in _READING and not is_far) or is_ours
    return sqlite3.SQLITE_OK if may else sqlite3.SQLITE_DENY


def _postgresql(url: URL, pool_size: int) -> Engine:
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args={"application_name": "runner", "connect_timeout": _CONNECT_SECONDS},
        max_overflow=0,
        pool_pre_ping=True,
        pool_size=pool_size,
        pool_timeout=_CONNECT_SECONDS,
    )
    event.listen(engine, "connect", _set_up_postgresql)
    return engine


def _set_up_postgresql(connection: DBAPIConnection, _record: object) -> None:
    connection.autocommit = True
    connection.cursor().execute(
        "SELECT set_config('default_transaction_read_only', 'on', false),"
        " set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false)"
    )
    connection.autocommit = False


@contextmanager
def _guarded(connection: Connection, limit: Limit) -> Iterator[None]:
    """Let what is done on a connection read only, and end with the limit."""
    raw = connection.connection.driver_connection
    if isinstance(raw, sqlite3.Connection):
        raw.set_progress_handler(lambda: int(_is_over(limit)), _STEPS)
        yield
        return
    milliseconds = max(int(limit.left * 1000), 1)
    connection.exec_driver_sql("SET TRANSACTION READ ONLY")
    connection.exec_driver_sql(f"SET LOCAL statement_timeout = {milliseconds}")
    cancel: Callable[[], None] = getattr(raw, "cancel", lambda: None)
    with limit.ending(cancel):
        yield


def _is_over(limit: Limit) -> bool:
    try:
        limit.check()
    except OutboundError:
        return True
    return False


def _read(connection: Connection, query: Query) -> Rows:
    statement = text(with_marks(query.statement, "\\"))
    result = connection.execution_options(stream_results=True).execute(
        statement, dict(query.parameters)
    )
    found = result.mappings().fetchmany(query.max_rows + 1) if result.returns_rows else []
    rows = [{str(key): _plain(value) for key, value in row.items()} for row in found]
    result.close()
    return Rows(rows=rows[: query.max_rows], is_cut=len(rows) > query.max_rows)


def _plain(value: object) -> JsonValue:
    moment = getattr(value, "isoformat", None)
    return moment() if callable(moment) else storable(value)
