"""All definitions by kind and name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self, TypeVar

from runner.core.errors import NotFound
from runner.definitions.agent import AgentDefinition
from runner.definitions.context import CommonContextKeys, ContextDefinition
from runner.definitions.kinds import Definition
from runner.definitions.policy import PolicyDefinition, PythonPolicy, RulesPolicy
from runner.definitions.problem import Location
from runner.definitions.skill import SkillDefinition
from runner.definitions.tool import ToolDefinition
from runner.definitions.variants import nearest

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """Definitions whose files have been put in; immutable."""

    agents: Mapping[str, AgentDefinition]
    tools: Mapping[str, ToolDefinition]
    policies: Mapping[str, PolicyDefinition]
    skills: Mapping[str, SkillDefinition]
    contexts: Mapping[str, ContextDefinition]
    #: Where each definition starts, by kind and name.
    origins: Mapping[tuple[str, str], Location]

    @classmethod
    def of(cls, definitions: Iterable[tuple[Definition, Location]]) -> Self:
        """Collect definitions; of two with the same name the first stays."""
        agents: dict[str, AgentDefinition] = {}
        tools: dict[str, ToolDefinition] = {}
        contexts: dict[str, ContextDefinition] = {}
        policies: dict[str, PolicyDefinition] = {}
        skills: dict[str, SkillDefinition] = {}
        origins: dict[tuple[str, str], Location] = {}
        for definition, location in definitions:
            match definition:
                case AgentDefinition():
                    agents.setdefault(definition.name, definition)
                case CommonContextKeys():
                    contexts.setdefault(definition.name, definition)
                case RulesPolicy() | PythonPolicy():
                    policies.setdefault(definition.name, definition)
                case SkillDefinition():
                    skills.setdefault(definition.name, definition)
                case _:
                    tools.setdefault(definition.name, definition)
            origins.setdefault((definition.kind, definition.name), location)
        return cls(
            agents=MappingProxyType(agents),
            tools=MappingProxyType(tools),
            policies=MappingProxyType(policies),
            skills=MappingProxyType(skills),
            contexts=MappingProxyType(contexts),
            origins=MappingProxyType(origins),
        )

    def get(self, kind: str, name: str) -> Definition:
        """
        One definition.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        match kind:
            case "agent":
                return self.agent(name)
            case "policy":
                return self.policy(name)
            case "skill":
                return self.skill(name)
            case "context":
                return self.context(name)
            case _:
                return self.tool(name)

    def agent(self, name: str) -> AgentDefinition:
        """
        One agent.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        return _named("agent", name, self.agents)

    def tool(self, name: str) -> ToolDefinition:
        """
        One tool that has its own document.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        return _named("tool", name, self.tools)

    def context(self, name: str) -> ContextDefinition:
        """
        One contributor that has its own document.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        return _named("contributor", name, self.contexts)

    def policy(self, name: str) -> PolicyDefinition:
        """
        One policy that has its own document.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        return _named("policy", name, self.policies)

    def skill(self, name: str) -> SkillDefinition:
        """
        One skill that has its own document or folder.

        Raises:
            NotFound: There is none; the message suggests the nearest name.
        """
        return _named("skill", name, self.skills)


def _named(kind: str, name: str, known: Mapping[str, T]) -> T:
    if name in known:
        return known[name]
    meant = nearest(name, known)
    hint = f"; did you mean {meant!r}?" if meant else ""
    raise NotFound(f"no {kind} named {name!r}{hint}")
