"""Skills with everything they refer to put in, as a turn runs with them."""

from collections.abc import Iterable, Iterator

from runner.definitions.agent import AgentDefinition
from runner.definitions.base import Items, StrictModel
from runner.definitions.project import Project
from runner.definitions.registry import Registry
from runner.definitions.scalars import Name, Prose
from runner.definitions.skill import SkillDefinition, SkillEntry, SkillFile, SkillFolder, name_of
from runner.definitions.skill_references import inherited
from runner.definitions.tool import COORDINATION_TOOLS, ToolDefinition, ToolEntry


class ResolvedSkill(StrictModel):
    """A skill that needs nothing else but its files, which are read when they are asked for."""

    name: Name
    description: Prose
    text: Prose
    tools: Items[ToolDefinition] = ()
    #: The tools that may be called beside its own while it is in force; None for any.
    allowed_tools: Items[Prose] | None = None
    #: Relative to the project; None for a skill without one.
    folder: str | None = None
    files: Items[SkillFile] = ()

    def allows(self, tool: str) -> bool:
        """Say whether a tool may be called while the skill is in force."""
        return (
            self.allowed_tools is None
            or tool in self.allowed_tools
            or any(own.name == tool for own in self.tools)
        )


def resolve_tools(entries: Iterable[ToolEntry], registry: Registry) -> Iterator[ToolDefinition]:
    """
    Return the tools that a list stands for.

    Raises:
        NotFound: One of them has a problem.
    """
    for tool in entries:
        if not isinstance(tool, str):
            yield tool
        elif tool in COORDINATION_TOOLS and tool not in registry.tools:
            yield COORDINATION_TOOLS[tool]
        else:
            yield registry.tool(tool)


def resolve_skills(
    agent: AgentDefinition, project: Project
) -> tuple[tuple[ResolvedSkill, ...], tuple[ResolvedSkill, ...]]:
    """
    Return the skills that an agent always has, the inherited ones first, and those it can load.

    Raises:
        NotFound: One of them, or one of their tools, has a problem.
    """
    always = _by_name([*inherited(agent, project.config), *agent.skills])
    available = _by_name(agent.available_skills)
    return (
        tuple(_resolved(entry, project.registry) for entry in always.values()),
        tuple(
            _resolved(entry, project.registry)
            for name, entry in available.items()
            if name not in always
        ),
    )


def _by_name(entries: Iterable[SkillEntry]) -> dict[str, SkillEntry]:
    found: dict[str, SkillEntry] = {}
    for entry in entries:
        found.setdefault(name_of(entry), entry)
    return found


def _resolved(entry: SkillEntry, registry: Registry) -> ResolvedSkill:
    skill: SkillDefinition = registry.skill(entry) if isinstance(entry, str) else entry
    folder = skill if isinstance(skill, SkillFolder) else None
    return ResolvedSkill(
        name=skill.name,
        description=skill.description,
        text=(skill.content or "").strip(),
        tools=tuple(resolve_tools(skill.tools, registry)),
        allowed_tools=skill.allowed_tools,
        folder=folder.folder if folder else None,
        files=folder.files if folder else (),
    )
