"""What a turn runs with: one agent with everything it refers to put in."""

import hashlib
import json
from typing import Self

from pydantic import Field, JsonValue

from runner.core.errors import ConfigError
from runner.definitions.agent import Limits, PromptMode
from runner.definitions.base import Items, StrictModel
from runner.definitions.models import client_in_use, model_config
from runner.definitions.project import Project
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
from runner.definitions.tool import ToolDefinition


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


class ResolvedAgent(StrictModel):
    """An agent that needs no other file; it holds no secret values."""

    name: Name
    description: Prose
    instructions: Prose
    system_prompt: Prose | None
    prompt_mode: PromptMode | None
    model: ResolvedModel
    tools: Items[ToolDefinition]
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
        NotFound: There is no such agent, or one of its tools has a problem.
        ConfigError: The config has no model by the name that the agent uses.
    """
    agent, config = project.registry.agent(agent_name), project.config
    defaults = config.defaults
    reference = agent.model or defaults.model
    model = model_config(reference, config)
    if model is None:
        raise ConfigError(f"the config has no model {reference!r}, which agent {agent_name!r} uses")
    prompt = agent.prompt or defaults.prompt
    return ResolvedAgent(
        name=agent.name,
        description=agent.description,
        instructions=agent.instructions or "",
        system_prompt=agent.system_prompt,
        prompt_mode=prompt.mode if prompt else None,
        model=ResolvedModel(
            alias=None if "/" in reference else reference,
            client=client_in_use(model.client, config),
            model=model.model,
            max_tokens=model.max_tokens,
            context_tokens=model.context_tokens,
        ),
        tools=tuple(
            project.registry.tool(tool) if isinstance(tool, str) else tool for tool in agent.tools
        ),
        limits=_limits(agent.limits, defaults.limits),
        thinking=agent.thinking or model.thinking or defaults.thinking,
        input_schema=_inlined(agent.input_schema),
        output_schema=_inlined(agent.output_schema),
    )


def _limits(own: Limits | None, inherited: Limits | None) -> ResolvedLimits:
    """The agent's own limits, then those of the config, then the built-in ones, each by itself."""
    given: dict[str, object] = {}
    for limits in (inherited, own):
        if limits is not None:
            given |= {key: value for key, value in limits if value is not None}
    return ResolvedLimits().model_copy(update=given)


def _inlined(schema: dict[str, JsonValue] | str | None) -> dict[str, JsonValue] | None:
    return schema if isinstance(schema, dict) else None
