"""The tools that agents have by themselves once they have skills: load one, and read its files."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from runner.core.errors import OutboundError, ToolError
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Recovery, Tool, ToolContext, ToolRules
from runner.definitions.json_schema import Validator
from runner.definitions.paths import MAX_BYTES
from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.skill import LOAD_SKILL, READ_SKILL_FILE
from runner.definitions.snapshot import ResolvedAgent
from runner.outbound.confined import open_beneath
from runner.tools.windows import WINDOW_PARAMETERS, window

_LOAD: Final = (
    "Load a skill: get its guidance, and the use of the tools that belong to it until this turn"
    " ends."
)
_READ: Final = (
    "Read a text file that belongs to a skill, whole or some of its lines. A long file is best"
    " read in pieces, with offset and limit."
)
#: A skill's text is never cut: half of some guidance may say the opposite.
_WHOLE: Final = 1_000_000
_SECONDS: Final = 30.0


def skill_tools(agent: ResolvedAgent, root: Path) -> Iterator[Tool]:
    """
    Build the tools that an agent has because of its skills.

    Args:
        agent: Whose they are.
        root: The project's folder.
    """
    if agent.available_skills:
        yield _load_skill({skill.name: skill for skill in agent.available_skills})
    with_files = [skill for skill in (*agent.skills, *agent.available_skills) if skill.files]
    if with_files:
        yield _read_skill_file({skill.name: skill for skill in with_files}, root.resolve())


def _load_skill(skills: Mapping[str, ResolvedSkill]) -> "LoadSkill":
    name: dict[str, JsonValue] = {"type": "string", "enum": list(skills)}
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {"name": {**name, "description": "Which skill."}},
        "required": ["name"],
        "additionalProperties": False,
    }
    return LoadSkill(
        spec=ToolSpec(name=LOAD_SKILL, description=_LOAD, parameters=parameters),
        skills=skills,
        validator=Validator(parameters),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadSkill:
    """Gives a skill's text; that its tools can be called then is the engine's doing."""

    spec: ToolSpec
    skills: Mapping[str, ResolvedSkill]
    validator: Validator

    @property
    def rules(self) -> ToolRules:
        return ToolRules(recovery=Recovery.REPLAY_SAFE, timeout=_SECONDS, max_result_chars=_WHOLE)

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return self.validator.complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> JsonObject:  # noqa: ARG002 - as every tool
        """Return a skill's text, and the names of its tools and files."""
        skill = self.skills[str(arguments["name"])]
        hints = {tool.name: tool.usage_hint.strip() for tool in skill.tools if tool.usage_hint}
        allowed = skill.allowed_tools
        return {
            "skill": skill.name,
            "text": skill.text,
            **({"tools": [tool.name for tool in skill.tools]} if skill.tools else {}),
            **({"when_to_use_them": hints} if hints else {}),
            **({} if allowed is None else {"only_these_other_tools": list(allowed)}),
            **({"files": [file.path for file in skill.files]} if skill.files else {}),
        }


def _read_skill_file(skills: Mapping[str, ResolvedSkill], root: Path) -> "ReadSkillFile":
    skill: dict[str, JsonValue] = {"type": "string", "enum": list(skills)}
    parameters: dict[str, JsonValue] = {
        "type": "object",
        "properties": {
            "skill": {**skill, "description": "Which skill."},
            "path": {"type": "string", "description": "The file, as the skill lists it."},
            **WINDOW_PARAMETERS,
        },
        "required": ["skill", "path"],
        "additionalProperties": False,
    }
    return ReadSkillFile(
        spec=ToolSpec(name=READ_SKILL_FILE, description=_READ, parameters=parameters),
        skills=skills,
        root=root,
        validator=Validator(parameters),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSkillFile:
    """Reads the files that skills list, and nothing else."""

    spec: ToolSpec
    skills: Mapping[str, ResolvedSkill]
    #: The project's folder, with no symbolic link in it.
    root: Path
    validator: Validator

    @property
    def rules(self) -> ToolRules:
        return ToolRules(recovery=Recovery.REPLAY_SAFE, timeout=_SECONDS, max_result_chars=40_000)

    def complaints(self, arguments: JsonObject) -> tuple[str, ...]:
        return self.validator.complaints(arguments)

    def invoke(self, arguments: JsonObject, context: ToolContext) -> JsonObject:  # noqa: ARG002 - as every tool
        """
        Read a file of a skill, as it is now.

        Raises:
            ToolError: The skill has no such file, or it cannot be read as text.
        """
        skill, path = self.skills[str(arguments["skill"])], str(arguments["path"])
        listed = {file.path: file for file in skill.files}
        wanted = path.removeprefix("./")
        if wanted not in listed:
            raise ToolError(_no_such_file(path, skill, list(listed)))
        data = self._data(skill, wanted)
        is_changed = hashlib.sha256(data).hexdigest() != listed[wanted].sha256
        lines = _lines(data, wanted)
        changed: JsonObject = {"changed_since_this_turn_began": True} if is_changed else {}
        return {
            "skill": skill.name,
            "path": wanted,
            "lines": len(lines),
            **changed,
            **window(lines, arguments, wanted),
        }

    def _data(self, skill: ResolvedSkill, path: str) -> bytes:
        folder = self.root / (skill.folder or ".")
        if folder.resolve() != folder or not folder.is_dir():
            raise ToolError(f"the folder of the skill {skill.name!r} is not there any more")
        try:
            with open_beneath(folder, path) as descriptor:
                data = _content(descriptor, path)
        except OutboundError as error:
            raise ToolError(str(error)) from error
        if len(data) > MAX_BYTES:
            raise ToolError(f"{path!r} is longer than the {MAX_BYTES:,} bytes that are read")
        return data


def _content(descriptor: int, path: str) -> bytes:
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        raise ToolError(f"{path!r} is not a file")
    with open(descriptor, "rb", closefd=False) as file:
        return file.read(MAX_BYTES + 1)


def _lines(data: bytes, path: str) -> list[str]:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ToolError(f"{path!r} is not text, and only text can be read")
    return text.removesuffix("\n").split("\n") if text else []


def _no_such_file(path: str, skill: ResolvedSkill, listed: list[str]) -> str:
    meant = get_close_matches(path, listed, n=1, cutoff=0.6)
    hint = f"did you mean {meant[0]!r}?" if meant else f"its files: {', '.join(listed[:20])}"
    return f"the skill {skill.name!r} has no file {path[:200]!r}; {hint}"
