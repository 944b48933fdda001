"""What a person at a terminal sees of a turn that runs."""

from collections.abc import Callable, Iterator

import pytest

from runner.cli.text import plain
from tests.program import Program
from tests.terminal import Terminal

COLOUR = "\x1b[3"


@pytest.fixture
def at_terminal(program: Program) -> Iterator[Callable[..., str]]:
    """Runs a task at a terminal, with further variables, and returns what was shown."""
    opened: list[Terminal] = []

    def run(**environ: str) -> str:
        terminal = Terminal(program, "run", "hello", "[b]good[/b] morning", **environ)
        opened.append(terminal)
        assert terminal.read_to_the_end() == 0
        return terminal.shown

    yield run
    for terminal in opened:
        terminal.close()


def test_the_result_stands_in_a_panel_below_what_happened(at_terminal: Callable[..., str]) -> None:
    shown = at_terminal()

    lines = plain(shown).splitlines()
    top = next(place for place, line in enumerate(lines) if line.endswith("╮"))
    assert lines[top].startswith("╭─ result ─")
    assert lines[top + 1].startswith("│ Hello! You said: [b]good[/b] morning ")
    assert lines[top + 3].startswith("completed · ")
    assert COLOUR in shown


def test_without_colours_there_are_none(at_terminal: Callable[..., str]) -> None:
    shown = at_terminal(NO_COLOR="1")

    assert "╭─ result ─" in shown
    assert COLOUR not in shown


def test_ids_stay_whole_however_narrow_the_terminal(program: Program) -> None:
    turn_id = program.run("submit", "hello", "hi").out.strip()
    terminal = Terminal(program, "ps", COLUMNS="60")

    code = terminal.read_to_the_end()

    terminal.close()
    assert code == 0
    assert turn_id in terminal.shown
    assert "CONVERSATION" not in terminal.shown
