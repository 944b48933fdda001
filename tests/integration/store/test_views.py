from dataclasses import replace
from decimal import Decimal

import pytest

from runner.core.cost import Cost
from runner.core.errors import NotFound
from runner.core.ids import ConversationId, TurnId
from runner.core.ports import TurnFilter
from runner.core.records import ClaimedTurn, StepWrite
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import add, child_of, claim, launching, step
from tests.store_helpers import counting

NOWHERE = ConversationId("conv_none")


def test_an_unknown_turn_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no turn 'turn_none'"):
        store.views.turn(TurnId("turn_none"))


def test_an_unknown_conversation_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound, match="there is no conversation 'conv_none'"):
        store.views.conversation(NOWHERE)


def test_turns_are_listed_newest_first(store: Store) -> None:
    turns = [add(store) for _ in range(3)]

    listed = store.views.turns(TurnFilter(limit=2))

    assert [turn.id for turn in listed] == [turns[2].id, turns[1].id]


def test_turns_are_listed_by_status_agent_and_conversation(store: Store) -> None:
    pending = add(store)
    prepared = add(store, pending.conversation_id, status=TurnStatus.PREPARED)
    running = claim(store, add(store)).turn

    def ids(which: TurnFilter) -> list[TurnId]:
        return [turn.id for turn in store.views.turns(which)]

    live = [TurnStatus.PENDING, TurnStatus.RUNNING]
    assert ids(TurnFilter(statuses=live)) == [running.id, pending.id]
    assert ids(TurnFilter(statuses=[TurnStatus.PREPARED])) == [prepared.id]
    assert ids(TurnFilter(conversation_id=pending.conversation_id)) == [prepared.id, pending.id]
    assert ids(TurnFilter(agent="nobody")) == []
    assert len(ids(TurnFilter(agent="writer"))) == 3


def test_messages_end_with_the_triggers_of_turns_that_have_not_started(store: Store) -> None:
    prepared = add(store, status=TurnStatus.PREPARED, text="Prepared.")
    first = add(store, prepared.conversation_id, text="One.")
    add(store, first.conversation_id, text="Two.")
    store.journal.commit(step(claim(store, first), texts=["Answer."]))

    messages = store.views.messages(first.conversation_id)
    placed = store.views.messages(first.conversation_id, queued=False)

    texts = [message.text for message in messages]
    assert texts == ["One.", "Answer.", "Two.", "Prepared."]
    assert [message.text for message in placed] == texts[:2]
    assert placed == store.journal.transcript(first.conversation_id)


def test_an_unknown_conversation_has_no_messages(store: Store) -> None:
    assert list(store.views.messages(NOWHERE)) == []


def test_events_are_read_onwards_from_one_already_seen(store: Store) -> None:
    claimed = claim(store, add(store))
    store.journal.commit(step(claimed, events=["a", "b", "c"]))

    first = store.views.events(claimed.turn.id, limit=3)
    rest = store.views.events(claimed.turn.id, after=first[-1].id)

    kinds = [event.kind for event in [*first, *rest]]
    assert kinds == ["turn.submitted", "turn.started", "a", "b", "c"]
    ids = [event.id for event in [*first, *rest]]
    assert ids == sorted(set(ids))


def test_turns_that_have_not_ended_are_counted_by_status(store: Store) -> None:
    add(store)
    add(store)
    add(store, status=TurnStatus.PREPARED)
    store.journal.commit(step(claim(store, add(store)), status=TurnStatus.COMPLETED))

    assert store.views.counts() == {TurnStatus.PENDING: 2, TurnStatus.PREPARED: 1}


def test_inputs_are_read_in_order_wherever_they_are(store: Store) -> None:
    turn = add(store)
    given = [store.controls.steer(turn.id, key=text, text=text) for text in ("One.", "Two.")]

    assert store.views.inputs(turn.id) == given
    assert list(store.views.inputs(TurnId("turn_none"))) == []


def test_a_turn_costs_what_it_and_all_below_it_cost(store: Store) -> None:
    root = claim(store, add(store))
    launched = launching(root, [child_of(root.turn), child_of(root.turn)])
    pay(store, root, launched, usd="0.1")
    for child in launched.children:
        below = claim(store, store.views.turn(child.id))
        pay(store, below, step(below), usd="0.02", unpriced=1)
    other = claim(store, add(store))
    pay(store, other, step(other), usd="0.5")

    with counting(store.database) as counts:
        costs = store.views.costs([root.turn.id, launched.children[0].id, other.turn.id])

    assert costs == {
        root.turn.id: Cost(usd=Decimal("0.14"), unpriced_requests=2),
        launched.children[0].id: Cost(usd=Decimal("0.02"), unpriced_requests=1),
        other.turn.id: Cost(usd=Decimal("0.5")),
    }
    assert counts.statements == 1


def test_the_costs_of_however_many_turns_can_be_asked_for(store: Store) -> None:
    turn = add(store)
    strangers = [TurnId(f"turn_{number}") for number in range(70_000)]

    costs = store.views.costs([*strangers, turn.id])

    assert costs == {turn.id: Cost()}
    assert store.views.costs([]) == {}


def pay(
    store: Store, claimed: ClaimedTurn, write: StepWrite, *, usd: str, unpriced: int = 0
) -> None:
    """Commit a step whose turn has cost so much."""
    cost = Cost(usd=Decimal(usd), unpriced_requests=unpriced)
    store.journal.commit(replace(write, turn=replace(write.turn, cost=cost)))
