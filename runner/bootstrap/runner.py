"""The Python API: a config opened, and what can be done with it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import timedelta
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self

from runner.bootstrap.conversation import Conversation
from runner.bootstrap.desk import Desk, said
from runner.bootstrap.given import Given
from runner.bootstrap.guard import Guard
from runner.bootstrap.listing import visible_approvals, visible_turns
from runner.bootstrap.wiring import Wiring
from runner.core.approvals import Answer, Approval
from runner.core.authorization import Action
from runner.core.coordination import Delivery, Input, Reach, Receipts
from runner.core.cost import Cost
from runner.core.errors import UsageError
from runner.core.finding import Finding
from runner.core.ids import (
    ApprovalId,
    ConversationId,
    TurnId,
    new_delivery_id,
    new_input_id,
)
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.messages import Message
from runner.core.ports import ApprovalFilter, Authority, Dispatcher, Observer, TurnFilter
from runner.core.records import Event, ToolExecution, Turn
from runner.core.states import TurnStatus
from runner.definitions.problem import Problem
from runner.definitions.snapshot import ResolvedAgent
from runner.engine.follow import Follower
from runner.engine.preview import Preview, preview_turn
from runner.engine.sweep import SweepReport


class Runner:
    """
    A project's agents, and the store their turns live in.

    Nothing is opened before it is needed: reading definitions needs no database. One runner serves
    any number of threads. Close it, or use it as a context manager.

    What is asked of an id or a name that is not there raises NotFound, and what policies do not let
    the principal do raises NotPermitted.

        with Runner("config.yaml") as runner:
            turn = runner.run("translator", "Translate: good morning")
            print(turn.result)
    """

    def __init__(
        self,
        config: str | PathLike[str] | None = None,
        *,
        environ: Mapping[str, str] | None = None,
        observer: Observer | None = None,
        dispatcher: Dispatcher | None = None,
        authority: Authority | None = None,
        principal: JsonObject | None = None,
    ) -> None:
        """
        Open a config.

        Args:
            config: Its path; None looks at RUNNER_CONFIG, then for `config.yaml` here, and falls
                back to the embedded default.
            environ: The variables that `${…}` reads; the process's own by default.
            observer: Sees events and streamed text of the turns run in this process.
            dispatcher: Sends wake-ups in place of the configured broker.
            authority: Says who may do what in place of the declared policies.
            principal: Who acts and reads here, as policies see it, and who turns act for that are
                given nobody else.
        """
        self._wiring = Wiring(
            None if config is None else Path(config),
            environ=environ,
            observer=observer,
            dispatcher=dispatcher,
            authority=authority,
        )
        self._act_for(principal)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of threads and connections."""
        self._wiring.close()

    def acting_for(self, principal: JsonObject | None) -> "Runner":
        """Return a runner for somebody else that shares everything; only one is to be closed."""
        other = copy(self)
        other._act_for(principal)  # noqa: SLF001 - its own class
        return other

    @property
    def wiring(self) -> Wiring:
        """The parts, for programs that run workers of their own."""
        return self._wiring

    def problems(self) -> Sequence[Problem]:
        """Return what is wrong with the project's files now."""
        return self._wiring.project().problems

    def agents(self) -> Mapping[str, ResolvedAgent]:
        """
        Return the current agents by name, with everything they refer to put in.

        Raises:
            DefinitionError: The files have errors.
        """
        return self._wiring.catalog.definitions()

    def preview(
        self,
        agent: str,
        text: str,
        *,
        input: JsonValue = None,  # noqa: A002 - the word of the YAML key
        chat: bool = False,
        given: Given | None = None,
        with_context: bool = True,
    ) -> Preview:
        """
        Return the first request of such a task, or of such a conversation, storing nothing.

        Args:
            agent: Its name.
            text: The task, or the first message.
            input: Structured input of a task.
            chat: Whether it is the first message of a conversation.
            given: What the turn would be given.
            with_context: Whether the agent's contributors are asked, as they are before it is sent.

        Raises:
            ContributorFailed: One that the turn cannot go on without gave nothing.
        """
        order = (
            self._desk.message(agent, text, given)
            if chat
            else self._desk.task(agent, text, input, given)
        )
        return self._desk.preview(order, with_context=with_context)

    def preview_turn(self, turn_id: str, *, with_context: bool = True) -> Preview:
        """
        Return the first request of a turn that has not started.

        Raises:
            ContributorFailed: A contributor that the turn cannot go on without gave nothing.
            UsageError: It has started, so its requests are history.
        """
        turn = self.turn(turn_id)
        if turn.started_at is not None:
            raise UsageError(f"turn {turn_id} has started; only turns not started have a preview")
        return preview_turn(
            turn,
            self._wiring.agent_of(turn),
            self.messages(turn.conversation_id),
            now=self._wiring.clock.now(),
            with_context=with_context,
        )

    def prepare(
        self,
        agent: str,
        task: str,
        *,
        input: JsonValue = None,  # noqa: A002 - the word of the YAML key
        given: Given | None = None,
    ) -> Turn:
        """Store a task that nothing runs until it is submitted."""
        return self._desk.prepare(self._desk.task(agent, task, input, given))

    def run(
        self,
        agent: str,
        task: str,
        *,
        input: JsonValue = None,  # noqa: A002 - the word of the YAML key
        given: Given | None = None,
    ) -> Turn:
        """Run a task in this thread and return the ended turn, whatever its outcome."""
        return self._desk.run(self._desk.task(agent, task, input, given))

    def submit(
        self,
        agent: str,
        task: str,
        *,
        input: JsonValue = None,  # noqa: A002 - the word of the YAML key
        given: Given | None = None,
    ) -> Turn:
        """Store a task for any worker. It is safe once this returns, with the broker down too."""
        return self._desk.submit(self._desk.task(agent, task, input, given))

    def submit_prepared(self, turn_id: str) -> Turn:
        """
        Hand a prepared turn to the workers; for a submitted one this does nothing.

        Raises:
            InvalidMove: It has ended.
        """
        return self._desk.submit_prepared(TurnId(turn_id))

    def conversation(self, agent: str, *, given: Given | None = None) -> Conversation:
        """
        Begin a conversation; it is stored with its first message.

        The context and subject that are given are the conversation's: each of its turns has them,
        whoever asked for it, with what is given to the turn on top.
        """
        self._wiring.catalog.agent(agent)
        return Conversation(self._desk, self._follower, agent=agent, given=given)

    def open_conversation(self, conversation_id: str) -> Conversation:
        """Continue a stored conversation."""
        found = self._wiring.store.views.conversation(ConversationId(conversation_id))
        stored = self._guard.opened(found)
        return Conversation(
            self._desk, self._follower, agent=stored.agent, conversation_id=stored.id
        )

    def turn(self, turn_id: str) -> Turn:
        """Return a turn as it is now."""
        return self._guard.shown(self._wiring.store.views.turn(TurnId(turn_id)))

    def turns(self, which: TurnFilter | None = None) -> Sequence[Turn]:
        """Return turns, newest first."""
        return visible_turns(self._wiring.store.views, self._guard, which or TurnFilter())

    def messages(self, conversation_id: str) -> Sequence[Message]:
        """Return a conversation's messages, then the triggers of turns that have not started."""
        self._guard.converse(Action.READ_MESSAGES, ConversationId(conversation_id))
        return self._wiring.store.views.messages(ConversationId(conversation_id))

    def executions(self, turn_id: str) -> Sequence[ToolExecution]:
        """Return a turn's tool executions in call order."""
        self._guard.act(Action.READ_MESSAGES, TurnId(turn_id))
        return self._wiring.store.views.tool_executions(TurnId(turn_id))

    def inputs(self, turn_id: str) -> Sequence[Input]:
        """Return every input that a turn was given while under way, in order."""
        self._guard.act(Action.READ_CONTROL, TurnId(turn_id))
        return self._wiring.store.views.inputs(TurnId(turn_id))

    def events(self, turn_id: str, *, after: int = 0) -> Sequence[Event]:
        """Return up to 500 of a turn's events with an id above *after*, in order."""
        self._guard.act(Action.READ_CONTROL, TurnId(turn_id))
        return self._wiring.store.views.events(TurnId(turn_id), after=after)

    def follow(self, turn_id: str, *, timeout: timedelta | None = None) -> Iterator[Event]:
        """
        Yield a turn's events from the first on, as they come, until it has ended.

        Raises:
            TimeoutError: It had not ended after *timeout*.
        """
        self._guard.act(Action.READ_CONTROL, TurnId(turn_id))
        return self._follower.events(TurnId(turn_id), timeout=timeout)

    def wait(self, turn_id: str, *, timeout: timedelta | None = None) -> Turn:
        """
        Return a turn once it has ended.

        Raises:
            TimeoutError: It had not ended after *timeout*.
        """
        self._guard.act(Action.READ_CONTROL, TurnId(turn_id))
        return self._follower.wait(TurnId(turn_id), timeout=timeout)

    def tree(self, turn_id: str) -> Sequence[Turn]:
        """Return a turn and everything below it, parents before children."""
        return self._guard.visible_tree(self._wiring.store.views.tree(TurnId(turn_id)))

    def costs(self, turn_ids: Iterable[str]) -> Mapping[TurnId, Cost]:
        """Return what turns cost with everything below them; those not to be seen are left out."""
        return self._wiring.store.views.costs(self._guard.readable(map(TurnId, turn_ids)))

    def cancel(self, turn_id: str, *, reach: Reach = Reach.CASCADE) -> Receipts:
        """Cancel a turn and, with cascade, everything below it."""
        self._guard.act(Action.CANCEL, TurnId(turn_id), reach=reach)
        return self._wiring.control.cancel(TurnId(turn_id), reach=reach)

    def pause(self, turn_id: str, *, reach: Reach = Reach.CASCADE) -> Receipts:
        """Pause a turn, at its next boundary if it runs, and with cascade everything below it."""
        self._guard.act(Action.PAUSE, TurnId(turn_id), reach=reach)
        return self._wiring.control.pause(TurnId(turn_id), reach=reach)

    def resume(self, turn_id: str, *, reach: Reach = Reach.CASCADE) -> Receipts:
        """Let paused and stale turns go on."""
        self._guard.act(Action.RESUME, TurnId(turn_id), reach=reach)
        return self._wiring.control.resume(TurnId(turn_id), reach=reach)

    def steer(self, turn_id: str, text: str, *, key: str | None = None) -> Input:
        """
        Give a turn under way new input; with a key, saying it twice is saying it once.

        Raises:
            InvalidMove: It has ended.
            KeyConflict: The key was used for another text.
            UsageError: The text is empty.
        """
        self._guard.act(Action.STEER, TurnId(turn_id))
        key = key or new_input_id()
        return self._wiring.control.steer(TurnId(turn_id), key=key, text=said(text))

    def approvals(self, which: ApprovalFilter | None = None) -> Sequence[Approval]:
        """Return the approvals that wait for an answer, those first that were asked first."""
        return visible_approvals(self._wiring.store.views, self._guard, which or ApprovalFilter())

    def approve(self, approval_id: str, *, reason: str | None = None) -> Approval:
        """
        Let a call be made, with exactly the arguments that the approval shows.

        Raises:
            ApprovalAnswered: It was answered before, or its time is over.
        """
        return self._answer(approval_id, Answer.APPROVED, reason)

    def deny(self, approval_id: str, *, reason: str | None = None) -> Approval:
        """Let a call not be made; the model reads the reason."""
        return self._answer(approval_id, Answer.DENIED, reason)

    def send(self, conversation_id: str, text: str, *, key: str | None = None) -> Delivery:
        """
        Put a message into a conversation and wake it; with a key, sending twice is sending once.

        Raises:
            KeyConflict: The key was used for another conversation or text.
            UsageError: The text is empty.
        """
        self._guard.converse(Action.SEND_MESSAGE, ConversationId(conversation_id))
        delivery = self._wiring.courier.send(
            key=key or new_delivery_id(),
            sender=None,
            destination=ConversationId(conversation_id),
            text=said(text),
        )
        self._wiring.aftermath.wake([delivery.turn_id])
        return delivery

    def inbox(self, conversation_id: str) -> Sequence[Delivery]:
        """Return what was delivered to a conversation, oldest first."""
        self._guard.converse(Action.READ_MESSAGES, ConversationId(conversation_id))
        return self._wiring.store.deliveries.inbox(ConversationId(conversation_id))

    def outbox(self, conversation_id: str) -> Sequence[Delivery]:
        """Return what was sent from a conversation, oldest first."""
        self._guard.converse(Action.READ_MESSAGES, ConversationId(conversation_id))
        return self._wiring.store.deliveries.outbox(ConversationId(conversation_id))

    def reconcile(self) -> SweepReport:
        """Repair what crashes left behind and wake workers for all that is due."""
        return self._wiring.sweeper.sweep(quiet=timedelta(0))

    def unattended(self) -> Sequence[tuple[TurnId, str]]:
        """Return turns that nobody is responsible for, each with what is wrong; none is normal."""
        return self._wiring.store.sweeps.unattended(limit=100)

    def audit(self) -> Sequence[Finding]:
        """Check all that is stored and return what breaks a rule; none is normal."""
        return self._wiring.store.audit.findings(limit=100)

    def counts(self) -> Mapping[TurnStatus, int]:
        """Count the turns that have not ended, by status."""
        return self._wiring.store.views.counts()

    def _answer(self, approval_id: str, answer: Answer, reason: str | None) -> Approval:
        return self._wiring.approving.answer(
            ApprovalId(approval_id), answer, principal=self._guard.principal, reason=reason
        )

    def _act_for(self, principal: JsonObject | None) -> None:
        self._guard = Guard(self._wiring, principal)
        self._desk = Desk(self._wiring, self._guard)

    @property
    def _follower(self) -> Follower:
        return Follower(self._wiring.store.views, self._wiring.clock)
