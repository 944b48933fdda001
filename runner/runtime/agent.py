"""An agent brought to life: its definition with tools that run and a client that answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runner.core.contributing import Contributors, NoContributors
from runner.core.model import Effort, ThinkingSetting, ToolSpec
from runner.core.ports import ModelClient
from runner.core.records import TurnKind
from runner.core.tooling import Tool
from runner.core.tree import TreeLimits
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.thinking import BudgetThinking, EffortThinking, Thinking
from runner.runtime.prompt import Prompt, build_prompt, prefix_of
from runner.runtime.sub_agent import sub_agent_tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """One snapshot's agent. Immutable, and shared by every turn that runs with the snapshot."""

    definition: ResolvedAgent
    content_hash: str
    client: ModelClient
    #: Every tool that it can ever call, those of skills that it can load included.
    tools: Mapping[str, Tool]
    prompts: Mapping[TurnKind, Prompt]
    #: What gives it live context.
    contributors: Contributors = field(default_factory=NoContributors)
    #: Sub-agents that are written inside this agent's definition, by name.
    inline: Mapping[str, "Agent"] = field(default_factory=dict)
    #: Tools that can be called only once a skill that has them is loaded, by skill.
    skill_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        definition: ResolvedAgent,
        *,
        client: ModelClient,
        tools: Mapping[str, Tool],
        inline: Mapping[str, "Agent"] | None = None,
        loadable: Mapping[str, Mapping[str, Tool]] | None = None,
        contributors: Contributors | None = None,
    ) -> "Agent":
        """
        Bring a definition to life.

        Args:
            definition: The agent's.
            client: Answers for it.
            tools: What it can always call, by name, but for its sub-agents.
            inline: The agents written inside it, by name.
            loadable: The tools of the skills that it can load, by skill and name.
            contributors: Tell its turns what is live.
        """
        tools = {**tools, **{sub.name: sub_agent_tool(sub) for sub in definition.sub_agents}}
        specs = tuple(tool.spec for tool in tools.values())
        more = loadable or {}
        return cls(
            definition=definition,
            content_hash=definition.content_hash(),
            client=client,
            tools={**{n: t for own in more.values() for n, t in own.items()}, **tools},
            skill_tools={
                skill: tuple(name for name in own if name not in tools)
                for skill, own in more.items()
            },
            prompts={kind: build_prompt(definition, kind, specs) for kind in TurnKind},
            contributors=contributors or NoContributors(),
            inline=inline or {},
        )

    @property
    def name(self) -> str:
        return self.definition.name

    def tool_names(self, loaded: Iterable[str]) -> tuple[str, ...]:
        """Return the names of the tools that are there once some skills are loaded, in order."""
        waiting = {name for own in self.skill_tools.values() for name in own}
        always = [name for name in self.tools if name not in waiting]
        more = [name for skill in loaded for name in self.skill_tools.get(skill, ())]
        return tuple(dict.fromkeys((*always, *more)))

    def tool_specs(self, loaded: Iterable[str] = ()) -> tuple[ToolSpec, ...]:
        """Return what the model is told of its tools once some skills are loaded."""
        return tuple(self.tools[name].spec for name in self.tool_names(loaded))

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
            max_hops=limits.max_hops,
        )

    def prompt(self, kind: TurnKind) -> Prompt:
        return self.prompts[kind]

    def prefix(self, kind: TurnKind, loaded: Iterable[str] = ()) -> str:
        """Identify what thinking is bound to: the prompt with the tools that are there."""
        skills = tuple(loaded)
        prompt = self.prompts[kind]
        if not any(self.skill_tools.get(skill) for skill in skills):
            return prompt.prefix
        return prefix_of(prompt.text, self.tool_specs(skills))


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
