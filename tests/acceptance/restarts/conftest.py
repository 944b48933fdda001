"""Projects over servers of their own."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from runner.store.database import open_database
from runner.store.schema import upgrade_schema
from tests import services
from tests.acceptance.restarts.gate import Gate, gate_to
from tests.acceptance.restarts.projects import add_trees
from tests.acceptance.restarts.servers import (
    Postgres,
    RabbitMQ,
    Redis,
    Server,
    own_postgres,
    own_rabbitmq,
    own_redis,
)
from tests.acceptance.worker.project import Project
from tests.brokers import remove_queue

MakeProject = Callable[..., Project]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with own_postgres() as server:
        yield server


@pytest.fixture
def own_database(postgres: Postgres) -> Iterator[str]:
    """A database with the schema, on a server that a test may restart."""
    with services.new_database(postgres.url, outlives_server=True) as url:
        database = open_database(url)
        upgrade_schema(database)
        database.close()
        yield url


@pytest.fixture
def redis() -> Iterator[Redis]:
    """A Redis server that a test may flush, kill and start."""
    with own_redis() as server:
        yield server


@pytest.fixture
def rabbitmq() -> Iterator[RabbitMQ]:
    """A RabbitMQ node that a test may kill and start."""
    with own_rabbitmq() as server:
        yield server


@pytest.fixture
def rabbitmq_behind_a_gate(rabbitmq_url: str, queue_name: str) -> Iterator[Gate]:
    """A way to a RabbitMQ server that others use as well, to be shut and opened."""
    with gate_to(rabbitmq_url) as gate:
        yield gate
    remove_queue(rabbitmq_url, queue_name)


@pytest.fixture(
    params=[
        "redis",
        "rabbitmq_behind_a_gate",
        pytest.param("rabbitmq", marks=pytest.mark.crash),  # it takes its time to start
    ]
)
def broker(request: pytest.FixtureRequest) -> Server:
    """Each broker, to be taken away for a while."""
    server: Server = request.getfixturevalue(request.param)
    return server


@pytest.fixture
def make_project(own_database: str, tmp_path: Path, queue_name: str) -> Iterator[MakeProject]:
    """Makes the project of a test, given its broker's URL."""
    with ExitStack() as afterwards:

        def make(broker: str, **worker: str | int) -> Project:
            project = Project.create(
                tmp_path / "project",
                database=own_database,
                broker=broker,
                queue=queue_name,
                **worker,
            )
            add_trees(project)
            afterwards.callback(project.close)
            return project

        yield make
