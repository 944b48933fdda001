"""Which of an agent's tools may be called, as far as its skills have a say."""

from collections.abc import Collection
from typing import Final

from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.skill import LOAD_SKILL, RESERVED_TOOLS
from runner.definitions.snapshot import ResolvedAgent

_SHOWN: Final = 20


def objection(definition: ResolvedAgent, loaded: Collection[str], tool: str) -> str | None:
    """
    Say why the agent's skills forbid to call a tool, in a sentence for the model, or None.

    A tool that comes with a skill needs it loaded. A skill in force that has `allowed-tools` rules
    out all others but its own, and those by which skills are used. None of it permits anything.
    """
    if tool in RESERVED_TOOLS:
        return None
    in_force = _in_force(definition, loaded)
    if not any(own.name == tool for own in definition.tools) and not _brings(in_force, tool):
        owners = [skill.name for skill in definition.available_skills if _brings([skill], tool)]
        if owners:
            return (
                f"{tool!r} belongs to the skill {owners[0]!r}, which is not loaded in this turn:"
                f" call {LOAD_SKILL} with the name {owners[0]!r} first, then try again"
            )
    strict = next((skill for skill in in_force if not skill.allows(tool)), None)
    if strict is None:
        return None
    allowed = [*(own.name for own in strict.tools), *(strict.allowed_tools or ())]
    shown = ", ".join(dict.fromkeys(allowed[:_SHOWN])) or "no tool"
    return f"while the skill {strict.name!r} is in force, it allows {shown}, and not {tool!r}"


def file_objection(definition: ResolvedAgent, loaded: Collection[str], skill: object) -> str | None:
    """Say why a file of a skill may not be read yet, in a sentence for the model, or None."""
    available = {one.name for one in definition.available_skills}
    if skill not in available or skill in loaded:
        return None
    return (
        f"the skill {skill!r} is not loaded in this turn: call {LOAD_SKILL} with its name first,"
        " then read its files"
    )


def _in_force(definition: ResolvedAgent, loaded: Collection[str]) -> list[ResolvedSkill]:
    return [
        *definition.skills,
        *(skill for skill in definition.available_skills if skill.name in loaded),
    ]


def _brings(skills: Collection[ResolvedSkill], tool: str) -> bool:
    return any(own.name == tool for skill in skills for own in skill.tools)
