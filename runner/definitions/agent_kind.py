"""What makes an agent's definition whole and right, beyond its form."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import get_args

from pydantic import JsonValue

from runner.core.errors import PathRefused
from runner.definitions import tool_kind
from runner.definitions.agent import AgentDefinition, Limits
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.models import check_reference
from runner.definitions.nodes import Path
from runner.definitions.paths import read_text
from runner.definitions.problem import Problem
from runner.definitions.schema_files import check_inline, include
from runner.definitions.surroundings import Surroundings
from runner.definitions.tool import BuiltinTool, ToolDefinition
from runner.definitions.variants import nearest

_SCHEMA_KEYS = ("input_schema", "output_schema")


def complete(
    agent: AgentDefinition, document: Document
) -> tuple[AgentDefinition, list[Problem], list[FilePath]]:
    """Make an agent independent of files: instructions, schemas and folders are put in."""
    changes: dict[str, object] = {}
    problems: list[Problem] = []
    files: list[FilePath] = []
    if agent.instructions_file is not None:
        text, path, found = _instructions(agent.instructions_file, document)
        changes |= {"instructions": text, "instructions_file": None}
        problems += found
        files += [path] if path else []
    for key in _SCHEMA_KEYS:
        source: dict[str, JsonValue] | str | None = getattr(agent, key)
        if isinstance(source, str):
            changes[key], found, path = include(document, (key,), source)
            problems += found
            files += [path] if path else []
    tools: list[str | ToolDefinition] = []
    for index, tool in enumerate(agent.tools):
        if isinstance(tool, str):
            tools.append(tool)
            continue
        completed, found = tool_kind.complete(tool, document, ("tools", index))
        tools.append(completed)
        problems += found
    return agent.model_copy(update={**changes, "tools": tuple(tools)}), problems, files


def check(
    agent: AgentDefinition, document: Document, surroundings: Surroundings
) -> Iterator[Problem]:
    """Tell what in an agent refers to what is not there."""
    if agent.model is not None:
        flaw = check_reference(agent.model, surroundings.config)
        if flaw and surroundings.unsure.isdisjoint({"clients", "models"}):
            yield document.problem(("model",), flaw.code, flaw.message, hint=flaw.hint)
    for key in _SCHEMA_KEYS:
        schema = getattr(agent, key)
        if isinstance(document.plain((key,)), dict) and isinstance(schema, dict):
            yield from check_inline(document, (key,), schema)
    yield from _check_tools(agent, document, surroundings)
    if agent.limits is not None:
        yield from _check_limits(agent, agent.limits, document)


def _instructions(
    text: str, document: Document
) -> tuple[str | None, FilePath | None, list[Problem]]:
    at = ("instructions_file",)
    if "instructions" in document.keys:
        message = "only one of instructions and instructions_file may be given"
        return None, None, [document.problem(at, Code.KEY_CONFLICT, message, at_key=True)]
    try:
        path = document.base.resolve(text)
        if path == document.file.resolve():
            raise PathRefused(Code.RECURSIVE_FILE, "the file names itself")  # noqa: TRY301
        return read_text(path), path, []
    except PathRefused as refused:
        return None, None, [document.problem(at, Code.named(refused.code), str(refused))]


def _check_tools(
    agent: AgentDefinition, document: Document, surroundings: Surroundings
) -> Iterator[Problem]:
    seen = Counter[str]()
    for index, tool in enumerate(agent.tools):
        at: Path = ("tools", index)
        name = tool if isinstance(tool, str) else tool.name
        seen[name] += 1
        if seen[name] > 1:
            message = f"the agent has the tool {name!r} already"
            yield document.problem(at, Code.DUPLICATE_TOOL, message)
        elif not isinstance(tool, str):
            yield from tool_kind.check(tool, document, surroundings, at)
        elif tool not in surroundings.tools:
            meant = nearest(tool, surroundings.tools)
            hint = f"did you mean {meant!r}?" if meant else _how_to_define(tool)
            yield document.problem(at, Code.UNKNOWN_TOOL, f"no tool {tool!r}", hint=hint)


def _how_to_define(tool: str) -> str:
    if tool in get_args(BuiltinTool.model_fields["builtin"].annotation):
        return f"write {{name: {tool}, builtin: {tool}}} to have the builtin"
    return "define it in a file with kind: tool"


def _check_limits(agent: AgentDefinition, limits: Limits, document: Document) -> Iterator[Problem]:
    names = {tool if isinstance(tool, str) else tool.name for tool in agent.tools}
    for name in limits.max_tool_executions_by_name or {}:
        if name in names:
            continue
        meant = nearest(name, names)
        yield document.problem(
            ("limits", "max_tool_executions_by_name", name),
            Code.UNKNOWN_TOOL,
            f"the agent has no tool {name!r}",
            hint=f"did you mean {meant!r}?" if meant else "",
            at_key=True,
        )
