"""Asks the person at the terminal, on the spot, about calls that somebody has to approve."""

import select
import sys
from collections.abc import Callable
from typing import Final, Protocol, TextIO

from runner.bootstrap.runner import Runner
from runner.cli.asked import particulars, stand
from runner.cli.live import View
from runner.core.approvals import Approval
from runner.core.errors import AuthorizationError, ConflictError
from runner.core.ids import ApprovalId
from runner.core.ports import ApprovalFilter

_YES: Final = frozenset({"y", "yes"})
_NO: Final = frozenset({"n", "no"})
#: How often it is looked whether somebody else was faster, in seconds.
_LOOK_AGAIN: Final = 0.5


class Typed(Protocol):
    """Asks for a line, and returns it."""

    def __call__(self, prompt: str, *, is_over: Callable[[], bool]) -> str:
        """
        Return a line without its end.

        Raises:
            EOFError: There are no more, or it is over.
        """
        ...


def looking(runner: Runner, view: View) -> Callable[[], None]:
    """Return what looks at the turn that runs here again and again, and asks where it must."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return view.look
    return Asker(runner, view).look


class Asker:
    """Puts each question once; what is not answered here can be answered elsewhere."""

    def __init__(self, runner: Runner, view: View, *, typed: Typed | None = None) -> None:
        """
        Make one.

        Args:
            runner: Where the turns are.
            view: Shows them.
            typed: Asks for a line; otherwise standard input does.
        """
        self._runner = runner
        self._view = view
        self._typed = typed or _typed
        self._asked = set[ApprovalId]()

    def look(self) -> None:
        """Look at the turn anew, and ask about what it is that it waits for."""
        self._view.look()
        for turn_id in self._view.asking():
            for approval in self._runner.approvals(ApprovalFilter(turn_id=turn_id)):
                if approval.id not in self._asked:
                    self._asked.add(approval.id)
                    self._ask(approval)

    def _ask(self, approval: Approval) -> None:
        with self._view.held():
            print(file=sys.stderr)
            for line in particulars(approval, self._runner.wiring.clock.now()):
                print(f"  {line}", file=sys.stderr)
            try:
                said = self._answer(approval)
            except EOFError:
                said = self._left_open(approval)
            except (AuthorizationError, ConflictError) as error:
                said = str(error)
        if said:
            self._view.notice(said)

    def _answer(self, approval: Approval) -> str:
        """Ask until there is an answer, and return what there is to say of it."""

        def is_over() -> bool:
            return self._now(approval).answer is not None

        while True:
            typed = self._typed("  approve? [y/n] ", is_over=is_over).lower()
            if typed in _YES:
                self._runner.approve(approval.id)
                return ""
            if typed in _NO:
                reason = self._typed("  why not? ", is_over=is_over)
                self._runner.deny(approval.id, reason=reason or None)
                return ""

    def _left_open(self, approval: Approval) -> str:
        """Say what there is to know when nothing was answered here."""
        now = self._now(approval)
        if now.answer is not None:
            return f"approval {approval.id} is {stand(now)}"
        return f"answer with `runner approve {approval.id}` or `runner deny {approval.id}`"

    def _now(self, approval: Approval) -> Approval:
        return self._runner.wiring.store.views.approval(approval.id)


def _typed(prompt: str, *, is_over: Callable[[], bool]) -> str:
    return read_line(prompt, sys.stdin, is_over=is_over)


def read_line(prompt: str, source: TextIO, *, is_over: Callable[[], bool]) -> str:
    """
    Ask for a line, and wait for it until it is over.

    Raises:
        EOFError: There are no more, or it is over.
    """
    # Not by input(), which writes its prompt to standard output: that is for results.
    print(prompt, end="", file=sys.stderr, flush=True)
    while not select.select([source], [], [], _LOOK_AGAIN)[0]:
        if is_over():
            print(file=sys.stderr)
            raise EOFError
    line = source.readline()
    if not line:
        raise EOFError
    return line.strip()
