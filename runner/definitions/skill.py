"""Skills as they are written, and as a folder with a SKILL.md holds them."""

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StringConstraints, Tag

from runner.definitions.base import Items, StrictModel
from runner.definitions.scalars import PROSE, Name, Prose, RelativePath
from runner.definitions.tool import ToolEntry
from runner.definitions.variants import MAPPING, TEXT, by_shape

#: The tool that an agent has by itself when skills can be loaded.
LOAD_SKILL: Final = "load_skill"
#: The tool that an agent has by itself when its skills have files.
READ_SKILL_FILE: Final = "read_skill_file"
RESERVED_TOOLS: Final = frozenset({LOAD_SKILL, READ_SKILL_FILE})

#: How the Agent Skills format lets a folder be named.
SKILL_NAME_PATTERN: Final = r"[a-z0-9]+(-[a-z0-9]+)*"
MAX_NAME: Final = 64
#: The format allows no more characters.
MAX_DESCRIPTION: Final = 1024
MAX_COMPATIBILITY: Final = 500

#: The most bytes of one skill's text, and more than which are worth a warning.
MAX_TEXT: Final = 100_000
ADVISED_TEXT: Final = 20_000

#: The same for all texts together that an agent always has in its prompt.
MAX_PRELOADED: Final = 200_000
ADVISED_PRELOADED: Final = 50_000

_Entry: TypeAlias = Annotated[str, PROSE, StringConstraints(min_length=1, max_length=200)]


class SkillDefinition(StrictModel):
    """Guidance for one kind of work, and tools that belong to it."""

    kind: Literal["skill"] = "skill"
    name: Name
    #: What it is for and when to use it, in a sentence or two.
    description: Annotated[str, PROSE, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION)]
    #: The guidance itself.
    content: Prose | None = None
    #: A file with the guidance, in place of `content`.
    content_file: RelativePath | None = None
    #: Tools that an agent has only together with it.
    tools: Items[ToolEntry] = ()
    #: While it is in force, the agent may call only these tools and the skill's own.
    allowed_tools: Items[_Entry] | None = None
    license: Prose | None = None
    #: What it needs around it.
    compatibility: Annotated[str, PROSE, StringConstraints(max_length=MAX_COMPATIBILITY)] | None = (
        None
    )
    #: Whatever else is to be kept with it; the runner does not look at it.
    metadata: dict[str, Prose] = Field(default_factory=dict)


class SkillFile(StrictModel):
    """A file in a skill's folder, as it was when the definitions were read."""

    #: Relative to the folder.
    path: str
    #: Of its content, in hex; empty where the file is too large to be read.
    sha256: str


class SkillFolder(SkillDefinition):
    """A skill that is a folder."""

    #: Relative to the project.
    folder: str
    files: Items[SkillFile] = ()


#: A skill by its name, or written here.
SkillEntry: TypeAlias = Annotated[
    Annotated[Name, Tag(TEXT)] | Annotated[SkillDefinition, Tag(MAPPING)],
    by_shape("the name of a skill, or a skill"),
]


def name_of(entry: str | SkillDefinition) -> str:
    """Say which skill an entry of a list means."""
    return entry if isinstance(entry, str) else entry.name
