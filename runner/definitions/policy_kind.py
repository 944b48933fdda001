"""What makes a policy's definition whole and right, beyond its form."""

from collections.abc import Iterator, Sequence
from typing import assert_never

from runner.core.errors import BadCondition
from runner.definitions.codes import Code
from runner.definitions.condition import compiled
from runner.definitions.document import Document
from runner.definitions.nodes import Path, Scalar
from runner.definitions.policy import PolicyDefinition, PolicyRule, PythonPolicy, RulesPolicy
from runner.definitions.policy_overlap import Overlap, overlaps
from runner.definitions.problem import Problem, Severity
from runner.definitions.python_references import find_module, parse_reference
from runner.definitions.source import Source
from runner.definitions.surroundings import Surroundings
from runner.definitions.variants import nearest


def complete(policy: PolicyDefinition, document: Document, at: Path = ()) -> PolicyDefinition:
    """Let a policy and its rules know where they stand."""
    match policy:
        case RulesPolicy(rules=rules):
            placed = tuple(
                rule.at(_source(document, (*at, "rules", index)))
                for index, rule in enumerate(rules)
            )
            return policy.at(_source(document, at), rules=placed)
        case PythonPolicy():
            return policy.at(_source(document, at))
        case _:
            assert_never(policy)


def complete_entries(
    entries: Sequence[str | PolicyDefinition], document: Document, at: Path
) -> tuple[str | PolicyDefinition, ...]:
    """Let the policies that are written in a list know where they stand."""
    return tuple(
        entry if isinstance(entry, str) else complete(entry, document, (*at, index))
        for index, entry in enumerate(entries)
    )


def check(
    policy: PolicyDefinition, document: Document, surroundings: Surroundings, at: Path = ()
) -> Iterator[Problem]:
    """Tell what in a policy cannot be meant."""
    match policy:
        case RulesPolicy(rules=rules):
            for index, rule in enumerate(rules):
                yield from _check_rule(rule, document, (*at, "rules", index))
            for overlap in overlaps(rules):
                yield _overlapping(overlap, document, (*at, "rules"))
        case PythonPolicy():
            yield from _check_python(policy, document, surroundings, at)
        case _:
            assert_never(policy)


def check_entries(
    entries: Sequence[str | PolicyDefinition],
    document: Document,
    surroundings: Surroundings,
    at: Path,
) -> Iterator[Problem]:
    """Tell what is wrong with a list of policies, by name or written in it."""
    for index, entry in enumerate(entries):
        place = (*at, index)
        if not isinstance(entry, str):
            yield from check(entry, document, surroundings, place)
        elif entry not in surroundings.policies:
            meant = nearest(entry, surroundings.policies)
            hint = f"did you mean {meant!r}?" if meant else "define it in a file with kind: policy"
            message = f"no policy {entry!r}"
            yield document.problem(place, Code.UNKNOWN_POLICY, message, hint=hint)


def _source(document: Document, at: Path) -> str:
    return f"{document.source.path}:{document.value(at).line}"


def _check_rule(rule: PolicyRule, document: Document, at: Path) -> Iterator[Problem]:
    if rule.expires is not None and rule.effect != "ask":
        message = "only a rule with 'effect: ask' has an answer that can expire"
        yield document.problem((*at, "expires"), Code.KEY_CONFLICT, message, at_key=True)
    if rule.when is None:
        return
    try:
        compiled(rule.when)
    except BadCondition as error:
        place = document.value((*at, "when"))
        where = (place.line, place.column)
        if isinstance(place, Scalar):
            where = _inside(place, document.source, error.offset)
        yield document.source.problem(Code.BAD_CONDITION, str(error), at=where, hint=error.hint)


def _inside(scalar: Scalar, source: Source, offset: int) -> tuple[int, int]:
    """The line and column of a character of a text, or the text's where that cannot be told."""
    written = source.lines[scalar.line - 1][scalar.column - 1 :]
    for lead in (0, 1):
        if written[lead:].startswith(scalar.text):
            return scalar.line, scalar.column + lead + offset
    before = scalar.text[:offset]
    row, column = before.count("\n"), offset - before.rfind("\n") - 1
    wanted = scalar.text.split("\n")[row]
    written = source.lines[scalar.line + row] if scalar.line + row < len(source.lines) else ""
    if wanted and wanted in written:
        return scalar.line + row + 1, written.index(wanted) + column + 1
    return scalar.line, scalar.column


def _check_python(
    policy: PythonPolicy, document: Document, surroundings: Surroundings, at: Path
) -> Iterator[Problem]:
    if "python_modules" in surroundings.unsure:
        return
    module = parse_reference(policy.python).module
    if find_module(module, surroundings.config.python_modules, surroundings.root) is None:
        yield document.problem(
            (*at, "python"),
            Code.MODULE_NOT_ALLOWED,
            f"the config does not list the module {module!r}",
            hint="list it, or the project folder it is in, under python_modules",
        )


def _overlapping(overlap: Overlap, document: Document, at: Path) -> Problem:
    node, other = document.value((*at, overlap.rule)), document.value((*at, overlap.by))
    place = document.source.location(other.line, other.column)
    if overlap.is_contradiction:
        code, message = Code.CONTRADICTORY_RULE, "another rule says the opposite of the very same"
    else:
        code, message = Code.UNREACHABLE_RULE, "another rule decides wherever this one applies"
    return document.source.problem(
        code,
        f"{message}, in line {place.line}",
        at=(node.line, node.column),
        hint="remove one of them, or narrow one down",
        severity=Severity.WARNING,
        related=(place,),
    )
