"""Variables of the environment in texts: `${VAR}`, `${VAR:-default}`, `${VAR:?message}`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from runner.definitions.codes import Code
from runner.definitions.problem import Severity
from runner.definitions.secret import MASK
from runner.definitions.text import Interpolated

_PART: Final = re.compile(r"\$\$\{|\$\{(?P<inside>[^}]*)\}|\$\{")
_INSIDE: Final = re.compile(
    r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<operator>[-?])(?P<rest>.*))?", re.DOTALL
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Flaw:
    """Why a text cannot be filled in."""

    code: Code
    message: str
    hint: str = ""
    severity: Severity = Severity.ERROR


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One mention of a variable."""

    name: str
    is_set: bool
    #: Whether the file can do without it.
    has_default: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A text with its variables put in, the variables, and what is wrong."""

    text: str
    variables: tuple[Variable, ...] = ()
    flaws: tuple[Flaw, ...] = ()


def fill(template: str, environ: Mapping[str, str]) -> Filled:
    """
    Put variables into a text, once: what they hold is data and is not looked at again.

    `$${` stands for `${`. An empty variable counts as unset where there is a default or a message.
    """
    if "${" not in template:
        return Filled(text=template)
    filling = _Filling(template, environ)
    end = 0
    for match in _PART.finditer(template):
        filling.literal(template[end : match.start()])
        if not filling.part(match):
            return filling.done()
        end = match.end()
    filling.literal(template[end:])
    return filling.done()


class _Filling:
    """What has been read of a template so far."""

    def __init__(self, template: str, environ: Mapping[str, str]) -> None:
        self._template = template
        self._environ = environ
        self._text: list[str] = []
        self._reference: list[str] = []
        self._variables: list[Variable] = []
        self._flaws: list[Flaw] = []

    def literal(self, text: str) -> None:
        if text:
            self._text.append(text)
            self._reference.append(MASK)

    def part(self, match: re.Match[str]) -> bool:
        """Read a part that starts with a dollar; false when nothing after it makes sense."""
        if match[0] == "$${":
            self.literal("${")
            return True
        inside = _INSIDE.fullmatch(match["inside"] or "")
        if inside is None:
            message = "'${' is not followed by a variable's name and '}'"
            hint = "write '$${' for a '${' that is text"
            self._flaws.append(Flaw(code=Code.BAD_INTERPOLATION, message=message, hint=hint))
            return False
        self._variable(inside["name"], inside["operator"], inside["rest"] or "")
        return True

    def _variable(self, name: str, operator: str | None, rest: str) -> None:
        value = self._environ.get(name)
        is_set = value is not None if operator is None else bool(value)
        self._variables.append(Variable(name=name, is_set=is_set, has_default=operator == "-"))
        default = f":-{MASK}" if operator == "-" and rest else ":-" if operator == "-" else ""
        self._reference.append(f"${{{name}{default}}}")
        if is_set:
            self._text.append(value or "")
        elif operator == "-":
            self._text.append(rest)
        else:
            message = f"the variable {name} is not set" + (f": {rest}" if rest else "")
            hint = f"set it, or give a default: ${{{name}:-default}}"
            self._flaws.append(Flaw(code=Code.MISSING_VARIABLE, message=message, hint=hint))

    def done(self) -> Filled:
        names = tuple(dict.fromkeys(variable.name for variable in self._variables))
        text = "".join(self._text)
        if names or text != self._template:
            text = Interpolated.of(
                text,
                reference="".join(self._reference),
                variables=names,
                template=self._template,
            )
        return Filled(text=text, variables=tuple(self._variables), flaws=tuple(self._flaws))
