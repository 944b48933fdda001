"""Skills made in code."""

from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.skill import SkillFile
from runner.definitions.tool import PythonTool, ToolDefinition


def make_skill(
    name: str,
    *tools: str,
    text: str = "Be brief.",
    allowed: tuple[str, ...] | None = None,
    folder: str | None = None,
    files: tuple[SkillFile, ...] = (),
) -> ResolvedSkill:
    definitions: list[ToolDefinition] = [PythonTool(name=tool, python="m:f") for tool in tools]
    return ResolvedSkill(
        name=name,
        description=f"How {name} are done.",
        text=text,
        tools=tuple(definitions),
        allowed_tools=allowed,
        folder=folder,
        files=files,
    )
