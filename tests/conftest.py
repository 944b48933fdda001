"""Fixtures that every test may ask for."""

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, settings

from runner.store.database import Database, open_database
from runner.store.schema import ensure_schema, upgrade_schema
from runner.store.store import Store
from tests import services, store_helpers

# How long an example takes is a matter of what else the machine does.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def postgres_server() -> str:
    """The URL of a PostgreSQL server."""
    return services.postgres_server()


@pytest.fixture(scope="session")
def postgres_session_url(postgres_server: str) -> Iterator[str]:
    """A database of this test process, with the schema."""
    with services.new_database(postgres_server) as url:
        database = open_database(url)
        upgrade_schema(database)
        database.close()
        yield url


@pytest.fixture
def postgres_url(postgres_session_url: str) -> str:
    """A PostgreSQL database with the schema and no rows."""
    services.empty_tables(postgres_session_url)
    return postgres_session_url


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A PostgreSQL database without a schema."""
    with services.new_database(postgres_server) as url:
        yield url


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with the schema, to be copied."""
    file = tmp_path_factory.mktemp("template") / "runner.db"
    database = open_database(f"sqlite:///{file}")
    ensure_schema(database, create=True)
    database.close()
    return file


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """An SQLite database with the schema and no rows."""
    file = tmp_path / "runner.db"
    shutil.copyfile(sqlite_template, file)
    return f"sqlite:///{file}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """A database of each kind, with the schema and no rows."""
    name = {"sqlite": "sqlite_url", "postgresql": "postgres_url"}[request.param]
    url: str = request.getfixturevalue(name)
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    database = open_database(database_url)
    yield database
    database.close()


@pytest.fixture
def store(database: Database) -> Iterator[Store]:
    """A store in which, when the test is over, somebody must be responsible for every turn."""
    store = Store.over(database)
    yield store
    assert list(store.sweeps.unattended(limit=10)) == []


@pytest.fixture
def expire_lease(database: Database) -> Callable[[str], None]:
    """Let the lease of a running turn be over."""
    return partial(store_helpers.expire_lease, database)


@pytest.fixture
def make_due(database: Database) -> Callable[[str], None]:
    """Let a pending turn be claimable now, whatever it was to wait for."""
    return partial(store_helpers.make_due, database)


@pytest.fixture
def pass_deadline(database: Database) -> Callable[[str], None]:
    """Let a turn's deadline have passed."""
    return partial(store_helpers.pass_deadline, database)


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    with services.redis_server() as url:
        yield url


@pytest.fixture(scope="session")
def rabbitmq_url() -> str:
    return services.rabbitmq_server()


@pytest.fixture
def queue_name() -> str:
    """A name no other test uses, so that they may share a broker."""
    return f"runner_test_{uuid4().hex}"
