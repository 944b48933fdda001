"""What contributors are given to work with, each part opened when it is first needed."""

from collections.abc import Mapping
from ipaddress import ip_network
from pathlib import Path
from threading import Lock
from types import FunctionType

from runner.context.cache import Cache
from runner.context.factory import build_contributors
from runner.context.surroundings import Surroundings
from runner.core.clock import Clock
from runner.core.contributing import Contributors
from runner.core.errors import ConfigError
from runner.definitions.config import Config
from runner.definitions.snapshot import ResolvedAgent
from runner.outbound.addresses import Reach
from runner.outbound.databases import Query, ReadOnlyDatabase, open_read_only
from runner.outbound.limit import Limit
from runner.tools.cancel import CancelFlag
from runner.tools.loading import load_function
from runner.tools.surroundings import Surroundings as ToolSurroundings


class ContextWiring:
    """The parts of one process that its contributors share."""

    def __init__(
        self, config: Config, *, root: Path, environ: Mapping[str, str], clock: Clock
    ) -> None:
        self._config = config
        self._root = root
        self._lock = Lock()
        self._databases: dict[str, ReadOnlyDatabase] = {}
        self._cache = Cache(clock)
        self._surroundings = Surroundings(
            root=root,
            clock=clock,
            environ=environ,
            reach=Reach(
                private=tuple(ip_network(text) for text in config.outbound.private_networks)
            ),
            database_of=self._database,
            function_of=self._function,
        )

    def contributors_of(self, agent: ResolvedAgent) -> Contributors:
        """
        Bring an agent's contributors to life.

        Raises:
            ConfigError: One cannot be.
        """
        return build_contributors(agent, self._surroundings, self._cache)

    def try_database(self, name: str, *, seconds: float) -> None:
        """
        Ask a database that the config names whether it is there.

        Raises:
            ConfigError: The config names none.
            OutboundError: It does not answer.
        """
        limit = Limit(seconds, CancelFlag(), self._surroundings.clock)
        self._database(name).ask(Query(statement="SELECT 1"), limit=limit)

    def close(self) -> None:
        """Let go of connections."""
        with self._lock:
            for database in self._databases.values():
                database.close()
            self._databases.clear()

    def _database(self, name: str) -> ReadOnlyDatabase:
        config = self._config.databases.get(name)
        if config is None:
            raise ConfigError(f"the config declares no database {name!r}")
        with self._lock:
            if name not in self._databases:
                self._databases[name] = open_read_only(
                    name, config.url.reveal(), root=self._root, pool_size=config.pool_size
                )
            return self._databases[name]

    def _function(self, reference: str) -> FunctionType:
        modules = tuple(self._config.python_modules)
        return load_function(reference, ToolSurroundings(root=self._root, python_modules=modules))
