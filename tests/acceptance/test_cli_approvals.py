"""Approvals at the command line and in the Python API."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from threading import Thread

import pytest
from typing_extensions import override

from runner import Runner
from runner.cli.asker import Asker, looking, read_line
from runner.cli.live import PeopleView, view_for
from runner.core.approvals import Answer, Approval
from runner.core.authorization import Attempt, Effect, Verdict
from runner.core.errors import ApprovalAnswered
from runner.core.ids import TurnId
from runner.core.ports import ApprovalFilter, Observer
from runner.core.records import Turn
from tests.fakes.authority import FakeAuthority, Rule, saying
from tests.program import Program
from tests.waiting import until

_AGENT = """\
name: desk
description: Refunds.
model: default
instructions: Refund.
tools:
  - {name: refund, description: Pays money back., python: "notes:refund"}
"""
_SCRIPT = """\
- agent: desk
  answers:
    - tool_calls: [{name: refund, arguments: {amount: 250, to: "Ms Grün\\u202e"}}]
    - text: "Settled."
"""
_TOOLS = """\
from pathlib import Path


def refund(amount: int, to: str) -> str:
    \"\"\"Pay money back.\"\"\"
    with (Path(__file__).parent / "paid").open("a") as paid:
        paid.write(f"{amount} {to}\\n")
    return "paid"
"""


@dataclass
class Desk:
    """A project whose agent refunds once somebody has agreed."""

    program: Program
    authority: FakeAuthority = field(default_factory=FakeAuthority)

    def runner(self, observer: Observer | None = None) -> Runner:
        return Runner(
            self.program.root / "config.yaml",
            authority=self.authority,
            principal={"user": "ada"},
            observer=observer,
        )

    def ask(self) -> tuple[Turn, Approval]:
        """Have a worker take a turn to where it asks."""
        with self.runner() as runner:
            turn = runner.submit("desk", "Refund Ms Grün.")
            runner.wiring.turn_worker.work_on(turn.id)
            [approval] = runner.approvals(ApprovalFilter(turn_id=turn.id))
            return runner.turn(turn.id), approval

    def go_on(self, turn: Turn) -> Turn:
        with self.runner() as runner:
            runner.wiring.turn_worker.work_on(turn.id)
            return runner.turn(turn.id)

    @property
    def paid(self) -> list[str]:
        file = self.program.root / "python" / "paid"
        return file.read_text().splitlines() if file.exists() else []


@pytest.fixture
def desk(program: Program) -> Desk:
    program.write("agents/desk.yaml", _AGENT)
    program.write("script.yaml", _SCRIPT)
    program.write("python/notes.py", _TOOLS)
    desk = Desk(program)
    desk.authority.say(Effect.ASK, tool="refund")
    return desk


def test_what_is_asked_is_listed_with_all_that_somebody_needs_to_answer(desk: Desk) -> None:
    turn, approval = desk.ask()

    done = desk.program.run("approvals")

    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == f"{approval.id}  open"
    assert lines[1:9] == [
        "  agent      desk",
        "  tool       refund",
        "  arguments",
        "    {",
        '      "amount": 250,',
        '      "to": "Ms Grün\\u202e"',
        "    }",
        "  rule       operator-policy / rule 1 (policies.yaml:3)",
    ]
    assert lines[9:11] == ["  reason     operator says ask", f"  turn       {turn.id}"]
    assert lines[11].startswith("  expires    in ")


def test_programs_get_approvals_as_they_are(desk: Desk) -> None:
    turn, approval = desk.ask()

    [listed] = desk.program.run("approvals", "--json").document

    assert listed["id"] == approval.id
    assert (listed["turn_id"], listed["tool"]) == (turn.id, "refund")
    assert listed["arguments"] == approval.question.arguments
    assert (listed["answer"], listed["agents"]) == (None, ["desk"])


def test_approvals_of_one_turn_are_listed_answered_ones_too(desk: Desk) -> None:
    first, approval = desk.ask()
    second, _ = desk.ask()
    desk.program.run("deny", approval.id, "--reason", "Not again.")

    assert desk.program.run("approvals", "--turn", first.id).out == (
        "nothing waits for an approval\n"
    )
    every = desk.program.run("approvals", "--turn", first.id, "--all").out.splitlines()
    assert every[0] == f"{approval.id}  denied: Not again."
    assert not any(line.startswith("  expires") for line in every)
    assert len(desk.program.run("approvals", "--json", "--all").document) == 2
    unknown = desk.program.run("approvals", "--turn", "turn_0")
    assert (unknown.code, "there is no turn 'turn_0'" in unknown.err) == (1, True)
    assert desk.program.run("approvals", "--turn", second.id).out.startswith("appr_")


def test_without_any_it_says_so(desk: Desk) -> None:
    assert desk.program.run("approvals").out == "nothing waits for an approval\n"
    assert desk.program.run("approvals", "--all").out == "nothing was asked yet\n"
    assert desk.program.run("approvals", "--json").document == []


@pytest.mark.parametrize("command", ["approve", "deny"])
def test_who_answers_is_who_the_principal_says(desk: Desk, command: str) -> None:
    _, approval = desk.ask()

    done = desk.program.run(command, approval.id, "--principal", '{"user": "bo"}', "--json")
    listed = desk.program.run("approvals", "--all", "--principal", '{"user": "cy"}').out

    assert done.document["answered_by"] == {"user": "bo"}
    assert ' by {"user":"bo"}' in listed


def test_an_approved_call_is_made_as_it_was_shown(desk: Desk) -> None:
    turn, approval = desk.ask()

    done = desk.program.run("approve", approval.id)

    assert (done.code, done.out) == (0, f"{approval.id}  approved: refund in {turn.id}\n")
    assert desk.go_on(turn).result == "Settled."
    assert desk.paid == ["250 Ms Grün\u202e"]


def test_a_denied_call_is_not_made(desk: Desk) -> None:
    turn, approval = desk.ask()

    document = desk.program.run("deny", approval.id, "--reason", "Ask me.", "--json").document

    assert (document["answer"], document["answer_reason"]) == ("denied", "Ask me.")
    assert desk.go_on(turn).result == "Settled."
    assert desk.paid == []


def test_answering_twice_says_who_was_first(desk: Desk) -> None:
    _turn, approval = desk.ask()
    with desk.runner() as runner:
        runner.approve(approval.id, reason="She is right.")

    late = desk.program.run("deny", approval.id)
    unknown = desk.program.run("approve", "appr_0")

    assert late.code == 1
    assert late.err == (
        f'error: approval \'{approval.id}\' was approved before, by {{"user":"ada"}}\n'
    )
    assert unknown.err == "error: there is no approval 'appr_0'; `runner approvals` lists them\n"
    shown = desk.program.run("approvals", "--all").out.splitlines()[0]
    assert shown == f'{approval.id}  approved by {{"user":"ada"}}: She is right.'


_POLICIES = """\
authorization:
  - name: refunds
    rules:
      - {effect: ask, actions: [tool], tools: [refund]}
      - {effect: allow, actions: [approve], principals: {role: chief}}
      - {effect: deny, actions: [read_control], principals: {role: stranger}}
"""


def test_answers_are_given_and_lists_read_for_a_principal(desk: Desk) -> None:
    desk.program.write("config.yaml", (desk.program.root / "config.yaml").read_text() + _POLICIES)
    turn, approval = desk.ask()
    chief, stranger = '{"role": "chief"}', '{"role": "stranger"}'

    unseen = desk.program.run("approvals", "--json", "--principal", stranger)
    seen = desk.program.run("approvals", "--json", "--principal", chief)
    refused = desk.program.run("approve", approval.id, "--principal", stranger)
    nobody = desk.program.run("deny", approval.id)
    done = desk.program.run("approve", approval.id, "--principal", chief)
    late = desk.program.run("deny", approval.id, "--principal", chief)

    assert (unseen.document, len(seen.document)) == ([], 1)
    assert (refused.code, nobody.code) == (3, 3)
    assert (done.code, done.out) == (0, f"{approval.id}  approved: refund in {turn.id}\n")
    assert 'by {"role":"chief"}' in late.err


def test_who_answers_at_the_command_line_is_whom_the_option_names(desk: Desk) -> None:
    _turn, approval = desk.ask()
    ada = ("--principal", '{"user": "ada"}')

    listed = desk.program.run("approvals", *ada).out
    approved = desk.program.run("approve", approval.id, *ada)
    late = desk.program.run("deny", approval.id, *ada)

    assert (listed.split()[0], approved.code) == (approval.id, 0)
    assert late.err.endswith('was approved before, by {"user":"ada"}\n')


def test_ps_and_show_say_that_a_turn_asks(desk: Desk) -> None:
    turn, approval = desk.ask()

    listed = desk.program.run("ps").out
    shown = desk.program.run("show", turn.id).out
    document = desk.program.run("show", turn.id, "--json").document

    assert "asks for 1 approval" in listed
    assert f"asks for     1 approval; `runner approvals --turn {turn.id}`" in shown
    assert f"  {approval.id} refund open" in shown
    assert document["turn"]["open_approvals"] == 1
    assert document["executions"][0]["status"] == "asking"
    assert [each["id"] for each in document["approvals"]] == [approval.id]


def test_a_timeline_leaves_out_what_an_event_does_not_say(desk: Desk) -> None:
    turn, approval = desk.ask()
    desk.program.run("approve", approval.id)

    shown = desk.program.run("show", turn.id).out

    assert ("approval.answered" in shown, "=null" in shown) == (True, False)


def test_reconcile_says_what_nobody_answered_in_time(desk: Desk) -> None:
    desk.authority.layers["operator"] = _soon(saying(Effect.ASK, tool="refund"))
    turn, _approval = desk.ask()

    until(
        lambda: "1 turn of which nobody approved" in desk.program.run("reconcile").out,
        "the approval to expire",
    )

    assert desk.go_on(turn).result == "Settled."
    assert desk.paid == []


def _soon(rule: Rule) -> Rule:
    """Leave hardly any time to answer."""

    def sooner(attempt: Attempt) -> Verdict | None:
        verdict = rule(attempt)
        return None if verdict is None else replace(verdict, expires=timedelta(milliseconds=50))

    return sooner


class Typist:
    """Types what a test has it type, and keeps what it was asked."""

    def __init__(self, *lines: str) -> None:
        self._lines = list(lines)
        self.prompts: list[str] = []

    def __call__(self, prompt: str, *, is_over: Callable[[], bool]) -> str:
        self.prompts.append(prompt)
        if not self._lines:
            raise EOFError
        return self._lines.pop(0)


class AtTerminal(PeopleView):
    """A view that knows which turns ask although nobody looks at a terminal."""

    def __init__(self, turns: Sequence[TurnId]) -> None:
        super().__init__(chat=False)
        self._turns = turns

    @override
    def asking(self) -> Sequence[TurnId]:
        return self._turns


@pytest.fixture
def runner(desk: Desk) -> Iterator[Runner]:
    with desk.runner() as runner:
        yield runner


def ask_at_terminal(runner: Runner, turn: Turn, typist: Typist) -> None:
    view = AtTerminal([turn.id])
    view.look_up_in(runner)
    asker = Asker(runner, view, typed=typist)
    asker.look()
    asker.look()


@pytest.mark.parametrize(
    ("lines", "answer", "reason"),
    [
        (["y"], Answer.APPROVED, None),
        (["perhaps", "", "YES"], Answer.APPROVED, None),
        (["n", ""], Answer.DENIED, None),
        (["no", "Too much."], Answer.DENIED, "Too much."),
    ],
)
def test_a_person_at_a_terminal_is_asked_on_the_spot(
    desk: Desk,
    runner: Runner,
    capsys: pytest.CaptureFixture[str],
    lines: list[str],
    answer: Answer,
    reason: str | None,
) -> None:
    turn, approval = desk.ask()
    typist = Typist(*lines)

    ask_at_terminal(runner, turn, typist)

    [stored] = runner.approvals(ApprovalFilter(answered=True))
    assert (stored.answer, stored.answer_reason) == (answer, reason)
    assert stored.answered_by == {"user": "ada"}
    shown = capsys.readouterr().err
    assert '"amount": 250' in shown
    assert "operator-policy / rule 1" in shown
    assert typist.prompts[0] == "  approve? [y/n] "
    assert approval.id == stored.id


def test_what_is_not_answered_on_the_spot_is_asked_once_and_can_be_answered_elsewhere(
    desk: Desk, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    turn, approval = desk.ask()
    typist = Typist()

    ask_at_terminal(runner, turn, typist)

    assert list(runner.approvals()) == [approval]
    assert len(typist.prompts) == 1
    assert f"answer with `runner approve {approval.id}`" in capsys.readouterr().err


def test_somebody_elses_answer_and_a_policy_that_forbids_ours_are_told(
    desk: Desk, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    turn, approval = desk.ask()
    desk.authority.layers["desk"] = saying(Effect.DENY, "desk", action="approve")
    ask_at_terminal(runner, turn, Typist("y"))
    assert "is not yours to answer: desk says deny" in capsys.readouterr().err
    del desk.authority.layers["desk"]

    class Slow(Typist):
        @override
        def __call__(self, prompt: str, *, is_over: Callable[[], bool]) -> str:
            runner.deny(approval.id)
            return super().__call__(prompt, is_over=is_over)

    ask_at_terminal(runner, turn, Slow("y"))

    assert f"approval '{approval.id}' was denied before" in capsys.readouterr().err
    with pytest.raises(ApprovalAnswered):
        runner.approve(approval.id)


def test_a_question_at_a_terminal_ends_when_somebody_elsewhere_has_answered_it(
    desk: Desk, runner: Runner, capsys: pytest.CaptureFixture[str]
) -> None:
    turn, approval = desk.ask()
    reading, writing = os.pipe()

    class Nobody(Typist):
        @override
        def __call__(self, prompt: str, *, is_over: Callable[[], bool]) -> str:
            self.prompts.append(prompt)
            before = is_over()
            runner.approve(approval.id)
            assert (before, is_over()) == (False, True)
            with os.fdopen(reading) as silent:
                return read_line(prompt, silent, is_over=is_over)

    typist = Nobody()
    ask_at_terminal(runner, turn, typist)
    os.close(writing)

    assert typist.prompts == ["  approve? [y/n] "]
    assert f'approval {approval.id} is approved by {{"user":"ada"}}' in capsys.readouterr().err


def test_a_line_is_read_as_it_was_typed_and_the_end_of_lines_is_told() -> None:
    reading, writing = os.pipe()
    os.write(writing, b" y \n")
    os.close(writing)

    with os.fdopen(reading) as source:
        line = read_line("? ", source, is_over=lambda: False)
        with pytest.raises(EOFError):
            read_line("? ", source, is_over=lambda: False)

    assert line == "y"


def test_without_a_terminal_it_only_looks(runner: Runner) -> None:
    view = view_for(as_json=False)
    view.look_up_in(runner)

    assert looking(runner, view) == view.look


def test_a_turn_that_runs_here_goes_on_once_somebody_elsewhere_has_answered(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    view = view_for(as_json=True)
    ended: list[Turn] = []
    with desk.runner(view) as here, desk.runner() as elsewhere:
        thread = Thread(target=lambda: ended.append(here.run("desk", "Refund Ms Grün.")))
        thread.start()
        until(elsewhere.approvals, "the turn to ask")
        [approval] = elsewhere.approvals()
        elsewhere.approve(approval.id)
        thread.join(60)

    assert [turn.result for turn in ended] == ["Settled."]
    assert len(desk.paid) == 1
    said = capsys.readouterr().err
    assert f"asks for approval; answer with `runner approve {approval.id}`" in said


def test_a_turn_that_runs_here_is_denied_when_nobody_answers_although_no_worker_runs(
    desk: Desk,
) -> None:
    desk.authority.layers["operator"] = _soon(saying(Effect.ASK, tool="refund"))

    with desk.runner() as runner:
        turn = runner.run("desk", "Refund Ms Grün.")

    assert turn.result == "Settled."
    assert desk.paid == []
