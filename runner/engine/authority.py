"""Whose policies apply to a turn, and what they say."""

import logging
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Final

from runner.core.authorization import AgentRef, Attempt, Effect, Lineage, Verdict
from runner.core.errors import ConfigError, RunnerError
from runner.definitions.agent import AgentDefinition
from runner.definitions.project import Project
from runner.definitions.resolved_policy import ResolvedPolicy, resolve_policies
from runner.definitions.snapshot import ResolvedAgent
from runner.policies.decision import decide
from runner.policies.explanation import Explanation, explain
from runner.policies.function import FunctionOf
from runner.policies.layer import OPERATOR, Layer

log = logging.getLogger(__name__)

Policies = Sequence[ResolvedPolicy]


class PolicyAuthority:
    """
    Decides by the operator's policies and by those of a turn's whole lineage.

    Of an agent both count: what its definition said when the turn began, and what it says now. So
    an edit takes away at once, and what it gives is for new turns.
    """

    def __init__(
        self,
        *,
        project: Callable[[], Project],
        snapshot: Callable[[str], ResolvedAgent],
        function_of: FunctionOf,
    ) -> None:
        """
        Take the places where policies are found.

        Args:
            project: Returns the definitions in force; where they never were sound, as they are.
            snapshot: Returns the definition with a hash, or raises an error that says why not.
            function_of: Finds the functions that policies name.
        """
        self._project = project
        self._snapshot = snapshot
        self._function_of = function_of
        self._lock = Lock()
        self._now: _Current | None = None
        self._begun: dict[str, tuple[Policies, Layer]] = {}

    @property
    def is_silent(self) -> bool:
        """Whether neither the config nor any definition has policies."""
        return not self._project().is_policed

    def decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        """Say what becomes of *attempt*; what cannot be decided is denied."""
        try:
            return decide(attempt, self.layers(lineage))
        except RunnerError as error:
            return _undecided(str(error))
        except Exception as error:
            log.exception("an attempt could not be decided")
            return _undecided(type(error).__name__)

    def explain(self, attempt: Attempt, lineage: Lineage) -> Explanation:
        """
        Say what becomes of *attempt*, and which rules had to do with it.

        Raises:
            RunnerError: Policies cannot be read.
        """
        return explain(attempt, self.layers(lineage))

    def layers(self, lineage: Lineage) -> Sequence[Layer]:
        """
        Return the policies that apply to a turn, the operator's first and its agent's own last.

        Raises:
            RunnerError: Policies cannot be read.
        """
        now = self._current()
        found = [now.operator]
        for index, ref in enumerate(lineage):
            names = tuple(one.name for one in lineage[: index + 1])
            found += now.layers_of(names, ref, self._begun_with(ref))
        if not now.is_sound and now.is_policed(found):
            raise ConfigError(
                "the definitions have errors, so that their policies cannot be read;"
                " run `runner validate` to see all"
            )
        return found

    def _current(self) -> "_Current":
        project = self._project()
        with self._lock:
            if self._now is None or self._now.project is not project:
                self._now = _Current(project, self._function_of)
            return self._now

    def _begun_with(self, ref: AgentRef) -> tuple[Policies, Layer]:
        known = self._begun.get(ref.definition_hash)
        if known is None:
            policies = self._snapshot(ref.definition_hash).policies
            layer = Layer.of(ref.name, policies, function_of=self._function_of)
            known = self._begun.setdefault(ref.definition_hash, (policies, layer))
        return known


class _Current:
    """The policies of the definitions that are in force, compiled when they are first needed."""

    def __init__(self, project: Project, function_of: FunctionOf) -> None:
        self.project: Final = project
        self.is_sound: Final = project.is_sound
        self._function_of = function_of
        config, known = project.config, project.registry.policies
        entries = config.authorization if self.is_sound else ()
        self.operator: Final = self._compiled(OPERATOR, resolve_policies(entries, known))
        self._layers: dict[tuple[tuple[str, ...], str], Sequence[Layer]] = {}

    def is_policed(self, layers: Sequence[Layer]) -> bool:
        return self.project.is_policed or any(not layer.is_empty for layer in layers)

    def layers_of(
        self, names: tuple[str, ...], ref: AgentRef, begun: tuple[Policies, Layer]
    ) -> Sequence[Layer]:
        """The layers of an agent: as it was, and as it is where that is something else."""
        key = (names, ref.definition_hash)
        if key not in self._layers:
            policies, layer = begun
            current = self._policies(names)
            layers = [layer]
            if current not in ((), policies):
                layers.append(self._compiled(ref.name, current))
            self._layers[key] = layers
        return self._layers[key]

    def _policies(self, names: tuple[str, ...]) -> Policies:
        agent = self._agent(names)
        if agent is None or not self.is_sound:
            return ()
        return resolve_policies(agent.policies, self.project.registry.policies)

    def _agent(self, names: tuple[str, ...]) -> AgentDefinition | None:
        """Find an agent by its name or, where it is written inside another, by its parent's too."""
        if not names:
            return None
        known = self.project.registry.agents.get(names[-1])
        return known or next(
            (one for one in self._inside(names[:-1]) if one.name == names[-1]), None
        )

    def _inside(self, names: tuple[str, ...]) -> Iterator[AgentDefinition]:
        parent = self._agent(names)
        for entry in parent.sub_agents if parent else ():
            if not isinstance(entry, str):
                yield entry

    def _compiled(self, name: str, policies: Policies) -> Layer:
        return Layer.of(name, policies, function_of=self._function_of)


def _undecided(why: str) -> Verdict:
    return Verdict(effect=Effect.DENY, reason=f"this could not be decided: {why}")
