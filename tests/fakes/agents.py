"""Agents made in code."""

import json

from pydantic import JsonValue as SchemaValue

from runner.core.jsonvalue import JsonObject, dump_json
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
        input_schema=_schema(input_schema),
        output_schema=_schema(output_schema),
    )
    return Agent.of(definition, client=client, tools={tool.spec.name: tool for tool in tools})


def _schema(schema: JsonObject | None) -> dict[str, SchemaValue] | None:
    loaded: dict[str, SchemaValue] | None = json.loads(dump_json(schema))
    return loaded
