"""Projects over each pair of database and broker that belong together."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.acceptance.worker.project import Project
from tests.brokers import remove_queue

MakeProject = Callable[..., Project]

#: The fixtures that lend each server.
_DATABASES = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}
_BROKERS = {"redis": "redis_url", "rabbitmq": "rabbitmq_url"}


@pytest.fixture
def make_project(
    request: pytest.FixtureRequest, tmp_path: Path, queue_name: str
) -> Iterator[MakeProject]:
    """Makes the project of a test over `<database>-<broker>`, the broker by kind or URL."""
    with ExitStack() as afterwards:

        def make(stack: str, **worker: str | int) -> Project:
            database, _, broker = stack.partition("-")
            url = request.getfixturevalue(_BROKERS[broker]) if broker in _BROKERS else broker
            if broker in _BROKERS:
                afterwards.callback(remove_queue, url, queue_name)
            project = Project.create(
                tmp_path / "project",
                database=request.getfixturevalue(_DATABASES[database]),
                broker=url,
                queue=queue_name,
                **worker,
            )
            afterwards.callback(project.close)
            return project

        yield make


@pytest.fixture
def closed_port() -> int:
    """A port where nothing answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


@pytest.fixture(params=["sqlite-memory://", "postgresql-redis", "postgresql-rabbitmq"])
def any_project(request: pytest.FixtureRequest, make_project: MakeProject) -> Project:
    """A project with each broker."""
    return make_project(request.param)


@pytest.fixture(params=["sqlite-memory://", "postgresql-redis"])
def project(request: pytest.FixtureRequest, make_project: MakeProject) -> Project:
    """A project with each database."""
    return make_project(request.param)
