"""Agents made in code."""

from runner.core.jsonvalue import JsonObject
from runner.core.ports import ModelClient
from runner.core.tooling import Tool
from runner.definitions.snapshot import ResolvedAgent, ResolvedLimits, ResolvedModel
from runner.runtime.agent import Agent


def make_agent(
    client: ModelClient,
    *tools: Tool,
    limits: ResolvedLimits | None = None,
    input_schema: JsonObject | None = None,
    output_schema: JsonObject | None = None,
    name: str = "tester",
) -> Agent:
    definition = ResolvedAgent(
        name=name,
        description="Answers tests.",
        instructions="Do as asked.",
        system_prompt=None,
        prompt_mode=None,
        model=ResolvedModel(
            alias="default", client="fake", model="fake-1", max_tokens=1000, context_tokens=100_000
        ),
        tools=(),
        limits=limits or ResolvedLimits(),
        thinking=None,
        input_schema=None if input_schema is None else dict(input_schema),
        output_schema=None if output_schema is None else dict(output_schema),
    )
    return Agent.of(definition, client=client, tools={tool.spec.name: tool for tool in tools})
