"""Turns that wait, end, and are taken hold of, in any order, against a small model."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from runner.core.coordination import Reach
from runner.core.errors import InvalidMove, WaitCycle
from runner.core.ids import ConversationId, TurnId
from runner.core.ports import TurnFilter
from runner.core.records import ClaimedTurn
from runner.core.states import LIVE, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import (
    ADA,
    LEASE,
    TIMEOUT,
    add,
    child_of,
    step,
    waiting_for,
)
from tests.store_helpers import expire_lease

PREPARED, PENDING, RUNNING = TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING
WAITING, PAUSED, CANCELLED = TurnStatus.WAITING, TurnStatus.PAUSED, TurnStatus.CANCELLED

pick = st.integers(min_value=0, max_value=10**6)


@dataclass
class Expected:
    """What the store should say of one turn."""

    id: TurnId
    conversation_id: ConversationId
    parent: "Expected | None" = None
    status: TurnStatus = PENDING
    lane: int | None = None
    step: int = 0
    awaits: "list[Expected]" = field(default_factory=list)
    pause_requested: bool = False
    cancel_requested: bool = False
    claimed: ClaimedTurn | None = None

    @property
    def open_awaits(self) -> "list[Expected]":
        return [turn for turn in self.awaits if not turn.status.is_ended]

    def settled(self) -> TurnStatus:
        """Return the status of a submitted turn that nobody holds."""
        return WAITING if self.open_awaits else PENDING

    def let_go(self) -> None:
        """Take the status that the turn has without a worker, once."""
        self.status = PAUSED if self.pause_requested else self.settled()
        self.pause_requested = False


class Family(RuleBasedStateMachine):
    store: Store

    @initialize()
    def begin(self) -> None:
        self.turns = list[Expected]()
        for _ in range(2):
            self.add_alone()

    def chosen(self, which: int, *statuses: TurnStatus) -> Expected | None:
        among = [t for t in self.turns if not statuses or t.status in statuses]
        return among[which % len(among)] if among else None

    def ahead(self, turn: Expected) -> Iterator[Expected]:
        """Yield what has to end before a turn can."""
        yield from turn.open_awaits
        if turn.lane is not None:
            yield from (
                other
                for other in self.turns
                if other.conversation_id == turn.conversation_id
                and other.status in LIVE
                and (other.lane or 0) < turn.lane
            )

    def depends(self, turn: Expected, on: Expected) -> bool:
        seen, todo = set[TurnId](), list(self.ahead(turn))
        while todo:
            here = todo.pop()
            if here is on:
                return True
            if here.id not in seen:
                seen.add(here.id)
                todo += self.ahead(here)
        return False

    def below(self, turn: Expected) -> Iterator[Expected]:
        for other in self.turns:
            if other.parent is turn:
                yield other
                yield from self.below(other)

    def reached(self, turn: Expected, reach: Reach) -> Iterable[Expected]:
        turns = [turn, *(self.below(turn) if reach is Reach.CASCADE else [])]
        return [t for t in turns if not t.status.is_ended]

    def ended(self, turn: Expected, status: TurnStatus) -> None:
        turn.status, turn.claimed = status, None
        for other in self.turns:
            if other.status is WAITING:
                other.status = other.settled()

    def add_alone(self) -> None:
        turn = add(self.store)
        self.turns.append(Expected(turn.id, turn.conversation_id, lane=1))

    @rule(
        which=pick, status=st.sampled_from([PREPARED, PENDING]), awaited=st.lists(pick, max_size=2)
    )
    def add_behind(self, which: int, status: TurnStatus, awaited: list[int]) -> None:
        home = self.turns[which % len(self.turns)]
        awaits = [self.turns[n % len(self.turns)] for n in awaited]
        stored = add(self.store, home.conversation_id, status=status, awaits=[t.id for t in awaits])
        turn = Expected(stored.id, stored.conversation_id, lane=stored.lane, awaits=awaits)
        turn.status = PREPARED if status is PREPARED else turn.settled()
        self.turns.append(turn)

    @rule(which=pick)
    def launch(self, which: int) -> None:
        parent = self.turns[which % len(self.turns)]
        is_over = parent.status.is_ended or parent.cancel_requested
        new = child_of(self.store.views.turn(parent.id))
        try:
            self.store.intake.add(new)
        except InvalidMove:
            assert is_over
            return
        assert not is_over
        self.turns.append(Expected(new.id, new.conversation_id, parent=parent, lane=1))

    @rule(which=pick)
    def submit(self, which: int) -> None:
        turn = self.chosen(which, PREPARED)
        if turn is None:
            return
        turn.lane = 1 + max(
            t.lane or 0 for t in self.turns if t.conversation_id == turn.conversation_id
        )
        closes = self.depends(turn, turn)
        try:
            self.store.intake.submit(turn.id, timeout=TIMEOUT)
        except WaitCycle:
            assert closes
            turn.lane = None
            return
        assert not closes
        turn.let_go()

    @rule(which=pick)
    def claim(self, which: int) -> None:
        turn = self.turns[which % len(self.turns)]
        is_first = not any(
            other.conversation_id == turn.conversation_id
            and other.status in LIVE
            and (other.lane or 0) < (turn.lane or 0)
            for other in self.turns
        )

        claimed = self.store.journal.claim(turn.id, ADA, lease=LEASE)

        assert (claimed is not None) == (turn.status is PENDING and is_first)
        if claimed is not None:
            turn.status, turn.claimed = RUNNING, claimed

    @rule(which=pick, awaited=st.lists(pick, min_size=1, max_size=3))
    def wait(self, which: int, awaited: list[int]) -> None:
        turn = self.chosen(which, RUNNING)
        if turn is None or turn.claimed is None or turn.cancel_requested:
            return
        others = [self.turns[n % len(self.turns)] for n in awaited]
        closes = any(
            other is turn or self.depends(other, turn)
            for other in others
            if not other.status.is_ended
        )
        write = waiting_for(
            turn.claimed, *(self.store.views.turn(o.id) for o in others), number=turn.step + 1
        )
        try:
            committed = self.store.journal.commit(write)
        except WaitCycle:
            assert closes
            return
        assert not closes
        turn.awaits += others
        turn.step, turn.claimed = turn.step + 1, None
        turn.let_go()
        assert committed.is_ready == (turn.status is PENDING)

    @rule(which=pick)
    def end(self, which: int) -> None:
        turn = self.chosen(which, RUNNING)
        if turn is None or turn.claimed is None:
            return
        status = CANCELLED if turn.cancel_requested else TurnStatus.COMPLETED
        waiting = {t.id for t in self.turns if t.status is WAITING}

        committed = self.store.journal.commit(
            step(turn.claimed, number=turn.step + 1, status=status)
        )

        turn.step += 1
        self.ended(turn, status)
        woken = {t.id for t in self.turns if t.status is PENDING and t.id in waiting}
        assert woken <= set(committed.wake)

    @rule(which=pick, reach=st.sampled_from(Reach))
    def cancel(self, which: int, reach: Reach) -> None:
        top = self.turns[which % len(self.turns)]

        self.store.controls.cancel(top.id, reach=reach)

        for turn in self.reached(top, reach):
            is_closing = turn.cancel_requested and turn.status in {PENDING, RUNNING}
            if self.store.views.turn(turn.id).started_at is None:
                turn.cancel_requested = True
                self.ended(turn, CANCELLED)
            elif not is_closing:
                turn.status, turn.claimed = PENDING, None
                turn.cancel_requested, turn.pause_requested = True, False

    @rule(which=pick, reach=st.sampled_from(Reach))
    def pause(self, which: int, reach: Reach) -> None:
        top = self.turns[which % len(self.turns)]

        self.store.controls.pause(top.id, reach=reach)

        for turn in self.reached(top, reach):
            if turn.cancel_requested:
                continue
            if turn.status in {PENDING, WAITING}:
                turn.status = PAUSED
            elif turn.status in {RUNNING, PREPARED}:
                turn.pause_requested = True

    @rule(which=pick, reach=st.sampled_from(Reach))
    def resume(self, which: int, reach: Reach) -> None:
        top = self.turns[which % len(self.turns)]

        self.store.controls.resume(top.id, reach=reach)

        for turn in self.reached(top, reach):
            turn.pause_requested = False
            if turn.status is PAUSED:
                turn.status = turn.settled()

    @rule()
    def lose_the_worker(self) -> None:
        running = [turn for turn in self.turns if turn.status is RUNNING]
        for turn in running:
            expire_lease(self.store.database, turn.id)

        released = self.store.sweeps.release_expired(limit=1000)

        assert set(released) == {turn.id for turn in running if not turn.pause_requested}
        for turn in running:
            turn.status, turn.claimed = PENDING, None
            if turn.pause_requested:
                turn.let_go()

    @rule()
    def sweep(self) -> None:
        assert list(self.store.sweeps.release_joined(limit=100)) == []
        assert list(self.store.sweeps.release_overdue(limit=100)) == []
        assert list(self.store.sweeps.fail_overdue(limit=100)) == []

    @invariant()
    def the_store_agrees(self) -> None:
        for expected in self.turns:
            turn = self.store.views.turn(expected.id)
            found = (turn.status, turn.lane, turn.pause_requested, turn.cancel_requested)
            assert found == (
                expected.status,
                expected.lane,
                expected.pause_requested,
                expected.cancel_requested,
            )
            if not turn.status.is_ended:
                assert turn.open_waits == len({t.id for t in expected.open_awaits})
                waiters = [t for t in self.turns if not t.status.is_ended]
                assert turn.waiters == sum(expected in t.awaits for t in waiters)

    @invariant()
    def somebody_is_responsible_and_something_can_go_on(self) -> None:
        assert list(self.store.sweeps.unattended(limit=10)) == []
        waits = any(turn.status is WAITING for turn in self.turns)
        moves = any(turn.status in {PREPARED, PENDING, RUNNING, PAUSED} for turn in self.turns)
        assert moves or not waits

    @override
    def teardown(self) -> None:
        """End all, so that one family leaves nothing to the next."""
        if not hasattr(self, "turns"):
            return
        for turn in self.turns:
            self.store.controls.cancel(turn.id, reach=Reach.RETAIN)
        for running in self.store.views.turns(TurnFilter(statuses=[RUNNING], limit=1000)):
            expire_lease(self.store.database, running.id)
        self.store.sweeps.release_expired(limit=1000)
        while due := self.store.sweeps.due(limit=1000, quiet=timedelta(0)):
            for turn_id in due:
                claimed = self.store.journal.claim(turn_id, ADA, lease=LEASE)
                if claimed is not None:
                    number = claimed.turn.step + 1
                    self.store.journal.commit(step(claimed, number=number, status=CANCELLED))
        assert self.store.views.counts() == {}


def test_turns_that_wait_for_one_another_all_get_on_whatever_happens(store: Store) -> None:
    class Here(Family):
        pass

    Here.store = store
    run_state_machine_as_test(
        Here, settings=settings(max_examples=20, stateful_step_count=30, deadline=None)
    )
