"""A journal whose process dies at a chosen commit."""

from collections.abc import Callable, Collection, Sequence
from datetime import timedelta

from runner.core.approvals import Approval
from runner.core.coordination import Input, Outcome
from runner.core.ids import ConversationId, TurnId, WorkerId
from runner.core.messages import Message
from runner.core.ports import Journal
from runner.core.records import Claim, ClaimedTurn, Committed, StepWrite, ToolExecution


class ProcessDied(BaseException):
    """Ends a test's execution the way SIGKILL would: nothing after it is done."""


class MortalJournal:
    """
    Passes everything on, and dies before or after the commit of its *number*, from 1.

    Dying before a commit is dying during what the step did; dying after it is dying between steps.
    """

    def __init__(self, journal: Journal, *, number: int = 0, before: bool = False) -> None:
        self._journal = journal
        self._number = number
        self._before = before
        self.commits = 0
        #: What the latest commit was told of how long to try.
        self.insist: Callable[[], bool] = lambda: False
        #: Called with each step before it is committed.
        self.on_commit: Callable[[StepWrite], None] = lambda _write: None

    def claim(
        self, turn_id: TurnId, worker_id: WorkerId, *, lease: timedelta, inline: bool = False
    ) -> ClaimedTurn | None:
        return self._journal.claim(turn_id, worker_id, lease=lease, inline=inline)

    def transcript(self, conversation_id: ConversationId) -> Sequence[Message]:
        return self._journal.transcript(conversation_id)

    def executions(self, turn_id: TurnId) -> Sequence[ToolExecution]:
        return self._journal.executions(turn_id)

    def outcomes(self, turn_ids: Sequence[TurnId]) -> Sequence[Outcome]:
        return self._journal.outcomes(turn_ids)

    def inputs(self, turn_id: TurnId) -> Sequence[Input]:
        return self._journal.inputs(turn_id)

    def approvals(self, turn_id: TurnId) -> Sequence[Approval]:
        return self._journal.approvals(turn_id)

    def commit(self, write: StepWrite, *, insist: Callable[[], bool] = lambda: False) -> Committed:
        self.commits += 1
        self.insist = insist
        self.on_commit(write)
        dies = self.commits == self._number
        if dies and self._before:
            raise ProcessDied
        committed = self._journal.commit(write, insist=insist)
        if dies:
            raise ProcessDied
        return committed

    def renew(self, claims: Collection[Claim], *, lease: timedelta) -> Collection[Claim]:
        return self._journal.renew(claims, lease=lease)
