"""What a failed statement means: whether to try again, and one sentence for people."""

import sqlite3
from datetime import timedelta
from typing import Final

import psycopg
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from runner.core.errors import StoreError, StoreUnavailable

#: The part of SQLite's extended result codes that names the kind of error.
_PRIMARY_CODE: Final = 0xFF


def is_busy(error: BaseException) -> bool:
    """Say whether another connection held SQLite's lock."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    return _sqlite_code(cause) == sqlite3.SQLITE_BUSY


def may_pass(error: DBAPIError) -> bool:
    """
    Say whether the whole transaction may be tried again.

    PostgreSQL's operational errors are lost and refused connections, restarts, deadlocks and
    serialisation failures.
    """
    return (
        error.connection_invalidated
        or is_busy(error)
        or isinstance(error.orig, psycopg.OperationalError)
    )


def translated(error: SQLAlchemyError, *, place: str, patience: timedelta) -> StoreError:
    """Say in our own terms what went wrong with the database at *place*."""
    if isinstance(error, PoolTimeoutError):
        return StoreUnavailable(
            "no database connection became free in time; raise database.pool_size"
        )
    cause = error.orig if isinstance(error, DBAPIError) else error
    if is_busy(error):
        return StoreUnavailable(
            f"the database file {place!r} stayed locked for {patience.total_seconds():g} s"
        )
    reason = _reason(cause)
    if isinstance(cause, sqlite3.OperationalError):
        hint = "; is there such a folder?" if _sqlite_code(cause) == sqlite3.SQLITE_CANTOPEN else ""
        return StoreUnavailable(f"cannot use the database file {place!r}: {reason}{hint}")
    if isinstance(cause, psycopg.OperationalError):
        hint = "; is it running?" if reason.startswith("connection refused") else ""
        return StoreUnavailable(f"cannot reach the database at {place!r}: {reason}{hint}")
    return StoreError(f"the database at {place!r} refused a statement: {reason}")


def _sqlite_code(cause: BaseException | None) -> int | None:
    if not isinstance(cause, sqlite3.Error):
        return None
    code: int | None = getattr(cause, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY_CODE


def _reason(cause: BaseException | None) -> str:
    """Return the essence of a driver's message, which may have several lines and prefixes."""
    lines = str(cause).strip().splitlines() or ["unknown error"]
    reason = lines[0].rpartition(": ")[2].strip()
    return reason[:1].lower() + reason[1:]
