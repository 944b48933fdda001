"""Turns, steps and messages for the tests of the store, with everything that they leave open."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from runner.core.ids import (
    ConversationId,
    TurnId,
    WorkerId,
    new_conversation_id,
    new_execution_id,
    new_message_id,
    new_turn_id,
)
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message, Role, Text
from runner.core.records import (
    ClaimedTurn,
    Committed,
    ExecutionMove,
    NewEvent,
    NewTurn,
    StepWrite,
    ToolExecution,
    Turn,
    TurnKind,
)
from runner.core.states import ExecutionStatus, TurnStatus
from runner.core.tree import Place, Reservation, TreeLimits
from runner.store.store import Store

DEFINITION: Final = "sha256:1"
LEASE: Final = timedelta(minutes=1)
TIMEOUT: Final = timedelta(minutes=10)
ADA: Final = WorkerId("worker_ada")
BOB: Final = WorkerId("worker_bob")


def message(turn: Turn | TurnId, conversation_id: ConversationId, text: str = "Hello.") -> Message:
    return Message(
        id=new_message_id(),
        conversation_id=conversation_id,
        turn_id=turn.id if isinstance(turn, Turn) else turn,
        role=Role.USER,
        parts=(Text(text=text),),
    )


def new_turn(
    conversation_id: ConversationId | None = None,
    *,
    status: TurnStatus = TurnStatus.PENDING,
    timeout: timedelta = TIMEOUT,
    text: str = "Hello.",
    context: JsonObject | None = None,
    place: Place | None = None,
    awaits: Sequence[TurnId] = (),
    callback_to: ConversationId | None = None,
) -> NewTurn:
    """Describe a turn of a conversation, by default a new one."""
    turn_id = new_turn_id()
    home = conversation_id or new_conversation_id()
    runs = status is TurnStatus.RUNNING
    return NewTurn(
        id=turn_id,
        conversation_id=home,
        starts_conversation=conversation_id is None,
        agent="writer",
        definition_hash=DEFINITION,
        kind=TurnKind.CHAT,
        status=status,
        trigger=message(turn_id, home, text),
        timeout=timeout,
        place=place or Place(root_id=turn_id),
        awaits=awaits,
        callback_to=callback_to,
        context=context or {},
        worker_id=ADA if runs else None,
        lease=LEASE if runs else None,
    )


def add(
    store: Store,
    conversation_id: ConversationId | None = None,
    *,
    status: TurnStatus = TurnStatus.PENDING,
    timeout: timedelta = TIMEOUT,
    text: str = "Hello.",
    awaits: Sequence[TurnId] = (),
    limits: TreeLimits | None = None,
) -> Turn:
    store.intake.save_definition(content_hash=DEFINITION, kind="agent", name="writer", body="{}")
    new = new_turn(conversation_id, status=status, timeout=timeout, text=text, awaits=awaits)
    place = new.place if limits is None else replace(new.place, limits=limits)
    return store.intake.add(replace(new, place=place))


def child_of(
    parent: Turn, *, timeout: timedelta = TIMEOUT, awaits: Sequence[TurnId] = ()
) -> NewTurn:
    """Describe a turn below another, in a conversation of its own."""
    place = parent.place
    below = replace(
        place,
        parent_id=parent.id,
        depth=place.depth + 1,
        launched_by=None,
        ancestors=parent.lineage,
    )
    return new_turn(timeout=timeout, place=below, awaits=awaits)


def launching(
    claimed: ClaimedTurn, children: Sequence[NewTurn], *, number: int = 1, first: int = 1
) -> StepWrite:
    """Describe the step by which a turn launches others and waits for them."""
    runs = [
        replace(execution(claimed.turn, first + place, ExecutionStatus.WAITING), awaits=(child.id,))
        for place, child in enumerate(children)
    ]
    return replace(
        step(claimed, number=number, status=TurnStatus.WAITING, planned=runs),
        children=[
            replace(child, place=replace(child.place, launched_by=run.id))
            for child, run in zip(children, runs, strict=True)
        ],
        reserve=Reservation(children=len(children), iterations=len(children)),
    )


def waiting_for(claimed: ClaimedTurn, *turns: Turn, number: int = 1) -> StepWrite:
    """Describe the step by which a turn begins to wait for others."""
    run = replace(
        execution(claimed.turn, number, ExecutionStatus.WAITING),
        awaits=tuple(turn.id for turn in turns),
    )
    return step(claimed, number=number, status=TurnStatus.WAITING, planned=[run])


def end(
    store: Store,
    turn: Turn,
    *,
    number: int = 1,
    status: TurnStatus = TurnStatus.COMPLETED,
) -> Committed:
    """Claim a turn and end it with step *number*."""
    return store.journal.commit(step(claim(store, turn), number=number, status=status))


def claim(store: Store, turn: Turn, worker_id: WorkerId = ADA) -> ClaimedTurn:
    claimed = store.journal.claim(turn.id, worker_id, lease=LEASE)
    assert claimed is not None
    return claimed


def step(
    claimed: ClaimedTurn,
    *,
    number: int = 1,
    status: TurnStatus = TurnStatus.RUNNING,
    texts: Sequence[str] = (),
    first_seq: int = 2,
    planned: Sequence[ToolExecution] = (),
    moves: Sequence[ExecutionMove] = (),
    events: Sequence[str] = (),
    delay: timedelta | None = None,
) -> StepWrite:
    """Describe step *number* of a claimed turn."""
    turn = claimed.turn
    return StepWrite(
        claim=claimed.claim,
        turn=replace(turn, step=number, claims=0, status=status),
        messages=[
            replace(message(turn, turn.conversation_id, text), seq=first_seq + place)
            for place, text in enumerate(texts)
        ],
        planned=planned,
        moves=moves,
        events=[NewEvent(kind=kind) for kind in events],
        delay=delay,
    )


def execution(
    turn: Turn, position: int, status: ExecutionStatus = ExecutionStatus.PLANNED
) -> ToolExecution:
    return ToolExecution(
        id=new_execution_id(),
        turn_id=turn.id,
        call_id=f"call_{position}",
        tool="search",
        position=position,
        arguments={"query": "tea"},
        status=status,
    )


def kinds(store: Store, turn: Turn) -> list[str]:
    """Return the kinds of a turn's events, in order."""
    return [event.kind for event in store.views.events(turn.id)]
