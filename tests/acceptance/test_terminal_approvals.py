"""Declared policies and the person at a real terminal who is asked on the spot."""

from collections.abc import Callable, Iterator

import pytest

from runner import Runner
from runner.cli.text import plain
from runner.core.ports import ApprovalFilter
from tests.program import Program
from tests.terminal import Terminal

_POLICY = """\
kind: policy
rules:
  - name: large
    effect: ask
    actions: [tool]
    tools: [refund]
    when: "arguments.amount > 100.0"
    reason: A large refund.
  - {effect: deny, actions: [approve], principals: {role: clerk}, reason: Leads only.}
"""
_AGENT = """\
description: Refunds.
policies: [refunds]
tools: [{name: refund, description: Pays money back., python: "notes:refund"}]
"""
_SCRIPT = """\
- agent: desk
  when: small
  answers:
    - tool_calls: [{name: refund, arguments: {amount: 5}}]
    - text: "Settled: {last_result}"
- agent: desk
  answers:
    - tool_calls: [{name: refund, arguments: {amount: 250}}]
    - text: "Settled: {last_result}"
"""
_TOOLS = """\
from pathlib import Path


def refund(amount: int) -> str:
    \"\"\"Pay money back.\"\"\"
    with (Path(__file__).parent / "paid").open("a") as paid:
        paid.write(f"{amount}\\n")
    return "paid"
"""

Open = Callable[..., Terminal]


@pytest.fixture(params=["sqlite_url", "postgres_url"])
def open_terminal(request: pytest.FixtureRequest, program: Program) -> Iterator[Open]:
    """Begins a command at a terminal, in a project whose large refunds somebody has to approve."""
    program.configure(f'database: {{url: "{request.getfixturevalue(request.param)}"}}\n')
    program.write("agents/refunds.yaml", _POLICY)
    program.write("agents/desk.yaml", _AGENT)
    program.write("script.yaml", _SCRIPT)
    program.write("python/notes.py", _TOOLS)
    opened: list[Terminal] = []

    def start(*arguments: str) -> Terminal:
        opened.append(Terminal(program, *arguments))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.close()


def paid(program: Program) -> list[str]:
    file = program.root / "python" / "paid"
    return file.read_text().split() if file.exists() else []


def answers(program: Program) -> list[tuple[object, ...]]:
    with Runner(program.root / "config.yaml") as runner:
        found = runner.approvals(ApprovalFilter(answered=True))
    return [(a.answer and a.answer.value, a.answer_reason, a.answered_by) for a in found]


def test_a_run_asks_shows_what_it_asks_about_and_goes_on_once_approved(
    open_terminal: Open, program: Program
) -> None:
    terminal = open_terminal("run", "desk", "Refund it.", "--principal", '{"role": "lead"}')

    terminal.read_until("approve? [y/n]")
    assert paid(program) == []
    terminal.type("y\n")
    code = terminal.read_to_the_end()

    shown = plain(terminal.shown)
    assert code == 0
    assert "Settled" in shown
    for part in ('"amount": 250', "refunds / large (agents/refunds.yaml:3)", "A large refund."):
        assert part in shown
    assert paid(program) == ["250"]
    assert answers(program) == [("approved", None, {"role": "lead"})]


def test_a_run_whose_call_is_denied_on_the_spot_goes_on_without_it(
    open_terminal: Open, program: Program
) -> None:
    terminal = open_terminal("run", "desk", "Refund it.")

    terminal.read_until("approve? [y/n]")
    terminal.type("n\n")
    terminal.read_until("why not?")
    terminal.type("Too much.\n")
    code = terminal.read_to_the_end()

    assert (code, paid(program)) == (0, [])
    assert answers(program) == [("denied", "Too much.", None)]


def test_who_may_not_answer_is_told_and_somebody_elsewhere_can(
    open_terminal: Open, program: Program
) -> None:
    terminal = open_terminal("run", "desk", "Refund it.", "--principal", '{"role": "clerk"}')

    terminal.read_until("approve? [y/n]")
    terminal.type("y\n")
    terminal.read_until("Leads only.")
    assert paid(program) == []
    with Runner(program.root / "config.yaml", principal={"role": "lead"}) as elsewhere:
        [approval] = elsewhere.approvals()
        elsewhere.approve(approval.id)
    code = terminal.read_to_the_end()

    assert (code, paid(program)) == (0, ["250"])


def test_a_chat_asks_about_what_needs_it_message_by_message(
    open_terminal: Open, program: Program
) -> None:
    terminal = open_terminal("chat", "desk")

    terminal.read_until("> ")
    terminal.type("A small one.\n")
    terminal.read_until("Settled")
    terminal.read_until("> ")
    asked_for_small = "approve?" in terminal.shown
    terminal.type("A large one.\n")
    terminal.read_until("approve? [y/n]")
    before = paid(program)
    terminal.type("y\n")
    terminal.read_until("Settled")
    terminal.read_until("> ")
    terminal.type("And again.\n")
    terminal.read_until("approve? [y/n]")
    terminal.type("n\n")
    terminal.read_until("why not?")
    terminal.type("\n")
    terminal.read_until("Settled")
    terminal.read_until("> ")
    terminal.type("/quit\n")
    code = terminal.read_to_the_end()

    assert (code, asked_for_small, before) == (0, False, ["5"])
    assert paid(program) == ["5", "250"]
