"""What a definition may refer to."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.definitions.agent import AgentDefinition
from runner.definitions.config import Config
from runner.definitions.context import ContextDefinition
from runner.definitions.launch_graph import Loop
from runner.definitions.policy import PolicyDefinition
from runner.definitions.skill import SkillDefinition
from runner.definitions.tool import ToolDefinition


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The project around a definition, as far as it could be read."""

    root: Path
    config: Config
    #: The top-level keys of the config of which something could not be read.
    unsure: frozenset[str]
    #: All agents with a file by name; None for one of which nothing could be read.
    agents: Mapping[str, AgentDefinition | None]
    #: All tools with a file by name; None for one of which nothing could be read.
    tools: Mapping[str, ToolDefinition | None]
    #: All policies with a file by name; None for one of which nothing could be read.
    policies: Mapping[str, PolicyDefinition | None]
    #: All skills with a file by name; None for one of which nothing could be read.
    skills: Mapping[str, SkillDefinition | None]
    #: All contributors with a file by name; None for one of which nothing could be read.
    contexts: Mapping[str, ContextDefinition | None]
    #: Where agents can reach themselves, by the agent in whose document that is written.
    loops: Mapping[str, tuple[Loop, ...]]
