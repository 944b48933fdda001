"""What the pages refer to exists: events, methods, errors, commands, links and files."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path

import pytest

from runner import Runner
from runner.bootstrap.conversation import Conversation
from runner.cli.commands import COMMANDS
from runner.cli.main import load
from runner.core import errors
from runner.core.states import TurnStatus
from tests.architecture.source import MODULES
from tests.example_project import REPOSITORY
from tests.markdown import Page, page
from tests.unit.pages import DURABILITY, PYTHON, every_page, table


def public(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def strings_of(module: Path, keyword: str) -> Iterator[str]:
    """The texts that are given under a keyword somewhere in a module."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.keyword) and node.arg == keyword:
            yield from (
                each.value
                for each in ast.walk(node.value)
                if isinstance(each, ast.Constant) and isinstance(each.value, str)
            )


def calls_of(module: Path, name: str) -> Iterator[str]:
    """The first texts that are handed to a method somewhere in a module."""
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(attr=attribute), args=[ast.Constant(value=str(text)), *_]
            ) if attribute == name:
                yield text


STORE_AND_ENGINE = [m for m in MODULES if {"store", "engine"} & set(m.parts)]


def test_every_event_is_listed_and_no_other() -> None:
    noted = {kind for module in STORE_AND_ENGINE for kind in calls_of(module, "note")}
    stored = {
        kind for module in STORE_AND_ENGINE for kind in strings_of(module, "kind") if "." in kind
    }

    assert set(table(DURABILITY, "Events").rows) == noted | stored


def test_every_reason_for_which_a_turn_fails_is_listed_and_no_other() -> None:
    listed = set(table(DURABILITY, "Why a turn fails").rows)
    given = {code for module in STORE_AND_ENGINE for code in strings_of(module, "code")}
    source = "".join(module.read_text("utf-8") for module in STORE_AND_ENGINE)

    assert given <= listed
    assert all(f'"{code}"' in source for code in listed)


def test_the_statuses_that_are_told_are_those_of_turns() -> None:
    assert set(table(DURABILITY, "States").rows) == set(TurnStatus)


@pytest.mark.parametrize(
    ("kind", "headings"),
    [
        (Runner, ["Tasks", "Reading", "Turns that work together", "Definitions and upkeep"]),
        (Conversation, ["Conversations"]),
    ],
)
def test_every_method_is_listed_with_its_parameters(kind: type, headings: Sequence[str]) -> None:
    rows = [name for heading in headings for name in page(PYTHON).tables(heading)[0].rows]
    methods: Mapping[str, Callable[..., object]] = {
        name: getattr(kind, name) for name in public(kind) if inspect.isfunction(vars(kind)[name])
    }
    told = set(rows)
    made_elsewhere = {name for name in methods if f"`{name}(" in page(PYTHON).text} - {
        row.partition("(")[0] for row in rows
    }

    assert told == {
        f"{name}({signature(method)})"
        for name, method in methods.items()
        if name not in made_elsewhere
    }


def signature(method: Callable[..., object]) -> str:
    """The parameters of a method, without their types."""
    _, *parameters = inspect.signature(method).parameters.values()
    shown, has_star = [], False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY and not has_star:
            shown.append("*")
            has_star = True
        shown.append(f"{parameter.name}{default_of(parameter)}")
    return ", ".join(shown)


def default_of(parameter: inspect.Parameter) -> str:
    match parameter.default:
        case parameter.empty:
            return ""
        case Enum() as member:
            return f"={type(member).__name__}.{member.name}"
        case default:
            return f"={default!r}"


def test_an_error_that_is_told_of_exists() -> None:
    rows = table(PYTHON, "Errors").rows

    assert all(issubclass(getattr(errors, name), errors.RunnerError) for name in rows)


def commands_of(each: Page) -> Iterator[str]:
    """Every command line that a page shows."""
    for text in (
        *(b.text for b in each.blocks("sh")),
        *re.findall(r"`(runner [^`]+)`", each.prose),
    ):
        for line in text.splitlines():
            command = re.sub(r"\[.*?\]|#.*|\|.*", "", line).strip()
            if re.match(r"runner +[a-z]", command):
                yield command


def options_of(words: Sequence[str]) -> set[str]:
    """The options of a command, which the first of *words* name."""
    command = load(words[0])
    commands = getattr(command, "commands", None)
    if commands and words[1:]:
        command = commands[words[1]]
    return {"--help", *(name for parameter in command.params for name in parameter.opts)}


@every_page
def test_a_command_that_is_shown_exists_with_its_options(each: Page) -> None:
    for line in commands_of(each):
        words = re.sub(r'"[^"]*"', "TEXT", line).split()[1:]

        assert words[0] in COMMANDS, line
        assert {word for word in words if word.startswith("--")} <= options_of(words), line


@every_page
def test_a_link_leads_somewhere(each: Page) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", each.prose):
        name, _, anchor = target.partition("#")
        path = each.path.parent / name if name else each.path

        assert path.exists(), target
        if anchor:
            assert anchor in {anchor_of(heading) for heading in Page(path=path).headings}, target


def anchor_of(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


@every_page
def test_a_file_of_the_source_that_is_named_exists(each: Page) -> None:
    named = re.findall(r"`((?:agents|docs|runner|tests)/[\w/.-]+\.\w+)`", each.prose)

    assert all((REPOSITORY / name).is_file() for name in named), named
