"""Messages into conversations, and callbacks: once each, however many try."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from runner.core.coordination import Delivery, NewDelivery, Reach
from runner.core.errors import ConflictError, KeyConflict, NotFound, UsageError
from runner.core.ids import ConversationId, TurnId, new_delivery_id
from runner.core.records import ClaimedTurn, Turn
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import add, claim, end, kinds, new_turn, step
from tests.store_helpers import pass_deadline

COMPLETED = TurnStatus.COMPLETED


def delivery(
    destination: ConversationId,
    *,
    key: str = "key",
    source: ConversationId | None = None,
    text: str = "News.",
) -> NewDelivery:
    """Describe a delivery as any worker would, with a turn of its own to answer it."""
    return NewDelivery(
        id=new_delivery_id(),
        key=key,
        source=source,
        destination=destination,
        text=text,
        continuation=new_turn(destination, text=text),
    )


@pytest.fixture
def here(store: Store) -> Turn:
    """A turn of a conversation that messages go to."""
    return add(store)


def test_a_delivery_is_a_message_and_a_turn_that_answers_it(store: Store, here: Turn) -> None:
    sender = add(store)
    new = delivery(here.conversation_id, source=sender.conversation_id)

    stored = store.deliveries.deliver(new)

    turn = store.views.turn(stored.turn_id)
    assert (turn.status, turn.lane) == (TurnStatus.PENDING, 2)
    assert stored.message_id == new.continuation.trigger.id
    assert (stored.id, stored.key, stored.text) == (new.id, "key", "News.")
    assert kinds(store, turn) == ["turn.submitted", "delivery.received"]
    messages = store.views.messages(here.conversation_id)
    assert [message.text for message in messages] == ["Hello.", "News."]
    assert store.deliveries.inbox(here.conversation_id) == [stored]
    assert store.deliveries.outbox(sender.conversation_id) == [stored]
    assert store.deliveries.outbox(here.conversation_id) == []


def test_a_message_to_a_busy_conversation_is_for_its_next_turn(store: Store, here: Turn) -> None:
    busy = claim(store, here)
    stored = store.deliveries.deliver(delivery(here.conversation_id))

    transcript = store.journal.transcript(here.conversation_id)
    committed = store.journal.commit(step(busy, texts=["Done."], status=COMPLETED))

    assert len(transcript) == 1
    assert committed.wake == (stored.turn_id,)
    claim(store, store.views.turn(stored.turn_id))
    texts = [message.text for message in store.journal.transcript(here.conversation_id)]
    assert texts == ["Hello.", "Done.", "News."]


def test_the_same_delivery_again_is_the_first_one(store: Store, here: Turn) -> None:
    first = store.deliveries.deliver(delivery(here.conversation_id))

    again = store.deliveries.deliver(delivery(here.conversation_id))

    assert again == first
    assert len(store.views.messages(here.conversation_id)) == 2
    assert add(store, here.conversation_id).lane == 3


def test_a_text_that_no_database_holds_is_the_same_delivery_again(store: Store, here: Turn) -> None:
    news = [delivery(here.conversation_id, key="k\x00", text="a\x00\ud800") for _ in range(2)]

    first, again = (store.deliveries.deliver(new) for new in news)

    assert again == first


def test_many_who_deliver_the_same_message_store_it_once(store: Store, here: Turn) -> None:
    """Twenty deliver at the same time: one takes the key, and the lanes of the rest are undone."""
    news = [delivery(here.conversation_id) for _ in range(20)]

    with ThreadPoolExecutor(20) as pool:
        stored = list(pool.map(store.deliveries.deliver, news))

    assert len({one.id for one in stored}) == 1
    assert len(store.views.messages(here.conversation_id)) == 2
    assert add(store, here.conversation_id).lane == 3


@pytest.mark.parametrize("difference", ["text", "source", "destination"])
def test_a_key_used_for_something_else_is_refused_without_a_word_about_it(
    store: Store, here: Turn, difference: str
) -> None:
    other = add(store)
    store.deliveries.deliver(delivery(here.conversation_id, text="Secret."))
    changed = {
        "text": delivery(here.conversation_id),
        "source": delivery(here.conversation_id, text="Secret.", source=other.conversation_id),
        "destination": delivery(other.conversation_id, text="Secret."),
    }[difference]

    with pytest.raises(KeyConflict) as caught:
        store.deliveries.deliver(changed)

    assert str(caught.value) == "the key 'key' was used before for something else"
    assert len(store.views.messages(here.conversation_id)) == 2
    assert len(store.views.messages(other.conversation_id)) == 1


def test_of_many_who_use_a_key_for_different_messages_one_wins(store: Store, here: Turn) -> None:
    def attempt(number: int) -> Delivery | None:
        try:
            return store.deliveries.deliver(delivery(here.conversation_id, text=str(number)))
        except KeyConflict:
            return None

    with ThreadPoolExecutor(20) as pool:
        stored = [one for one in pool.map(attempt, range(20)) if one]

    assert store.deliveries.inbox(here.conversation_id) == stored
    assert len(stored) == 1


def test_a_delivery_to_nowhere_is_not_found(store: Store) -> None:
    add(store)

    with pytest.raises(NotFound, match="there is no conversation 'conv_none'"):
        store.deliveries.deliver(delivery(ConversationId("conv_none")))


def test_a_delivery_from_nowhere_does_not_fit(store: Store, here: Turn) -> None:
    new = delivery(here.conversation_id, source=ConversationId("conv_none"))

    with pytest.raises(ConflictError, match="does not fit what is already stored"):
        store.deliveries.deliver(new)

    assert len(store.views.messages(here.conversation_id)) == 1


def test_a_delivery_is_answered_in_its_destination(store: Store, here: Turn) -> None:
    elsewhere = add(store)
    new = replace(delivery(here.conversation_id), continuation=new_turn(elsewhere.conversation_id))

    with pytest.raises(UsageError):
        store.deliveries.deliver(new)


def test_inbox_and_outbox_list_the_oldest_first(store: Store, here: Turn) -> None:
    sender = add(store).conversation_id
    sent = [
        store.deliveries.deliver(delivery(here.conversation_id, key=key, source=sender))
        for key in ("b", "c", "a")
    ]

    assert {one.key for one in store.deliveries.inbox(here.conversation_id)} == {"a", "b", "c"}
    assert sorted(sent, key=lambda one: (one.created_at, one.id)) == list(
        store.deliveries.outbox(sender)
    )


def calling_back(store: Store, to: Turn) -> ClaimedTurn:
    new = replace(new_turn(), callback_to=to.conversation_id)
    return claim(store, store.intake.add(new))


def owed(store: Store) -> list[TurnId]:
    return [turn.id for turn in store.deliveries.callbacks_due(limit=10)]


@pytest.mark.parametrize("how", ["step", "cancel", "deadline"])
def test_a_callback_is_owed_however_a_turn_ends(store: Store, here: Turn, how: str) -> None:
    new = replace(new_turn(), callback_to=here.conversation_id)
    turn = store.intake.add(new)
    assert owed(store) == []

    if how == "step":
        end(store, turn)
    elif how == "cancel":
        store.controls.cancel(turn.id, reach=Reach.RETAIN)
    else:
        pass_deadline(store.database, turn.id)
        store.sweeps.fail_overdue(limit=10)

    [ended] = store.deliveries.callbacks_due(limit=10)
    assert ended == store.views.turn(turn.id)
    assert ended.callback_to == here.conversation_id


def test_a_turn_without_a_callback_owes_none(store: Store, here: Turn) -> None:
    end(store, here)

    assert owed(store) == []


def test_a_callback_is_delivered_once(store: Store, here: Turn) -> None:
    claimed = calling_back(store, here)
    store.journal.commit(step(claimed, status=COMPLETED))
    turn = claimed.turn

    first = store.deliveries.deliver(delivery(here.conversation_id), settles=turn.id)
    again = store.deliveries.deliver(delivery(here.conversation_id), settles=turn.id)

    assert again == first
    assert owed(store) == []
    [event] = [e for e in store.views.events(turn.id) if e.kind == "delivery.sent"]
    assert event.body == {"delivery_id": first.id}


def test_a_callback_that_was_delivered_before_is_owed_no_more(store: Store, here: Turn) -> None:
    claimed = calling_back(store, here)
    first = store.deliveries.deliver(delivery(here.conversation_id))
    store.journal.commit(step(claimed, status=COMPLETED))

    assert (
        store.deliveries.deliver(delivery(here.conversation_id), settles=claimed.turn.id) == first
    )

    assert owed(store) == []


def test_a_callback_that_is_dropped_leaves_the_reason(store: Store, here: Turn) -> None:
    claimed = calling_back(store, here)
    store.journal.commit(step(claimed, status=COMPLETED))
    before = store.views.turn(claimed.turn.id)

    for _ in range(2):
        store.deliveries.drop_callback(claimed.turn.id, reason="no longer permitted")

    assert owed(store) == []
    assert store.views.turn(claimed.turn.id) == before
    [event] = [e for e in store.views.events(before.id) if e.kind == "delivery.dropped"]
    assert event.body == {"reason": "no longer permitted"}


def test_callbacks_come_in_batches_oldest_first(store: Store, here: Turn) -> None:
    turns = [calling_back(store, here) for _ in range(3)]
    for turn in turns:
        store.journal.commit(step(turn, status=COMPLETED))

    assert len(store.deliveries.callbacks_due(limit=2)) == 2
    assert set(owed(store)) == {turn.turn.id for turn in turns}
