"""How a connection to each kind of database is set up."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from sqlalchemy import URL, Connection, Engine, QueuePool, create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from runner.core.errors import ConfigError

#: Makes a connection read only as far as we are concerned: no transaction is begun for it.
READS: Final = "runner_reads"

#: A server that vanished is noticed within half a minute, also while its answer is awaited.
_POSTGRESQL_ARGUMENTS: Final[Mapping[str, str | int]] = {
    "application_name": "runner",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
#: What holds locks and does nothing is ended: no transaction of ours waits for anything else.
#: Times come as ISO texts in UTC whatever the server, the database or the role prefer.
_POSTGRESQL_SETTINGS: Final = (
    "SELECT set_config('idle_in_transaction_session_timeout', '5s', false),"
    " set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false)"
)
#: Each commit reaches the disk before what it promises happens: after a power cut, too, a tool
#: call that was marked as running must still be so, or it would be run a second time.
_SQLITE_SETTINGS: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
)


def postgresql_engine(url: URL, *, pool_size: int, pool_timeout: timedelta) -> Engine:
    arguments = {
        name: value for name, value in _POSTGRESQL_ARGUMENTS.items() if name not in url.query
    }
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        connect_args=arguments,
        isolation_level="READ COMMITTED",
        max_overflow=0,
        pool_pre_ping=True,
        pool_size=pool_size,
        pool_timeout=pool_timeout.total_seconds(),
    )
    event.listen(engine, "connect", _set_up_postgresql)
    return engine


def sqlite_engine(
    url: URL, *, pool_size: int, pool_timeout: timedelta, busy_timeout: timedelta
) -> Engine:
    if url.database in {None, "", ":memory:"}:
        raise ConfigError("database.url needs a file, as in sqlite:///runner.db")
    engine = create_engine(
        url.set(drivername="sqlite+pysqlite"),
        connect_args={"timeout": busy_timeout.total_seconds()},
        max_overflow=0,
        pool_size=pool_size,
        pool_timeout=pool_timeout.total_seconds(),
        poolclass=QueuePool,
    )
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_on_sqlite)
    return engine


def reading(engine: Engine) -> Engine:
    """Return *engine* with the same connections, for statements that need no transaction."""
    if engine.dialect.name == "sqlite":
        return engine.execution_options(**{READS: True})
    return engine.execution_options(isolation_level="AUTOCOMMIT")


def place_of(url: URL) -> str:
    """Return a database's file, or its address without the password."""
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    return URL.create(
        "postgresql", url.username, host=url.host, port=url.port, database=url.database
    ).render_as_string()


def _set_up_postgresql(connection: DBAPIConnection, _record: object) -> None:
    connection.autocommit = True
    connection.cursor().execute(_POSTGRESQL_SETTINGS)
    connection.autocommit = False


def _set_up_sqlite(connection: DBAPIConnection, _record: object) -> None:
    # Transactions begin where we say so, and never by themselves.
    connection.isolation_level = None
    for setting in _SQLITE_SETTINGS:
        connection.cursor().execute(setting)


def _begin_on_sqlite(connection: Connection) -> None:
    # Taking the lock at once, a transaction never finds at its first write that it read too early.
    if not connection.get_execution_options().get(READS):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
