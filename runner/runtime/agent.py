"""An agent brought to life: its definition with tools that run and a client that answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from runner.core.contributing import Contributors, NoContributors
from runner.core.model import Effort, ThinkingSetting, ToolSpec
from runner.core.ports import ModelClient
from runner.core.records import TurnKind
from runner.core.tooling import Tool
from runner.core.tree import TreeLimits
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.thinking import BudgetThinking, EffortThinking, Thinking
from runner.runtime.prompt import Prompt, build_prompt
from runner.runtime.sub_agent import sub_agent_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One snapshot's agent. Immutable, and shared by every turn that runs with the snapshot."""

    definition: ResolvedAgent
    content_hash: str
    client: ModelClient
    tools: Mapping[str, Tool]
    prompts: Mapping[TurnKind, Prompt]
    #: What gives it live context.
    contributors: Contributors = field(default_factory=NoContributors)
    #: Sub-agents that are written inside this agent's definition, by name.
    inline: Mapping[str, "Agent"] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        definition: ResolvedAgent,
        *,
        client: ModelClient,
        tools: Mapping[str, Tool],
        inline: Mapping[str, "Agent"] | None = None,
        contributors: Contributors | None = None,
    ) -> "Agent":
        tools = {**tools, **{sub.name: sub_agent_tool(sub) for sub in definition.sub_agents}}
        specs = tuple(tool.spec for tool in tools.values())
        return cls(
            definition=definition,
            content_hash=definition.content_hash(),
            client=client,
            tools=tools,
            prompts={kind: build_prompt(definition, kind, specs) for kind in TurnKind},
            contributors=contributors or NoContributors(),
            inline=inline or {},
        )

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def tool_specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.tools.values())

    @property
    def thinking(self) -> ThinkingSetting | None:
        return _setting(self.definition.thinking)

    @property
    def tree_limits(self) -> TreeLimits:
        """What a tree may use whose root is this agent's turn."""
        limits = self.definition.limits
        return TreeLimits(
            max_iterations=limits.max_iterations,
            max_tool_executions=limits.max_tool_executions,
            max_tool_executions_by_name=dict(limits.max_tool_executions_by_name),
            max_depth=limits.max_depth,
            max_children=limits.max_children,
            max_fan_out=limits.max_fan_out,
        )

    def prompt(self, kind: TurnKind) -> Prompt:
        return self.prompts[kind]


def _setting(thinking: Thinking | None) -> ThinkingSetting | None:
    match thinking:
        case None:
            return None
        case EffortThinking(effort=effort):
            return ThinkingSetting(effort=Effort(effort))
        case BudgetThinking(budget=budget):
            return ThinkingSetting(budget_tokens=budget)
        case "off":
            return ThinkingSetting(off=True)
        case _:
            return ThinkingSetting()
