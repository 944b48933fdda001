"""The system prompt: the part of a request that is frozen with the definition."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final, get_args

from runner.core.jsonvalue import canonical_json
from runner.core.model import ToolSpec
from runner.core.records import TurnKind
from runner.definitions.agent import PromptMode, PromptSection
from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.snapshot import ResolvedAgent
from runner.runtime.blocks import block, line

_MINIMAL: Final[Sequence[PromptSection]] = ("agent", "instructions", "skills", "available_skills")
_FULL: Final[Sequence[PromptSection]] = get_args(PromptSection)
_CHOSEN: Final[Mapping[PromptMode, Sequence[PromptSection]]] = {
    "full": _FULL,
    "task": _FULL,
    "minimal": _MINIMAL,
    "none": (),
}


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
    sections = _sections(definition, kind)
    text = "\n\n".join(section.text for section in sections)
    return Prompt(sections=sections, text=text, prefix=prefix_of(text, tools))


def prefix_of(text: str, tools: Sequence[ToolSpec]) -> str:
    """Identify a system prompt together with a list of tools."""
    listed = [[tool.name, tool.description, tool.parameters] for tool in tools]
    return sha256(canonical_json([text, listed]).encode()).hexdigest()[:32]


def _sections(definition: ResolvedAgent, kind: TurnKind) -> tuple[Section, ...]:
    if definition.system_prompt is not None:
        return (Section(name="system_prompt", text=definition.system_prompt.strip()),)
    mode = definition.prompt_mode or ("task" if kind is TurnKind.TASK else "full")
    is_task = mode == "task" or kind is TurnKind.TASK
    chosen = definition.prompt_sections
    names = _CHOSEN[mode] if chosen is None else chosen
    left_out = "chat" if is_task else "task"
    written = ((name, _WRITERS[name](definition)) for name in names if name != left_out)
    return tuple(Section(name=name, text=text) for name, text in written if text)


def _introduction(definition: ResolvedAgent) -> str:
    purpose = f": {definition.description.strip()}" if definition.description.strip() else "."
    return f"You are the agent {definition.name}{purpose}"


def _orchestrator(definition: ResolvedAgent) -> str:
    return _text("orchestrator") if definition.orchestrator else ""


def _tool_hints(definition: ResolvedAgent) -> str:
    tools = [*definition.tools, *(tool for skill in definition.skills for tool in skill.tools)]
    hints = {tool.name: tool.usage_hint.strip() for tool in tools if tool.usage_hint}
    lines = [f"- {name}: {hint}" for name, hint in hints.items()]
    return "\n".join(("# When to use the tools", "", *lines)) if lines else ""


def _skills(definition: ResolvedAgent) -> str:
    blocks = [block("skill", _guidance(skill), name=skill.name) for skill in definition.skills]
    return "\n\n".join((_text("skills"), *blocks)) if blocks else ""


def _guidance(skill: ResolvedSkill) -> str:
    if not skill.files:
        return skill.text
    listed = "\n".join(f"- {file.path}" for file in skill.files)
    return f"{skill.text}\n\n{_text('skill_files')}\n{listed}"


def _available_skills(definition: ResolvedAgent) -> str:
    lines = [line(skill.name, skill.description) for skill in definition.available_skills]
    return _list("available_skills", lines)


def _sub_agents(definition: ResolvedAgent) -> str:
    lines = [line(agent.name, agent.description) for agent in definition.sub_agents]
    return _list("sub_agents", lines)


def _list(name: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    listed = "\n".join(lines)
    return f"{_text(name)}\n\n<{name}>\n{listed}\n</{name}>"


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


_WRITERS: Final[Mapping[PromptSection, Callable[[ResolvedAgent], str]]] = {
    "agent": _introduction,
    "instructions": lambda definition: definition.instructions.strip(),
    "orchestrator": _orchestrator,
    "behaviour": lambda _: _text("behaviour"),
    "tool_hints": _tool_hints,
    "skills": _skills,
    "available_skills": _available_skills,
    "sub_agents": _sub_agents,
    "task": lambda _: _text("task"),
    "chat": lambda _: _text("chat"),
}
