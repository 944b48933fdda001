"""Anything that may happen to turns, in any order, against a small model of what must be true."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)
from typing_extensions import override

from runner.core.approvals import Answer
from runner.core.authorization import Action, Effect
from runner.core.coordination import Reach
from runner.core.errors import ApprovalAnswered, InvalidMove, WaitCycle
from runner.core.finding import Finding
from runner.core.ids import ConversationId, DeliveryId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import ModelRequest, ModelResponse, ToolSpec
from runner.core.ports import ApprovalFilter, TurnFilter
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.core.tree import TreeUse
from runner.definitions.snapshot import ResolvedLimits
from runner.engine.coordination import CoordinationTool, coordination_rules
from runner.engine.permits import Policing
from runner.runtime.agent import Agent
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench
from tests.integration.engine.trees import delegate_to, wait_for
from tests.store_helpers import expire_approval, expire_lease

#: Small enough that turns come up against them.
_LIMITS: Final = ResolvedLimits(
    max_iterations=12,
    max_tool_executions=8,
    max_tool_executions_by_name={"act": 3},
    max_children=4,
    max_fan_out=2,
)
_ONE_STEP: Final = timedelta(microseconds=1)
#: More than any example can need to end all that it began.
_ROUNDS: Final = 100

#: Words that stand for several calls of one response.
_SEVERAL: Final[Mapping[str, Sequence[tuple[str, JsonObject]]]] = {
    "both": [("act", {}), ("safe", {})],
    "children": [("child", {"task": "do: act"}), ("child", {"task": "do: safe"})],
    "mixed": [
        ("child", {"task": "do: act"}),
        ("act", {}),
        ("child", {"task": "do: safe"}),
        ("child", {"task": "do: act"}),
        ("safe", {}),
    ],
}
#: What policies are asked about.
_TOOLS: Final = ("act", "safe", "child", "launch_agent", "wait_for", "send_message")

pick = st.integers(min_value=0, max_value=10**6)
reach = st.sampled_from(Reach)
#: What a turn does, one word for each response of its model.
plan = st.lists(
    st.sampled_from(
        ["act", "safe", "both", "children", "mixed", "launch", "join", "send", "unknown"]
    ),
    max_size=4,
)


@dataclass
class World:
    """What is known of everything that was begun, beside the store."""

    #: What an earlier example left, so that each fails by itself.
    findings: Sequence[Finding]
    turns: list[TurnId] = field(default_factory=list)
    conversations: list[ConversationId] = field(default_factory=list)
    prepared: list[TurnId] = field(default_factory=list)
    ended: dict[TurnId, Turn] = field(default_factory=dict)
    delivered: dict[str, DeliveryId] = field(default_factory=dict)
    #: What was said to turns under way, each a text of its own.
    steered: dict[str, TurnId] = field(default_factory=dict)
    #: The keys under which the effect happened that must not happen twice.
    effects: list[str] = field(default_factory=list)


class Model:
    """A model that does what the last thing said to it says, word by word."""

    def __init__(self, world: World) -> None:
        self._world = world

    def __call__(self, request: ModelRequest) -> ModelResponse:
        said = [message for message in request.messages if message.role is Role.ASSISTANT]
        asked = max(i for i, m in enumerate(request.messages) if m.role is Role.USER)
        told = re.search(r"^do: ([a-z ]*)$", request.messages[asked].text, re.MULTILINE)
        words = told.group(1).split() if told else []
        place = sum(m.role is Role.ASSISTANT for m in request.messages[asked:])
        if place >= len(words):
            return says("Done.")
        return calls(*self._calls(words[place]), prefix=f"call_{len(said)}")

    def _calls(self, word: str) -> list[tuple[str, JsonObject]]:
        match word:
            case "both" | "children" | "mixed":
                return [*_SEVERAL[word]]
            case "launch":
                return [("launch_agent", {"agent": "child", "task": "do: act", "callback": True})]
            case "join":
                return [("wait_for", {"turn_ids": [*self._world.turns[-3:]]})]
            case "send":
                conversation = self._world.conversations[0]
                return [("send_message", {"conversation_id": conversation, "text": "do: safe"})]
            case _:
                return [(word, {})]


class Lives(RuleBasedStateMachine):
    """Submitters, workers that die, people, and sweeps, on one store."""

    store: Store

    @initialize()
    def begin(self) -> None:
        self.world = World(findings=list(self.store.audit.findings(limit=10)))
        self.authority = FakeAuthority()
        self.agents = self._make_agents()
        self.bench = self._new_bench()

    @rule(words=plan, which=pick, is_new=st.booleans())
    def submit(self, words: list[str], which: int, *, is_new: bool) -> None:
        order = self.bench.order(_told(words))
        if self.world.conversations and not is_new:
            order = replace(order, conversation_id=self._conversation(which))
        self._remember(self.bench.reception.submit(order))

    @rule(words=plan, which=pick)
    def submit_behind_others(self, words: list[str], which: int) -> None:
        awaits = tuple(self.world.turns[which % (len(self.world.turns) or 1) :][:2])
        order = replace(self.bench.order(_told(words)), awaits=awaits)
        self._remember(self.bench.reception.submit(order))

    @rule(words=plan)
    def prepare(self, words: list[str]) -> None:
        turn = self.bench.reception.prepare(self.bench.order(_told(words)))
        self._remember(turn)
        self.world.prepared.append(turn.id)

    @rule()
    def submit_prepared(self) -> None:
        for turn_id in self.world.prepared:
            try:
                self.bench.reception.submit_prepared(turn_id, self.agents[0])
            except InvalidMove:
                assert self.bench.read(turn_id).status.is_ended
            except WaitCycle:
                # Somebody before it in its lane waits for it.
                self.bench.control.cancel(turn_id, reach=Reach.RETAIN)
        self.world.prepared.clear()

    @rule(which=pick)
    def work(self, which: int) -> None:
        """Take one step of one turn, or several up to something that can be read."""
        due = self.store.sweeps.due(limit=100, quiet=timedelta(0))
        if due:
            self.bench.worker.work_on(due[which % len(due)])

    @rule(which=pick, number=st.integers(min_value=1, max_value=2), before=st.booleans())
    def die(self, which: int, number: int, *, before: bool) -> None:
        """Let a worker die at a commit, and leave its claim behind."""
        due = self.store.sweeps.due(limit=100, quiet=timedelta(0))
        journal = MortalJournal(self.store.journal, number=number, before=before)
        with closing(self._new_bench(journal)) as bench:
            for turn_id in due[which % len(due) :][:1] if due else ():
                bench.die_on(self.bench.read(turn_id))

    @rule(before=st.booleans())
    def die_around_an_effect(self, *, before: bool) -> None:
        """Let a worker die before, or right after, the result of a tool is stored."""
        turn = self.bench.reception.submit(self.bench.order(_told(["act"])))
        self._remember(turn)
        journal = MortalJournal(self.store.journal, number=2, before=before)
        policing = Policing(authority=self.authority)
        with closing(Bench(self.store, *self.agents, journal=journal, policing=policing)) as bench:
            bench.die_on(turn)

    @rule()
    def expire(self) -> None:
        for turn in self.store.views.turns(TurnFilter(statuses=(TurnStatus.RUNNING,))):
            expire_lease(self.store.database, turn.id)

    @rule()
    def sweep(self) -> None:
        report = self.bench.sweeper.sweep(quiet=timedelta(0))

        assert list(report.errors) == []

    @rule(which=pick, key=st.sampled_from(["a", "b", "c"]))
    def deliver(self, which: int, key: str) -> None:
        if not self.world.conversations:
            return
        key = f"{self.world.conversations[0]}:{key}:{which % len(self.world.conversations)}"
        sent = self.bench.courier.send(
            key=key, sender=None, destination=self._conversation(which), text="do: act"
        )

        assert self.world.delivered.setdefault(key, sent.id) == sent.id

    @rule(which=pick, reach=reach)
    def cancel(self, which: int, reach: Reach) -> None:
        self._control(lambda turn_id: self.bench.control.cancel(turn_id, reach=reach), which)

    @rule(which=pick, reach=reach)
    def pause(self, which: int, reach: Reach) -> None:
        self._control(lambda turn_id: self.bench.control.pause(turn_id, reach=reach), which)

    @rule(which=pick, reach=reach)
    def resume(self, which: int, reach: Reach) -> None:
        self._control(lambda turn_id: self.bench.control.resume(turn_id, reach=reach), which)

    @rule(which=pick, words=plan)
    def steer(self, which: int, words: list[str]) -> None:
        if not self.world.turns:
            return
        turn = self.bench.read(self._turn(which))
        key = f"key {len(self.world.steered)}"
        try:
            self.bench.control.steer(turn.id, key=key, text=f"{_told(words)}\n{turn.id} {key}")
        except InvalidMove:
            assert turn.status.is_ended
            return
        assert not turn.status.is_ended
        self.world.steered[f"{turn.id} {key}"] = turn.id

    @rule(effect=st.sampled_from(Effect), tool=st.sampled_from(_TOOLS))
    def decree(self, effect: Effect, tool: str) -> None:
        """Let policies say something else from now on."""
        self.authority.say(effect, tool=tool)

    @rule(which=pick, answer=st.sampled_from([Answer.APPROVED, Answer.DENIED]))
    def answer(self, which: int, answer: Answer) -> None:
        self.store.sweeps.expire_approvals(limit=100)
        found = self.store.views.approvals(ApprovalFilter())
        if found:
            chosen = found[which % len(found)].id
            self.bench.approving.answer(chosen, answer, principal=None, reason="So.")
            with pytest.raises(ApprovalAnswered):
                self.bench.approving.answer(chosen, answer, principal=None)

    @rule(which=pick)
    def let_approvals_expire(self, which: int) -> None:
        for approval in self.store.views.approvals(ApprovalFilter())[: which % 3]:
            expire_approval(self.store.database, approval.id)

    @invariant()
    def what_has_ended_stays_as_it_ended(self) -> None:
        for turn in self.store.views.turns(TurnFilter(limit=10**6)):
            if turn.status.is_ended:
                # What it launched and left behind still counts at the root.
                ended = replace(turn, use=TreeUse())
                assert self.world.ended.setdefault(turn.id, ended) == ended

    @invariant()
    def somebody_is_responsible(self) -> None:
        assert list(self.store.sweeps.unattended(limit=10)) == []

    @override
    def teardown(self) -> None:
        """Let everything come to its end, and look at what has become of it."""
        if not hasattr(self, "bench"):
            return
        self.submit_prepared()
        for _ in range(_ROUNDS):
            if not self.store.views.turns(TurnFilter(statuses=_LIVE)):
                break
            self._push_on()
        self.bench.heartbeat.close()
        self.what_has_ended_stays_as_it_ended()
        self._check_end()

    def _push_on(self) -> None:
        for turn in self.store.views.turns(TurnFilter(statuses=(TurnStatus.PAUSED,))):
            self.bench.control.resume(turn.id, reach=Reach.RETAIN)
        self.expire()
        self.sweep()
        for approval in self.store.views.approvals(ApprovalFilter()):
            self.bench.approving.answer(approval.id, Answer.APPROVED, principal=None)
        self.bench.work_off()

    def _check_end(self) -> None:
        assert [i for i in self.world.turns if not self.bench.read(i).status.is_ended] == []
        found = self.store.audit.findings(limit=10)
        assert [each for each in found if each not in self.world.findings] == []
        assert [key for key, times in Counter(self.world.effects).items() if times > 1] == []
        assert self.store.deliveries.callbacks_due(limit=1) == []
        texts = self._user_texts()
        for text, turn_id in self.world.steered.items():
            was_submitted = self.bench.read(turn_id).lane is not None
            assert _times(text, texts) == was_submitted

    def _user_texts(self) -> list[str]:
        return [
            message.text
            for turn in {self.bench.read(turn_id).conversation_id for turn_id in self.world.turns}
            for message in self.store.views.messages(turn)
            if message.role is Role.USER
        ]

    def _make_agents(self) -> tuple[Agent, ...]:
        model = FakeClient(Model(self.world))
        act = FakeTool("act", self._act)
        safe = FakeTool("safe", rules=ToolRules(recovery=Recovery.REPLAY_SAFE))
        launch = _coordination("launch_agent", self._launch)
        send = _coordination("send_message", self._send)
        tools = (act, safe, launch, send, wait_for(), delegate_to("child"))
        return (
            make_agent(model, *tools, limits=_LIMITS, name="parent"),
            make_agent(model, act, safe, limits=_LIMITS, name="child"),
        )

    def _act(self, _arguments: JsonObject, context: ToolContext) -> str:
        self.world.effects.append(context.idempotency_key)
        return "ok"

    def _launch(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        return self.bench.coordination.launch(arguments, context)

    def _send(self, arguments: JsonObject, context: ToolContext) -> JsonObject:
        return self.bench.coordination.send(arguments, context)

    def _new_bench(self, journal: MortalJournal | None = None) -> Bench:
        policing = Policing(authority=self.authority)
        return Bench(
            self.store,
            *self.agents,
            journal=journal,
            slice_length=_ONE_STEP,
            policing=policing,
        )

    def _remember(self, turn: Turn) -> None:
        self.world.turns.append(turn.id)
        if turn.conversation_id not in self.world.conversations:
            self.world.conversations.append(turn.conversation_id)

    def _turn(self, which: int) -> TurnId:
        return self.world.turns[which % len(self.world.turns)]

    def _conversation(self, which: int) -> ConversationId:
        return self.world.conversations[which % len(self.world.conversations)]

    def _control(self, act: Callable[[TurnId], object], which: int) -> None:
        """Take hold of a turn that was submitted, or of any that came of those."""
        turns = self.store.views.turns(TurnFilter(limit=50))
        if self.world.turns and turns:
            act(turns[which % len(turns)].id if which % 2 else self._turn(which))


_LIVE: Final = (
    TurnStatus.PENDING,
    TurnStatus.RUNNING,
    TurnStatus.WAITING,
    TurnStatus.PAUSED,
    TurnStatus.STALE,
)


def _told(words: list[str]) -> str:
    return f"do: {' '.join(words)}"


def _times(text: str, texts: list[str]) -> int:
    return sum(each.count(f"{text}\n") + each.endswith(text) for each in texts)


def _coordination(
    name: str, act: Callable[[JsonObject, ToolContext], JsonObject]
) -> CoordinationTool:
    spec = ToolSpec(name=name, description=name, parameters={"type": "object"})
    rules = coordination_rules(Action.LAUNCH_AGENT)
    return CoordinationTool(spec=spec, act=act, rules=rules)


@contextmanager
def closing(bench: Bench) -> Iterator[Bench]:
    try:
        yield bench
    finally:
        bench.heartbeat.close()


@pytest.mark.parametrize(
    ("examples", "steps"),
    [
        pytest.param(5, 25, id="a-few"),
        pytest.param(250, 50, id="many", marks=pytest.mark.crash),
    ],
)
def test_every_turn_comes_to_one_end_whatever_happens(
    store: Store, examples: int, steps: int
) -> None:
    class Here(Lives):
        pass

    Here.store = store
    run_state_machine_as_test(
        Here,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
