"""The composition root: every implementation is chosen here, once, when it is first needed."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from runner.bootstrap.context_wiring import ContextWiring
from runner.broker.factory import open_dispatcher
from runner.clients.factory import build_client
from runner.clients.pricing import with_prices
from runner.core.authorization import Action, Attempt
from runner.core.clock import SystemClock
from runner.core.contributing import Contributors
from runner.core.errors import ConfigError
from runner.core.ids import TurnId, new_worker_id
from runner.core.jsonvalue import JsonObject
from runner.core.model import Delta
from runner.core.ports import Authority, Dispatcher, ModelClient, Observer
from runner.core.records import NewEvent, Turn
from runner.core.tooling import Carrier, Tool, ToolContext, ToolRules
from runner.definitions.config import Config
from runner.definitions.config_loader import LoadedConfig, load_config
from runner.definitions.coordination import coordination_spec
from runner.definitions.models import prices_of
from runner.definitions.project import Project, load_project
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import CoordinationTool as CoordinationToolDefinition
from runner.definitions.tool import ToolDefinition
from runner.engine.aftermath import Aftermath
from runner.engine.approving import Approving
from runner.engine.authority import PolicyAuthority
from runner.engine.callbacks import CallbackRules
from runner.engine.control import Control
from runner.engine.coordination import Coordination, CoordinationTool, coordination_rules
from runner.engine.courier import Courier
from runner.engine.driver import Driver
from runner.engine.heartbeat import Heartbeat
from runner.engine.inline import InlineRunner
from runner.engine.intake import Reception
from runner.engine.launch import Launcher
from runner.engine.permits import Policing
from runner.engine.sweep import Sweeper
from runner.engine.work import Terms, TurnWorker
from runner.runtime.agent import Agent
from runner.runtime.catalog import Catalog
from runner.runtime.sub_agent import DelegatedTool
from runner.store.database import Database, open_database
from runner.store.schema import ensure_schema, schema_version, upgrade_schema
from runner.store.store import Store
from runner.tools.factory import build_tool
from runner.tools.loading import load_function
from runner.tools.skills import skill_tools
from runner.tools.surroundings import Surroundings


class Unobserved:
    """An observer that looks away."""

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        """Ignore *event*."""

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        """Ignore *delta*."""


class Wiring:
    """
    The parts of one process, each made when it is first asked for.

    Reading definitions opens no database, and opening a database loads no client.
    """

    def __init__(
        self,
        config_path: Path | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        observer: Observer | None = None,
        dispatcher: Dispatcher | None = None,
        authority: Authority | None = None,
    ) -> None:
        self._environ = os.environ if environ is None else environ
        self._config_path = config_path
        self._cwd = cwd or Path.cwd()
        self._observer = observer or Unobserved()
        self._given_dispatcher = dispatcher
        self._given_authority = authority
        self._was_policed = False
        self.clock = SystemClock()
        self.worker_id = new_worker_id()

    @cached_property
    def loaded(self) -> LoadedConfig:
        """The config with its problems, however many."""
        return load_config(self._config_path, environ=self._environ, cwd=self._cwd)

    @cached_property
    def config(self) -> Config:
        """
        The config, which has no errors.

        Raises:
            ConfigError: It has some.
        """
        errors = [problem for problem in self.loaded.problems if problem.is_error]
        if errors:
            raise ConfigError(
                f"the config cannot be used: {errors[0].location}: {errors[0].message}; "
                "run `runner validate` to see all problems"
            )
        return self.loaded.config

    def project(self) -> Project:
        """Read the definitions as they are now."""
        return load_project(self.loaded, environ=self._environ)

    @cached_property
    def catalog(self) -> Catalog:
        return Catalog(
            load=self.project,
            client_of=self.client,
            tool_of=self._tool,
            skill_tools_of=lambda agent: skill_tools(agent, self.loaded.root),
            contributors_of=self._contributors,
        )

    @cached_property
    def context(self) -> ContextWiring:
        """What contributors need; nothing of it is opened before one is asked."""
        return ContextWiring(
            self.config, root=self.loaded.root, environ=self._environ, clock=self.clock
        )

    @cached_property
    def database(self) -> Database:
        """The database, not looked at yet."""
        config = self.config.database
        return open_database(
            _absolute(config.url.reveal(), self.loaded.root),
            pool_size=config.pool_size,
            pool_timeout=config.pool_timeout,
            busy_timeout=config.busy_timeout,
        )

    @cached_property
    def store(self) -> Store:
        """
        The store, at the right schema; in an empty SQLite file it is made.

        Raises:
            StoreUnavailable: The database does not answer.
            SchemaMismatch: It has another schema.
        """
        is_embedded = self.config.database.url.reveal().startswith("sqlite")
        ensure_schema(self.database, create=is_embedded)
        return Store.over(self.database)

    def check_schema(self) -> str:
        """
        Return the version of the database's schema, which is the one this program needs.

        Raises:
            StoreUnavailable: The database does not answer.
            SchemaMismatch: It has another schema, or none.
        """
        ensure_schema(self.database)
        return schema_version()

    def upgrade_schema(self) -> str:
        """
        Bring the database to the schema this program needs and return its version.

        Raises:
            StoreUnavailable: The database does not answer.
            SchemaMismatch: Its schema is newer.
        """
        upgrade_schema(self.database)
        return schema_version()

    @cached_property
    def dispatcher(self) -> Dispatcher:
        broker = self.config.broker
        return self._given_dispatcher or open_dispatcher(broker.url.reveal(), queue=broker.queue)

    @cached_property
    def reception(self) -> Reception:
        return Reception(self.store.intake)

    @cached_property
    def heartbeat(self) -> Heartbeat:
        return Heartbeat(
            self.store.journal,
            self.worker_id,
            lease=self.config.worker.lease,
            clock=self.clock,
        )

    @cached_property
    def launcher(self) -> Launcher:
        return Launcher(
            intake=self.store.intake,
            views=self.store.views,
            agent_named=self.catalog.agent,
            agent_of=self.agent_of,
        )

    @cached_property
    def courier(self) -> Courier:
        rules = CallbackRules(self.store.views, self.authority)
        return Courier(self.store.deliveries, self.launcher, rules)

    @cached_property
    def approving(self) -> Approving:
        store = self.store
        return Approving(store.approvals, store.views, self.aftermath, self.authority)

    @cached_property
    def coordination(self) -> Coordination:
        return Coordination(
            launcher=self.launcher,
            courier=self.courier,
            intake=self.store.intake,
            views=self.store.views,
            wake=self.aftermath.wake,
        )

    @cached_property
    def authority(self) -> Authority:
        return self._given_authority or self.policies

    @property
    def is_policed(self) -> bool:
        """Whether there is anything that could have a say in what people attempt."""
        return self._given_authority is not None or not self.policies.is_silent

    @property
    def has_been_policed(self) -> bool:
        """Whether policies could also have a say in turns that began before files had none."""
        self._was_policed = self._was_policed or self.is_policed or self._stored_policies
        return self._was_policed

    @cached_property
    def _stored_policies(self) -> bool:
        return self.store.intake.has_policies()

    @cached_property
    def policies(self) -> PolicyAuthority:
        """What the files say."""
        return PolicyAuthority(
            project=self.catalog.in_force,
            snapshot=self._snapshot,
            function_of=self.policy_function,
        )

    @cached_property
    def aftermath(self) -> Aftermath:
        return Aftermath(self.courier, self.store.controls, self.dispatcher)

    @cached_property
    def turn_worker(self) -> TurnWorker:
        worker = self.config.worker
        driver = Driver(
            journal=self.store.journal,
            launcher=self.launcher,
            observer=self._observer,
            clock=self.clock,
            max_claims=worker.max_claims,
            policing=Policing(authority=self.authority, expire=self.config.approvals.expire),
        )
        return TurnWorker(
            journal=self.store.journal,
            driver=driver,
            heartbeat=self.heartbeat,
            aftermath=self.aftermath,
            clock=self.clock,
            terms=Terms(lease=worker.lease, slice=worker.slice),
        )

    @cached_property
    def inline(self) -> InlineRunner:
        return InlineRunner(
            self.turn_worker,
            self.store.views,
            clock=self.clock,
            upkeep=lambda: self.sweeper.sweep(quiet=None),
        )

    @cached_property
    def control(self) -> Control:
        return Control(self.store.controls, self.turn_worker)

    @cached_property
    def sweeper(self) -> Sweeper:
        return Sweeper(self.store.sweeps, self.dispatcher, settle_callbacks=self.courier.settle_due)

    def agent_of(self, turn: Turn) -> Agent:
        """Return the agent as it was when *turn* was stored."""
        known = self.catalog.known(turn.definition_hash)
        if known is not None:
            return known
        snapshot = self.store.intake.definition(turn.definition_hash)
        return self.catalog.revive(turn.definition_hash, snapshot)

    def _snapshot(self, content_hash: str) -> ResolvedAgent:
        """Return a definition as it was stored, without bringing it to life."""
        known = self.catalog.known(content_hash)
        if known is not None:
            return known.definition
        return ResolvedAgent.from_canonical(self.store.intake.definition(content_hash))

    def policy_function(self, reference: str) -> Callable[[Attempt], object]:
        """
        Import the function that a policy names.

        Raises:
            ConfigError: It is not allowed, or not there.
        """
        function: Callable[[Attempt], object] = load_function(reference, self._surroundings)
        return function

    def client(self, name: str) -> ModelClient:
        """
        Return the client that the config declares under *name*; one for all who ask.

        Raises:
            ConfigError: There is none any more.
        """
        if name not in self._clients:
            definition = self.config.clients.get(name)
            if definition is None:
                raise ConfigError(f"the config declares no client {name!r}")
            client = build_client(name, definition, root=self.loaded.root)
            prices = prices_of(name, self.config)
            self._clients.setdefault(name, with_prices(client, definition, prices))
        return self._clients[name]

    def close(self) -> None:
        """Let go of threads and connections that were opened."""
        opened = vars(self)
        if "heartbeat" in opened:
            self.heartbeat.close()
        if "dispatcher" in opened and self._given_dispatcher is None:
            self.dispatcher.close()
        if "context" in opened:
            self.context.close()
        if "database" in opened:
            self.database.close()

    @cached_property
    def _clients(self) -> dict[str, ModelClient]:
        return {}

    def _contributors(self, definition: ResolvedAgent) -> Contributors:
        return self.context.contributors_of(definition)

    def _tool(self, definition: ToolDefinition, agent: ResolvedAgent) -> Tool:
        if isinstance(definition, CoordinationToolDefinition):
            return self._coordination_tool(definition, agent)
        return build_tool(definition, self._surroundings)

    @property
    def _surroundings(self) -> Surroundings:
        return Surroundings(root=self.loaded.root, python_modules=tuple(self.config.python_modules))

    def _coordination_tool(
        self, definition: CoordinationToolDefinition, agent: ResolvedAgent
    ) -> Tool:
        spec = coordination_spec(definition, agent)
        match definition.builtin:
            case "launch_agent":
                rules = coordination_rules(Action.LAUNCH_AGENT)
                return CoordinationTool(spec=spec, act=self._launch, rules=rules)
            case "send_message":
                rules = coordination_rules(Action.SEND_MESSAGE)
                return CoordinationTool(spec=spec, act=self._send, rules=rules)
            case "wait_for":
                rules = ToolRules(
                    carrier=Carrier.JOIN, max_result_chars=definition.max_result_chars
                )
                return DelegatedTool(spec=spec, rules=rules)

    # Asked for when a tool is called, so that looking at an agent opens no database.
    def _launch(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        return self.coordination.launch(arguments, context)

    def _send(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        return self.coordination.send(arguments, context)


def _absolute(url: str, root: Path) -> str:
    """Let the file of an SQLite URL be relative to the project, wherever the process started."""
    scheme, separator, file = url.partition(":///")
    if scheme != "sqlite" or not separator:
        return url
    return f"sqlite:///{root / file}"
