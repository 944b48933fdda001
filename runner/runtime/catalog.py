"""The live agents of a project, kept current with its files."""

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock

from runner.core.contributing import Contributors
from runner.core.errors import NotFound
from runner.core.ports import ModelClient
from runner.core.tooling import Tool
from runner.definitions.problem import Problem
from runner.definitions.project import Project
from runner.definitions.snapshot import ResolvedAgent, resolve
from runner.definitions.tool import ToolDefinition
from runner.runtime.agent import Agent

log = logging.getLogger(__name__)


class Catalog:
    """
    Live agents: the current ones by name, and those of stored snapshots by hash.

    Files are read again when they changed. While they have errors the last good definitions stay
    in force and the problems can be asked for.
    """

    def __init__(
        self,
        *,
        load: Callable[[], Project],
        client_of: Callable[[str], ModelClient],
        tool_of: Callable[[ToolDefinition, ResolvedAgent], Tool],
        skill_tools_of: Callable[[ResolvedAgent], Iterable[Tool]],
        contributors_of: Callable[[ResolvedAgent], Contributors],
    ) -> None:
        self._load = load
        self._client_of = client_of
        self._tool_of = tool_of
        self._skill_tools_of = skill_tools_of
        self._contributors_of = contributors_of
        self._lock = Lock()
        self._read: Project | None = None
        self._good: Project | None = None
        self._agents: dict[str, Agent] = {}
        #: How often it was looked whether files changed.
        self._looks = 0

    def refresh(self) -> bool:
        """Read the files again if they changed; return whether they had."""
        with self._lock:
            before = self._read
            return self._latest() is not before

    def problems(self) -> tuple[Problem, ...]:
        """Return what is wrong with the files as they are now."""
        with self._lock:
            return self._latest().problems

    def has_good(self) -> bool:
        """Say whether definitions are in force: the latest, or the last that had no errors."""
        with self._lock:
            self._latest()
            return self._good is not None

    def in_force(self) -> Project:
        """Return the files as they are now or, while those have errors, the last good ones."""
        looks = self._looks
        with self._lock:
            # A look that another thread began since then is as good as one of its own.
            latest = self._read if self._read and self._looks > looks else self._latest()
            return self._good or latest

    def definitions(self) -> Mapping[str, ResolvedAgent]:
        """
        Return every current agent, resolved, by name.

        Raises:
            DefinitionError: The files have errors and were never good.
        """
        project = self._current()
        return {name: resolve(project, name) for name in sorted(project.registry.agents)}

    def agent(self, name: str) -> Agent:
        """
        Bring the current definition of *name* to life.

        Raises:
            DefinitionError: The files have errors and were never good.
            NotFound: There is no such agent.
        """
        project = self._current()
        if name not in project.registry.agents:
            raise NotFound(_unknown(name, project))
        return self._live(resolve(project, name))

    def known(self, content_hash: str) -> Agent | None:
        """Return the live agent with this hash, if it was brought to life before."""
        with self._lock:
            return self._agents.get(content_hash)

    def revive(self, content_hash: str, snapshot: str) -> Agent:
        """
        Bring the snapshot that is stored under this hash to life.

        Raises:
            ConfigError: It names a client or a function that is not there any more.
        """
        # What an earlier version of the program stored may read as something with another hash.
        return self._live(ResolvedAgent.from_canonical(snapshot), content_hash)

    def _live(self, definition: ResolvedAgent, content_hash: str | None = None) -> Agent:
        content_hash = content_hash or definition.content_hash()
        known = self.known(content_hash)
        if known is not None:
            return known
        inline = {
            sub.name: self._live(sub.definition)
            for sub in definition.sub_agents
            if sub.definition is not None
        }
        agent = Agent.of(
            definition,
            client=self._client_of(definition.model.client),
            tools=self._always(definition),
            inline=inline,
            loadable={
                skill.name: self._tools(skill.tools, definition)
                for skill in definition.available_skills
            },
            contributors=self._contributors_of(definition),
        )
        with self._lock:
            return self._agents.setdefault(content_hash, agent)

    def _always(self, definition: ResolvedAgent) -> dict[str, Tool]:
        """Make the tools that an agent has whatever it loads."""
        listed = [*definition.tools, *(tool for one in definition.skills for tool in one.tools)]
        by_skills = {tool.spec.name: tool for tool in self._skill_tools_of(definition)}
        return {**self._tools(listed, definition), **by_skills}

    def _tools(self, tools: Iterable[ToolDefinition], definition: ResolvedAgent) -> dict[str, Tool]:
        return {tool.name: self._tool_of(tool, definition) for tool in tools}

    def _current(self) -> Project:
        with self._lock:
            latest = self._latest()
            if self._good is None:
                latest.ensure_sound()
            return self._good or latest

    def _latest(self) -> Project:
        self._looks += 1
        if self._read is None or self._read.has_changed():
            self._read = self._load()
            if self._read.is_sound:
                self._good = self._read
            elif self._good is not None:
                log.warning(
                    "the definitions have errors: the last good ones stay in force; "
                    "`runner validate` lists the errors"
                )
        return self._read


def _unknown(name: str, project: Project) -> str:
    known = ", ".join(sorted(project.registry.agents))
    if not known:
        folder = str(project.root / project.config.agents_dir)
        return (
            f"there is no agent {name!r}, nor any other, in {folder!r}; is this the right folder?"
        )
    return f"there is no agent {name!r}; the agents are: {known}"
