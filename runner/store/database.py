"""Work on the database: in transactions that are tried again as a whole, and in plain reads."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, TypeVar

from sqlalchemy import Connection, Engine, RowMapping, Select, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, SQLAlchemyError

from runner.core.errors import ConfigError, StoreError, StoreUnavailable
from runner.store.engines import place_of, postgresql_engine, reading, sqlite_engine
from runner.store.failures import is_busy, may_pass, translated

T = TypeVar("T")

_ATTEMPTS: Final = 5
_FIRST_PAUSE: Final = 0.1  #: Seconds.


def _never() -> bool:
    return False


class Database:
    """
    A pool of connections, and work done in transactions.

    Work is a function of a connection. It may run several times, so it does nothing but execute
    statements, and what it executes must be right also when an earlier attempt was committed
    although its connection was lost before it could say so.

    Lock order: the graph of waits; conversations by their ids; turns; what belongs to them. A turn
    comes after those it waits for and those below it in its tree, and otherwise by its id. A few
    transactions cannot keep to it, as when a cancel finds what was launched meanwhile; of two that
    then want each other's turns the database ends one, which is tried again.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        busy_timeout: timedelta,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.engine = engine
        #: The file, or the address without its password.
        self.place = place_of(engine.url)
        self._reads = reading(engine)
        self._busy_timeout = busy_timeout
        self._pause = pause
        # SQLite's own queue for its lock is unfair, so the threads of a process queue up here.
        self._writer = threading.Lock() if engine.dialect.name == "sqlite" else None

    def write(
        self,
        work: Callable[[Connection], T],
        *,
        on_conflict: Callable[[], T] | None = None,
        insist: Callable[[], bool] = _never,
    ) -> T:
        """
        Run *work* in a transaction and return its result once that is committed.

        When the transaction broke a constraint, it is rolled back and *on_conflict* gives the
        result. After the usual attempts more are made for as long as *insist* says so.

        Raises:
            StoreUnavailable: The database cannot be reached or stayed locked; whether the last
                attempt was committed is unknown.
            StoreError: The database refused a statement.
        """
        try:
            return self._persistently(lambda: self._in_transaction(work), insist)
        except IntegrityError as error:
            if on_conflict is None:
                raise self._translated(error) from error
        return on_conflict()

    def read(self, work: Callable[[Connection], T]) -> T:
        """
        Run *work*, whose statements only read, each seeing the database as of its own start.

        Raises:
            StoreUnavailable: The database cannot be reached.
            StoreError: The database refused a statement.
        """
        return self._persistently(lambda: self._reading(work))

    def rows(
        self, statement: Select[*tuple[object, ...]], parameters: Mapping[str, object] | None = None
    ) -> Sequence[RowMapping]:
        """Return all that *statement* reads."""
        return self.read(
            lambda connection: connection.execute(statement, parameters).mappings().all()
        )

    def close(self) -> None:
        """Close every connection that is not in use."""
        self.engine.dispose()

    def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        with self._writing_turn(), self.engine.begin() as connection:
            return work(connection)

    def _reading(self, work: Callable[[Connection], T]) -> T:
        with self._reads.connect() as connection:
            return work(connection)

    @contextmanager
    def _writing_turn(self) -> Iterator[None]:
        if self._writer is None:
            yield
            return
        seconds = self._patience
        if not self._writer.acquire(timeout=seconds):
            raise StoreUnavailable(
                f"the database file {self.place!r} stayed locked for {seconds:g} s"
            )
        try:
            yield
        finally:
            self._writer.release()

    def _persistently(self, attempt: Callable[[], T], insist: Callable[[], bool] = _never) -> T:
        """Make five attempts, and more if *insist*, while the failures are of the passing kind."""
        began = time.monotonic()
        number = 1
        while True:
            try:
                return attempt()
            except IntegrityError:
                raise
            except DBAPIError as error:
                waited = is_busy(error) and time.monotonic() - began >= self._patience
                is_enough = (waited or number >= _ATTEMPTS) and not insist()
                if is_enough or not may_pass(error):
                    raise self._translated(error) from error
            except SQLAlchemyError as error:
                raise self._translated(error) from error
            self._pause(_jittered(_FIRST_PAUSE * 2 ** (min(number, _ATTEMPTS) - 1)))
            number += 1

    @property
    def _patience(self) -> float:
        return self._busy_timeout.total_seconds()

    def _translated(self, error: SQLAlchemyError) -> StoreError:
        return translated(error, place=self.place, patience=self._busy_timeout)


def open_database(
    url: str,
    *,
    pool_size: int = 5,
    pool_timeout: timedelta = timedelta(seconds=30),
    busy_timeout: timedelta = timedelta(seconds=5),
) -> Database:
    """
    Prepare a pool for the database at *url*, `postgresql://…` or `sqlite:///file`.

    Nothing is connected yet.

    Args:
        url: Where the database is.
        pool_size: The most connections this process has open at once.
        pool_timeout: How long to wait for a free one.
        busy_timeout: How long to wait for SQLite's lock.

    Raises:
        ConfigError: *url* names no database of a supported kind.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise ConfigError(
            "database.url is no URL; write sqlite:///FILE or postgresql://…"
        ) from error
    backend = parsed.get_backend_name()
    if backend == "sqlite":
        engine = sqlite_engine(
            parsed, pool_size=pool_size, pool_timeout=pool_timeout, busy_timeout=busy_timeout
        )
    elif backend in {"postgresql", "postgres"}:
        engine = postgresql_engine(parsed, pool_size=pool_size, pool_timeout=pool_timeout)
    else:
        raise ConfigError(f"database.url must begin with sqlite or postgresql, not {backend!r}")
    return Database(engine, busy_timeout=busy_timeout)


def _jittered(seconds: float) -> float:
    """Spread *seconds* by half, so that those who failed together do not try together."""
    return seconds * (0.5 + secrets.randbelow(1000) / 1000)
