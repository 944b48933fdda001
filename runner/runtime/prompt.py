"""The system prompt: the part of a request that is frozen with the definition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

from runner.core.jsonvalue import canonical_json
from runner.core.model import ToolSpec
from runner.core.records import TurnKind
from runner.definitions.agent import PromptMode
from runner.definitions.snapshot import ResolvedAgent


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One named piece of the system prompt."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A system prompt in sections, and what identifies it together with the tools."""

    sections: Sequence[Section]
    text: str
    #: Equal only for the same prompt and the same tools: what thinking is bound to.
    prefix: str


def build_prompt(definition: ResolvedAgent, kind: TurnKind, tools: Sequence[ToolSpec]) -> Prompt:
    """Write the system prompt for one kind of turn."""
    sections = tuple(_sections(definition, _mode(definition, kind), kind))
    text = "\n\n".join(section.text for section in sections)
    return Prompt(sections=sections, text=text, prefix=_prefix(text, tools))


def _mode(definition: ResolvedAgent, kind: TurnKind) -> PromptMode:
    if definition.prompt_mode is not None:
        return definition.prompt_mode
    return "task" if kind is TurnKind.TASK else "full"


def _sections(definition: ResolvedAgent, mode: PromptMode, kind: TurnKind) -> Iterator[Section]:
    if definition.system_prompt is not None:
        yield Section(name="system_prompt", text=definition.system_prompt.strip())
        return
    if mode == "none":
        return
    yield Section(name="agent", text=_introduction(definition))
    if definition.instructions.strip():
        yield Section(name="instructions", text=definition.instructions.strip())
    if mode == "minimal":
        return
    yield Section(name="behaviour", text=_text("behaviour"))
    hints = [f"- {name}: {hint}" for name, hint in _hints(definition)]
    if hints:
        yield Section(name="tool_hints", text="\n".join(("# When to use the tools", "", *hints)))
    if mode == "task" or kind is TurnKind.TASK:
        yield Section(name="task", text=_text("task"))
    else:
        yield Section(name="chat", text=_text("chat"))


def _hints(definition: ResolvedAgent) -> list[tuple[str, str]]:
    return [(tool.name, tool.usage_hint.strip()) for tool in definition.tools if tool.usage_hint]


def _introduction(definition: ResolvedAgent) -> str:
    purpose = f": {definition.description.strip()}" if definition.description.strip() else "."
    return f"You are the agent {definition.name}{purpose}"


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


def _prefix(text: str, tools: Sequence[ToolSpec]) -> str:
    listed = [[tool.name, tool.description, tool.parameters] for tool in tools]
    return sha256(canonical_json([text, listed]).encode()).hexdigest()[:32]
