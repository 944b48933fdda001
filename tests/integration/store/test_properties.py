"""Anything that submitters, workers and sweeps may do, in any order, against a small model."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from runner.core.coordination import Reach
from runner.core.errors import ClaimLost, ConversationBusy, InvalidMove
from runner.core.ids import ConversationId, TurnId, WorkerId
from runner.core.records import Claim, ClaimedTurn
from runner.core.states import LIVE, TurnStatus
from runner.store.store import Store
from tests.integration.store.builders import ADA, BOB, LEASE, TIMEOUT, add, step
from tests.store_helpers import expire_lease, pass_deadline

PREPARED, PENDING, RUNNING = TurnStatus.PREPARED, TurnStatus.PENDING, TurnStatus.RUNNING
FAILED, STALE = TurnStatus.FAILED, TurnStatus.STALE

pick = st.integers(min_value=0, max_value=10**6)


@dataclass
class Expected:
    """What the store should say of one turn."""

    id: TurnId
    status: TurnStatus
    lane: int | None = None
    fence: int = 0
    step: int = 0
    worker_id: WorkerId | None = None
    is_inline: bool = False


@dataclass
class Model:
    """One conversation as it should be."""

    turns: list[Expected] = field(default_factory=list)
    claims: list[ClaimedTurn] = field(default_factory=list)
    lanes: int = 0
    places: int = 0

    def live(self) -> list[Expected]:
        live = [turn for turn in self.turns if turn.status in LIVE]
        return sorted(live, key=lambda turn: turn.lane or 0)

    def submitted(self, turn: Expected, status: TurnStatus) -> None:
        self.lanes += 1
        turn.status, turn.lane = status, self.lanes

    def started(self, turn: Expected, worker_id: WorkerId) -> None:
        self.places += turn.fence == 0
        turn.status, turn.worker_id, turn.fence = RUNNING, worker_id, turn.fence + 1


class Lane(RuleBasedStateMachine):
    store: Store

    @initialize()
    def begin(self) -> None:
        self.model = Model()
        turn = add(self.store)
        self.conversation_id: ConversationId = turn.conversation_id
        first = Expected(turn.id, PREPARED)
        self.model.turns.append(first)
        self.model.submitted(first, PENDING)

    @rule(status=st.sampled_from([PREPARED, PENDING]))
    def add(self, status: TurnStatus) -> None:
        turn = Expected(add(self.store, self.conversation_id, status=status).id, PREPARED)
        self.model.turns.append(turn)
        if status is PENDING:
            self.model.submitted(turn, PENDING)

    @rule()
    def run_here(self) -> None:
        busy = bool(self.model.live())
        try:
            added = add(self.store, self.conversation_id, status=RUNNING)
        except ConversationBusy:
            assert busy
            return
        assert not busy
        turn = Expected(added.id, PREPARED, is_inline=True)
        self.model.turns.append(turn)
        self.model.submitted(turn, RUNNING)
        self.model.started(turn, ADA)
        claim = Claim(turn_id=turn.id, worker_id=ADA, fence=1)
        self.model.claims.append(ClaimedTurn(claim=claim, turn=added, seconds_left=0))

    @rule(which=pick)
    def submit(self, which: int) -> None:
        turn = self.model.turns[which % len(self.model.turns)]
        try:
            self.store.intake.submit(turn.id, timeout=TIMEOUT)
        except InvalidMove:
            assert turn.status.is_ended
            return
        assert not turn.status.is_ended
        if turn.status is PREPARED:
            self.model.submitted(turn, PENDING)

    @rule(which=pick, worker_id=st.sampled_from([ADA, BOB]))
    def claim(self, which: int, worker_id: WorkerId) -> None:
        turn = self.model.turns[which % len(self.model.turns)]
        claimable = turn.status is PENDING and self.model.live()[0] is turn

        claimed = self.store.journal.claim(turn.id, worker_id, lease=LEASE)

        assert (claimed is not None) == claimable
        if claimed is not None:
            self.model.started(turn, worker_id)
            self.model.claims.append(claimed)

    @precondition(lambda self: self.model.claims)
    @rule(which=pick, to=st.sampled_from([RUNNING, RUNNING, PENDING, TurnStatus.COMPLETED]))
    def write(self, which: int, to: TurnStatus) -> None:
        claimed = self.model.claims[-1 - which % min(3, len(self.model.claims))]
        turn = next(t for t in self.model.turns if t.id == claimed.turn.id)
        holds = turn.status is RUNNING and turn.fence == claimed.claim.fence
        write = step(
            claimed,
            number=turn.step + 1,
            status=to,
            texts=["Hi."],
            first_seq=self.model.places + 1,
        )
        try:
            wake = self.store.journal.commit(write).wake
        except ClaimLost:
            assert not holds
            return
        assert holds
        self.model.places += 1
        turn.step, turn.status = turn.step + 1, to
        if to is not RUNNING:
            turn.worker_id = None
        heads = [t.id for t in self.model.live()[:1] if t.status is PENDING]
        assert list(wake) == (heads if to.is_ended else [])

    @rule()
    def lose_the_worker(self) -> None:
        running = [turn for turn in self.model.turns if turn.status is RUNNING]
        for turn in running:
            expire_lease(self.store.database, turn.id)

        released = self.store.sweeps.release_expired(limit=1000)

        assert set(released) == {turn.id for turn in running if not turn.is_inline}
        for turn in running:
            turn.status = STALE if turn.is_inline else PENDING
            turn.worker_id = None

    @rule(which=pick)
    def resume(self, which: int) -> None:
        turn = self.model.turns[which % len(self.model.turns)]

        receipts = self.store.controls.resume(turn.id, reach=Reach.RETAIN)

        is_stale = turn.status is STALE
        assert receipts.wake == ((turn.id,) if is_stale else ())
        if is_stale:
            turn.status, turn.is_inline = PENDING, False

    @rule(which=pick)
    def overdue(self, which: int) -> None:
        turn = self.model.turns[which % len(self.model.turns)]
        if turn.status is PREPARED:
            return
        pass_deadline(self.store.database, turn.id)

        self.store.sweeps.fail_overdue(limit=1000)

        if turn.status is PENDING and turn.fence == 0:
            turn.status = FAILED

    @precondition(lambda self: self.model.claims)
    @rule()
    def renew(self) -> None:
        claims = [claimed.claim for claimed in self.model.claims]

        kept = self.store.journal.renew(claims, lease=LEASE)

        held = {(t.id, t.fence) for t in self.model.turns if t.status is RUNNING}
        assert {(claim.turn_id, claim.fence) for claim in kept} == held

    def known(self) -> set[TurnId]:
        return {turn.id for turn in self.model.turns}

    @invariant()
    def the_store_agrees(self) -> None:
        for expected in self.model.turns:
            turn = self.store.views.turn(expected.id)
            found = Expected(
                id=turn.id,
                status=turn.status,
                lane=turn.lane,
                fence=turn.fence,
                step=turn.step,
                worker_id=turn.worker_id,
                is_inline=turn.is_inline,
            )
            assert found == expected

    @invariant()
    def lanes_and_places_are_dense(self) -> None:
        lanes = sorted(turn.lane for turn in self.model.turns if turn.lane is not None)
        transcript = self.store.journal.transcript(self.conversation_id)

        assert lanes == list(range(1, self.model.lanes + 1))
        assert [message.seq for message in transcript] == list(range(1, self.model.places + 1))

    @invariant()
    def somebody_is_responsible(self) -> None:
        assert list(self.store.sweeps.unattended(limit=10)) == []


def test_a_conversation_is_a_serial_lane_whatever_happens(store: Store) -> None:
    class Here(Lane):
        pass

    Here.store = store
    run_state_machine_as_test(
        Here, settings=settings(max_examples=20, stateful_step_count=25, deadline=None)
    )
