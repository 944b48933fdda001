"""The database's clock in SQL: every time in a table is stamped and compared with it."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import ColumnElement, Float, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from runner.store.types import Instant

#: One statement sees one value, with the millisecond that SQLite's clock offers.
_SQLITE_NOW: Final = (
    "(CAST(strftime('%s', 'now') AS INTEGER) * 1000000"
    " + CAST(substr(strftime('%f', 'now'), 4) AS INTEGER) * 1000)"
)
#: Unlike now(), which stands still for a whole transaction.
_POSTGRESQL_NOW: Final = "statement_timestamp()"


class _Now(FunctionElement[datetime]):
    name = "db_now"
    type = Instant()
    inherit_cache = True


class _NowPlus(FunctionElement[datetime]):
    name = "db_now_plus"
    type = Instant()
    inherit_cache = True


class _SecondsUntil(FunctionElement[float]):
    name = "db_seconds_until"
    type = Float()
    inherit_cache = True


def db_now() -> ColumnElement[datetime]:
    """Return the time of the database when the statement began."""
    return _Now()


def db_now_plus(delta: timedelta | str) -> ColumnElement[datetime]:
    """Return the database's time *delta* from now, or as many seconds as the parameter named."""
    if isinstance(delta, str):
        return _NowPlus(bindparam(delta, type_=Float()))
    return _NowPlus(bindparam(None, delta.total_seconds(), type_=Float()))


def seconds_until(instant: ColumnElement[datetime | None]) -> ColumnElement[float]:
    """Return how far *instant* lies ahead by the database's clock."""
    return _SecondsUntil(instant)


# In seconds, never in days: a day is not always 24 hours in the time zone of a session.
@compiles(_Now, "postgresql")
def _now_on_postgresql(element: _Now, compiler: SQLCompiler, **kw: object) -> str:
    return _POSTGRESQL_NOW


@compiles(_NowPlus, "postgresql")
def _now_plus_on_postgresql(element: _NowPlus, compiler: SQLCompiler, **kw: object) -> str:
    seconds = compiler.process(element.clauses, **kw)
    return f"({_POSTGRESQL_NOW} + make_interval(secs => {seconds}))"


@compiles(_SecondsUntil, "postgresql")
def _until_on_postgresql(element: _SecondsUntil, compiler: SQLCompiler, **kw: object) -> str:
    instant = compiler.process(element.clauses, **kw)
    return f"CAST(extract(epoch FROM {instant} - {_POSTGRESQL_NOW}) AS double precision)"


@compiles(_Now, "sqlite")
def _now_on_sqlite(element: _Now, compiler: SQLCompiler, **kw: object) -> str:
    return _SQLITE_NOW


@compiles(_NowPlus, "sqlite")
def _now_plus_on_sqlite(element: _NowPlus, compiler: SQLCompiler, **kw: object) -> str:
    seconds = compiler.process(element.clauses, **kw)
    return f"({_SQLITE_NOW} + CAST(round({seconds} * 1000000) AS INTEGER))"


@compiles(_SecondsUntil, "sqlite")
def _until_on_sqlite(element: _SecondsUntil, compiler: SQLCompiler, **kw: object) -> str:
    instant = compiler.process(element.clauses, **kw)
    return f"(({instant} - {_SQLITE_NOW}) / 1000000.0)"
