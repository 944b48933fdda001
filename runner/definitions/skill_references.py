"""Whether an agent and the skills it names go together."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from runner.definitions import skill_kind
from runner.definitions.agent import AgentDefinition
from runner.definitions.codes import Code
from runner.definitions.config import Config
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.problem import Problem, Severity
from runner.definitions.skill import (
    ADVISED_PRELOADED,
    MAX_PRELOADED,
    RESERVED_TOOLS,
    SkillDefinition,
    SkillEntry,
    name_of,
)
from runner.definitions.surroundings import Surroundings
from runner.definitions.tool import ToolEntry
from runner.definitions.tool_entries import tool_name
from runner.definitions.variants import nearest

_LISTS: Final = ("skills", "available_skills")
_SHOWN: Final = 8


def check_skills(
    agent: AgentDefinition, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    """Tell what is wrong with the skills of an agent, those of the config included."""
    seen = set[str]()
    for key in _LISTS:
        entries: tuple[SkillEntry, ...] = getattr(agent, key)
        yield from check_entries(entries, document, surroundings, (*at, key), seen=seen)
        yield from _check_inherited(agent, entries, document, surroundings.config, (*at, key))
    yield from _check_names(agent, document, at)
    placed = _placed(agent, surroundings, at)
    yield from _check_tools(agent, placed, document)
    always = [one for one in placed if one.is_preloaded]
    yield from _check_total(always, document, at)
    yield from _check_shown(agent, always, document, surroundings.config, at)
    for one in placed:
        yield from _check_allowed(agent, one, document)


def check_entries(
    entries: Sequence[SkillEntry],
    document: Document,
    surroundings: Surroundings,
    at: Path,
    *,
    seen: set[str],
) -> Iterator[Problem]:
    """Tell what in a list of skills is not there, or there twice."""
    for index, entry in enumerate(entries):
        place: Path = (*at, index)
        name = name_of(entry)
        if name in seen:
            message = f"the skill {name!r} is listed already"
            yield document.problem(place, Code.DUPLICATE_SKILL, message)
        elif not isinstance(entry, str):
            yield from skill_kind.check(entry, document, surroundings, place)
        elif entry not in surroundings.skills:
            hint = _hint(entry, surroundings)
            yield document.problem(place, Code.UNKNOWN_SKILL, f"no skill {entry!r}", hint=hint)
        seen.add(name)


def inherited(agent: AgentDefinition, config: Config) -> tuple[SkillEntry, ...]:
    """Return the skills that an agent has because every agent has them."""
    return config.skills if agent.inherit else ()


def tools_of_skills(agent: AgentDefinition, surroundings: Surroundings) -> set[str]:
    """Return the names of the tools that an agent's skills bring."""
    placed = _placed(agent, surroundings, ())
    return {tool_name(tool) for one in placed for tool in one.skill.tools}


class _Placed:
    """A skill of an agent, and where the agent names it."""

    def __init__(self, skill: SkillDefinition, at: Path, *, is_preloaded: bool) -> None:
        self.skill = skill
        self.at = at
        self.is_preloaded = is_preloaded


def _placed(agent: AgentDefinition, surroundings: Surroundings, at: Path) -> list[_Placed]:
    """Return the skills that an agent has and that could be read, each once."""
    listed = [(entry, at, True) for entry in inherited(agent, surroundings.config)]
    for key in _LISTS:
        entries: tuple[SkillEntry, ...] = getattr(agent, key)
        listed += [
            (entry, (*at, key, index), key == "skills") for index, entry in enumerate(entries)
        ]
    found: dict[str, _Placed] = {}
    for entry, place, is_preloaded in listed:
        skill = surroundings.skills.get(entry) if isinstance(entry, str) else entry
        if skill is not None:
            placed = _Placed(skill, place, is_preloaded=is_preloaded)
            found.setdefault(skill.name, placed)
    return list(found.values())


def _hint(name: str, surroundings: Surroundings) -> str:
    if name in surroundings.tools:
        return "it is a tool: name it under tools"
    meant = nearest(name, surroundings.skills)
    return f"did you mean {meant!r}?" if meant else "write it with 'runner new skill'"


def _check_inherited(
    agent: AgentDefinition,
    entries: Sequence[SkillEntry],
    document: Document,
    config: Config,
    at: Path,
) -> Iterator[Problem]:
    """Tell of a skill that would stand in the way of another one of its name."""
    given = {name_of(entry): entry for entry in inherited(agent, config)}
    for index, entry in enumerate(entries):
        other = given.get(name_of(entry), entry)
        if other is not entry and not (isinstance(entry, str) and isinstance(other, str)):
            message = f"the config gives every agent another skill named {name_of(entry)!r}"
            yield document.problem((*at, index), Code.DUPLICATE_SKILL, message)


def _check_names(agent: AgentDefinition, document: Document, at: Path) -> Iterator[Problem]:
    for index, entry in enumerate(agent.sub_agents):
        name = entry if isinstance(entry, str) else entry.name
        if name in RESERVED_TOOLS:
            message = f"{name!r} is the name of a tool that agents have by themselves"
            yield document.problem((*at, "sub_agents", index), Code.RESERVED_NAME, message)


def _own_tools(agent: AgentDefinition) -> dict[str, None]:
    sub_agents = (one if isinstance(one, str) else one.name for one in agent.sub_agents)
    return dict.fromkeys([*map(tool_name, agent.tools), *sub_agents])


def _check_tools(
    agent: AgentDefinition, placed: Sequence[_Placed], document: Document
) -> Iterator[Problem]:
    """Tell of tools that would have the same name; skills may name the same tool."""
    own = _own_tools(agent)
    brought: dict[str, tuple[str, ToolEntry]] = {}
    for one in placed:
        for tool in one.skill.tools:
            name = tool_name(tool)
            other, first = brought.setdefault(name, (one.skill.name, tool))
            what = ""
            if name in own:
                what = "which the agent has already"
            elif other != one.skill.name and not (isinstance(first, str) and first == tool):
                what = f"and the skill {other!r} another one of that name"
            if what:
                message = f"the skill {one.skill.name!r} brings the tool {name!r}, {what}"
                yield document.problem(one.at, Code.DUPLICATE_TOOL, message)


def _check_total(always: Sequence[_Placed], document: Document, at: Path) -> Iterator[Problem]:
    sizes: Mapping[str, int] = {
        one.skill.name: len((one.skill.content or "").encode("utf-8", "replace")) for one in always
    }
    total = sum(sizes.values())
    if total <= ADVISED_PRELOADED:
        return
    is_error = total > MAX_PRELOADED
    bound = f"{MAX_PRELOADED:,} are allowed" if is_error else f"more than {ADVISED_PRELOADED:,}"
    largest = max(sizes, key=lambda name: sizes[name])
    yield document.problem(
        (*at, "skills"),
        Code.SKILL_TOO_LARGE,
        f"the skills that are always in the prompt have {total:,} bytes, {bound}",
        hint=f"make some of them available_skills; the largest is {largest!r}",
        severity=Severity.ERROR if is_error else Severity.WARNING,
    )


def _check_shown(
    agent: AgentDefinition, always: Sequence[_Placed], document: Document, config: Config, at: Path
) -> Iterator[Problem]:
    """Warn of skills that nobody reads because the prompt is made without them."""
    own = [one for one in always if one.at != at]
    if not own:
        return
    given = [prompt for prompt in (agent.prompt, config.defaults.prompt) if prompt]
    sections = next((prompt.sections for prompt in given if prompt.sections is not None), None)
    mode = next((prompt.mode for prompt in given if prompt.mode is not None), None)
    if agent.system_prompt is not None:
        why = "system_prompt takes the place of the prompt that they are a part of"
    elif sections is not None and "skills" not in sections:
        why = "prompt.sections leaves 'skills' out"
    elif sections is None and mode == "none":
        why = "prompt.mode is none"
    else:
        return
    yield document.problem(
        (*at, "skills"),
        Code.SKILL_NOT_SHOWN,
        f"the agent never reads its skills: {why}",
        severity=Severity.WARNING,
    )


def _check_allowed(agent: AgentDefinition, one: _Placed, document: Document) -> Iterator[Problem]:
    """Warn of tools that cannot be called because a skill does not allow them."""
    if one.skill.allowed_tools is None:
        return
    own = _own_tools(agent)
    allowed = {*one.skill.allowed_tools, *map(tool_name, one.skill.tools)}
    out = [name for name in own if name not in allowed]
    if not out or (not one.is_preloaded and len(out) < len(own)):
        return
    shown = ", ".join(out[:_SHOWN]) + (", …" if len(out) > _SHOWN else "")
    when = "always" if one.is_preloaded else "once it is loaded"
    yield document.problem(
        one.at,
        Code.TOOLS_RULED_OUT,
        f"the allowed-tools of the skill {one.skill.name!r} rule out, {when}: {shown}",
        hint="name the agent's own tools in the skill's allowed-tools, or leave them out",
        severity=Severity.WARNING,
    )
