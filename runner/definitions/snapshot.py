"""What a turn runs with: one agent with everything it refers to put in."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Self

from pydantic import Field, JsonValue

from runner.core.errors import ConfigError
from runner.definitions.agent import AgentDefinition, Limits, PromptMode, PromptSection
from runner.definitions.base import Items, StrictModel
from runner.definitions.context import ContextDefinition
from runner.definitions.models import client_in_use, model_config
from runner.definitions.project import Project
from runner.definitions.registry import Registry
from runner.definitions.resolved_policy import ResolvedPolicy, resolve_policies
from runner.definitions.resolved_skill import ResolvedSkill, resolve_skills, resolve_tools
from runner.definitions.scalars import (
    Count,
    Duration,
    JsonObject,
    Name,
    Prose,
    ToolName,
    parse_duration,
)
from runner.definitions.thinking import Thinking
from runner.definitions.tool import LaunchAgentTool, ToolDefinition


class ResolvedModel(StrictModel):
    """The model that answers, and the client that reaches it."""

    #: The alias it was named by; None when it was named as `client/model-id`.
    alias: Name | None
    client: Name
    model: str
    max_tokens: Count
    context_tokens: int


class ResolvedLimits(StrictModel):
    """The most a turn may use."""

    max_iterations: Count = 25
    timeout: Duration = parse_duration("1h")
    max_tool_executions: Count = 100
    max_tool_executions_by_name: dict[ToolName, Count] = Field(default_factory=dict)
    max_depth: Count = 3
    max_children: Count = 50
    max_fan_out: Count = 10
    max_hops: Count = 20


class SubAgent(StrictModel):
    """An agent that another may start, as far as the other has to know it."""

    name: Name
    description: Prose
    input_schema: JsonObject | None
    #: The agent itself where it is written inside the other; else it is found by its name.
    definition: "ResolvedAgent | None" = None


class ResolvedAgent(StrictModel):
    """An agent that needs no other file; it holds no secret values."""

    name: Name
    description: Prose
    instructions: Prose
    system_prompt: Prose | None
    prompt_mode: PromptMode | None
    prompt_sections: Items[PromptSection] | None = None
    orchestrator: bool = False
    model: ResolvedModel
    tools: Items[ToolDefinition]
    sub_agents: Items[SubAgent] = ()
    #: Agents that only its tools for launching may start.
    launchable: Items[SubAgent] = ()
    policies: Items[ResolvedPolicy] = ()
    #: Skills that are always in the prompt.
    skills: Items[ResolvedSkill] = ()
    #: Skills that it can load.
    available_skills: Items[ResolvedSkill] = ()
    #: What the config gives to all first, then its own.
    context: Items[ContextDefinition] = ()
    limits: ResolvedLimits
    thinking: Thinking | None
    input_schema: JsonObject | None
    output_schema: JsonObject | None

    def canonical(self) -> str:
        """One text for one meaning: JSON with sorted keys and no spaces."""
        return json.dumps(
            self.model_dump(mode="json"),
            ensure_ascii=False,
            allow_nan=False,
            separators=(",", ":"),
            sort_keys=True,
        )

    def content_hash(self) -> str:
        """The SHA-256 of the canonical text, in hex."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()

    @classmethod
    def from_canonical(cls, text: str) -> Self:
        """
        Read what `canonical` wrote.

        Raises:
            pydantic.ValidationError: It is not that.
        """
        return cls.model_validate_json(text)


def resolve(project: Project, agent_name: str) -> ResolvedAgent:
    """
    Put everything that an agent refers to into one value.

    Raises:
        NotFound: There is no such agent, or one of its tools or sub-agents has a problem.
        ConfigError: The config has no model by the name that the agent uses.
    """
    return _resolved(project.registry.agent(agent_name), project)


def _resolved(agent: AgentDefinition, project: Project) -> ResolvedAgent:
    config, registry = project.config, project.registry
    defaults = config.defaults
    reference = agent.model or defaults.model
    model = model_config(reference, config)
    if model is None:
        raise ConfigError(f"the config has no model {reference!r}, which agent {agent.name!r} uses")
    prompts = [prompt for prompt in (agent.prompt, defaults.prompt) if prompt is not None]
    sub_agents = tuple(_sub_agent(entry, project) for entry in agent.sub_agents)
    tools = tuple(resolve_tools(agent.tools, registry))
    skills, available = resolve_skills(agent, project)
    every = [*tools, *(tool for skill in (*skills, *available) for tool in skill.tools)]
    return ResolvedAgent(
        name=agent.name,
        description=agent.description,
        instructions=agent.instructions or "",
        system_prompt=agent.system_prompt,
        prompt_mode=next((prompt.mode for prompt in prompts if prompt.mode), None),
        prompt_sections=next((p.sections for p in prompts if p.sections is not None), None),
        orchestrator=agent.orchestrator,
        model=ResolvedModel(
            alias=None if "/" in reference else reference,
            client=client_in_use(model.client, config),
            model=model.model,
            max_tokens=model.max_tokens,
            context_tokens=model.context_tokens,
        ),
        tools=_useful(tools, sub_agents),
        sub_agents=sub_agents,
        launchable=tuple(_launchable(every, {sub.name for sub in sub_agents}, registry)),
        policies=resolve_policies(agent.policies, registry.policies),
        skills=_with_useful(skills, sub_agents),
        available_skills=_with_useful(available, sub_agents),
        context=tuple(_contributors(agent, project)),
        limits=_limits(agent.limits, defaults.limits),
        thinking=agent.thinking or model.thinking or defaults.thinking,
        input_schema=_inlined(agent.input_schema),
        output_schema=_inlined(agent.output_schema),
    )


def _useful(
    tools: Iterable[ToolDefinition], sub_agents: Sequence[SubAgent]
) -> tuple[ToolDefinition, ...]:
    """Leave out tools that start agents where there is none that they could start."""
    return tuple(
        tool for tool in tools if not isinstance(tool, LaunchAgentTool) or sub_agents or tool.agents
    )


def _with_useful(
    skills: Iterable[ResolvedSkill], sub_agents: Sequence[SubAgent]
) -> tuple[ResolvedSkill, ...]:
    return tuple(
        skill.model_copy(update={"tools": _useful(skill.tools, sub_agents)}) for skill in skills
    )


def _sub_agent(entry: str | AgentDefinition, project: Project) -> SubAgent:
    if isinstance(entry, str):
        return _described(project.registry.agent(entry))
    return _described(entry).model_copy(update={"definition": _resolved(entry, project)})


def _launchable(
    tools: Iterable[ToolDefinition], known: set[str], registry: Registry
) -> Iterator[SubAgent]:
    names = (name for tool in tools if isinstance(tool, LaunchAgentTool) for name in tool.agents)
    for name in dict.fromkeys(names):
        if name not in known:
            yield _described(registry.agent(name))


def _described(agent: AgentDefinition) -> SubAgent:
    return SubAgent(
        name=agent.name,
        description=agent.description,
        input_schema=_inlined(agent.input_schema),
    )


def _contributors(agent: AgentDefinition, project: Project) -> Iterator[ContextDefinition]:
    """List the config's contributors and the agent's own; of two with one name, the agent's."""
    if agent.context == ():
        return
    own = [_contributor(entry, project) for entry in agent.context or ()]
    names = {context.name for context in own}
    for entry in project.config.context if agent.inherit else ():
        inherited = _contributor(entry, project)
        if inherited.name not in names:
            yield inherited
    yield from own


def _contributor(entry: str | ContextDefinition, project: Project) -> ContextDefinition:
    return project.registry.context(entry) if isinstance(entry, str) else entry


def _limits(own: Limits | None, inherited: Limits | None) -> ResolvedLimits:
    """The agent's own limits, then those of the config, then the built-in ones, each by itself."""
    given: dict[str, object] = {}
    for limits in (inherited, own):
        if limits is not None:
            given |= {key: value for key, value in limits if value is not None}
    return ResolvedLimits().model_copy(update=given)


def _inlined(schema: dict[str, JsonValue] | str | None) -> dict[str, JsonValue] | None:
    return schema if isinstance(schema, dict) else None
