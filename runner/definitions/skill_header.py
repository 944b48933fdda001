"""What the frontmatter of a SKILL.md says."""

import re
from collections.abc import Mapping as ReadOnly
from dataclasses import dataclass, field
from typing import Final

from runner.core.jsonvalue import canonical_json
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.nodes import Mapping, Node, Scalar, Sequence, plain
from runner.definitions.problem import Problem, Severity
from runner.definitions.skill import (
    MAX_COMPATIBILITY,
    MAX_DESCRIPTION,
    MAX_NAME,
    SKILL_NAME_PATTERN,
)
from runner.definitions.variants import nearest

#: The keys of a frontmatter.
KEYS: Final = (
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
)
#: What separates the tools of a list that is one text; not within parentheses.
_TOOL: Final = re.compile(r"[^\s,(]+(?:\([^)]*\)?)?|\([^)]*\)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillHeader:
    """The keys of a frontmatter that is right."""

    name: str
    description: str
    license: str | None
    compatibility: str | None
    metadata: ReadOnly[str, str]
    #: None for any tool.
    allowed_tools: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderReading:
    """What became of a frontmatter."""

    header: SkillHeader | None
    #: The name it has or was meant to have, or an empty text.
    name: str
    problems: tuple[Problem, ...]


def read_header(document: Document, node: Mapping, folder: str) -> HeaderReading:
    """Read the frontmatter of the skill whose folder has this name."""
    reader = _Reader(document, node, folder)
    header = reader.read()
    return HeaderReading(header=header, name=reader.name, problems=tuple(reader.problems))


@dataclass(slots=True)
class _Reader:
    """Reads the keys of a frontmatter, of which every single value counts as text."""

    document: Document
    node: Mapping
    folder: str
    problems: list[Problem] = field(default_factory=list)
    name: str = ""
    #: Keys that stand there, misspelt.
    meant: set[str] = field(default_factory=set)

    def read(self) -> SkillHeader | None:
        """What the frontmatter says; None where something in it is wrong."""
        for key in self.node.entries:
            if key not in KEYS:
                self._unknown(key)
        self.name = self._name()
        description = self._text("description", MAX_DESCRIPTION, is_required=True)
        self._warn_of_comment()
        header = SkillHeader(
            name=self.name,
            description=description or "",
            license=self._text("license", None),
            compatibility=self._text("compatibility", MAX_COMPATIBILITY),
            metadata=self._metadata(),
            allowed_tools=self._allowed_tools(),
        )
        return None if any(problem.is_error for problem in self.problems) else header

    def _name(self) -> str:
        name = self._text("name", None, is_required=True) or ""
        if not name:
            return ""
        if len(name) > MAX_NAME or not re.fullmatch(SKILL_NAME_PATTERN, name):
            self._complain(
                ("name",),
                Code.BAD_NAME,
                f"expected a name of at most {MAX_NAME} of the characters a-z, 0-9 and -,"
                " with each - between two others",
            )
        elif name != self.folder:
            self._complain(
                ("name",),
                Code.BAD_NAME,
                f"the skill's name is not that of its folder, {self.folder[:80]!r}",
                hint="give both the same name",
            )
        return name

    def _text(self, key: str, longest: int | None, *, is_required: bool = False) -> str | None:
        entry = self.node.entries.get(key)
        if entry is None:
            if is_required and key not in self.meant:
                message = f"the key {key!r} is missing"
                self._complain((), Code.MISSING_KEY, message)
            return None
        if not isinstance(entry.value, Scalar):
            hint = "put it in quotes if it is text"
            self._complain((key,), Code.WRONG_TYPE, "expected some text", hint=hint)
            return None
        text = entry.value.text.strip()
        if not text:
            severity = Severity.ERROR if is_required else Severity.WARNING
            self._complain((key,), Code.NULL_VALUE, f"{key!r} has no value", severity=severity)
            return None
        if longest is not None and len(text) > longest:
            message = f"expected at most {longest} characters, not {len(text):,}"
            self._complain((key,), Code.BAD_VALUE, message)
        return text

    def _metadata(self) -> dict[str, str]:
        entry = self.node.entries.get("metadata")
        if entry is None:
            return {}
        if isinstance(entry.value, Mapping):
            return {key: _as_text(one.value) for key, one in entry.value.entries.items()}
        if isinstance(entry.value, Scalar) and not entry.value.text.strip():
            message = "'metadata' has no value"
            self._complain(("metadata",), Code.NULL_VALUE, message, severity=Severity.WARNING)
        else:
            self._complain(("metadata",), Code.WRONG_TYPE, "expected keys with their values")
        return {}

    def _allowed_tools(self) -> tuple[str, ...] | None:
        """The tools of `allowed-tools`, which is a list, or one text with spaces or commas."""
        entry = self.node.entries.get("allowed-tools")
        match entry.value if entry else None:
            case None:
                return None
            case Scalar(text=text):
                named = tuple(_TOOL.findall(text))
            case Sequence(items=items) if all(isinstance(item, Scalar) for item in items):
                named = tuple(
                    text
                    for item in items
                    if isinstance(item, Scalar)
                    if (text := item.text.strip())
                )
            case _:
                message = "expected the names of tools"
                self._complain(("allowed-tools",), Code.WRONG_TYPE, message)
                return None
        if not named:
            self._complain(
                ("allowed-tools",),
                Code.NULL_VALUE,
                "'allowed-tools' names no tool, so none may be called while the skill is in force",
                severity=Severity.WARNING,
            )
        return tuple(name[:200] for name in named)

    def _unknown(self, key: str) -> None:
        meant = nearest(key, KEYS)
        self.meant |= {meant} if meant else set()
        hint = f"did you mean {meant!r}?" if meant else "put what is your own under metadata"
        message = f"unknown key {key[:80]!r}"
        self._complain((key,), Code.UNKNOWN_KEY, message, hint=hint, at_key=True)

    def _warn_of_comment(self) -> None:
        """Tell of a text that YAML ends at a `#`, which its author hardly meant."""
        entry = self.node.entries.get("description")
        node = entry.value if entry else None
        if not isinstance(node, Scalar) or not node.text:
            return
        lines = self.document.source.lines
        first, last = lines[node.line - 1], lines[min(node.end_line, len(lines)) - 1]
        is_plain = first[node.column - 1 : node.column] not in {'"', "'", "|", ">"}
        if is_plain and re.match(r"\s+#", last[node.end_column - 1 :]):
            self._complain(
                ("description",),
                Code.UNQUOTED_TEXT,
                "what follows the '#' is a comment and not part of the text",
                hint="put the text in quotes",
                severity=Severity.WARNING,
            )

    def _complain(
        self,
        at: tuple[str, ...],
        code: Code,
        message: str,
        *,
        hint: str = "",
        at_key: bool = False,
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.problems.append(
            self.document.problem(at, code, message, hint=hint, at_key=at_key, severity=severity)
        )


def _as_text(node: Node) -> str:
    return node.text if isinstance(node, Scalar) else canonical_json(plain(node))
