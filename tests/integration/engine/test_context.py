"""Live context in the history: appended as it changes, of its own turn alone, and in time."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from threading import Event, Thread

import pytest

from runner.context.cache import Cache
from runner.context.team import Member, Team
from runner.core.clock import SystemClock
from runner.core.contributing import ContributorContext, Contributors, Skipped, Subject
from runner.core.coordination import Reach
from runner.core.errors import ContributorFailed
from runner.core.messages import Role
from runner.core.records import Shared, Turn, TurnKind
from runner.core.states import TurnStatus
from runner.engine.intake import Order
from runner.engine.preview import preview_order, preview_turn
from runner.runtime.agent import Agent
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.contributors import FakeContributors, FakeSource
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.clients.claude import claude
from tests.integration.engine.bench import Bench, assert_valid
from tests.integration.engine.trees import make_parent
from tests.servers.messages_api import messages_api
from tests.servers.replies import Answer, Json, Reply, text, thinking, tool_use

TICKET = Subject(type="ticket", id="4711", text="It <b>burns</b>.")


def contributed(agent: Agent, *answers: str | Exception, skipped: Sequence[Skipped] = ()) -> Agent:
    fake = FakeContributors(list(answers), skipped=tuple(skipped))
    return replace(agent, contributors=fake)


def asked(agent: Agent) -> list[ContributorContext]:
    assert isinstance(agent.contributors, FakeContributors)
    return agent.contributors.asked


def contexts(bench: Bench, turn: Turn) -> list[str]:
    return [each.text for each in bench.messages(turn) if each.role is Role.CONTEXT]


def bare(body: Json) -> bytes:
    """Write a request without the marks of the cache, which move on with the conversation."""
    return re.sub(rb', "cache_control": \{"type": "ephemeral"\}', b"", json.dumps(body).encode())


def test_each_request_of_ten_turns_begins_with_the_bytes_of_the_one_before(store: Store) -> None:
    def answers(body: Json) -> Answer:
        calls_now = len(body["messages"]) % 4 == 1
        said = tool_use("act", {"n": 1}) if calls_now else text("Done.")
        return Reply(
            content=[thinking(""), said], stop_reason="tool_use" if calls_now else "end_turn"
        )

    with messages_api(answers) as server:
        agent = make_agent(claude(server), FakeTool("act", requires=("n",)))
        changes = [f"Level {number // 3} <is> it." for number in range(40)]
        definition = agent.definition.model_copy(
            update={
                "model": agent.definition.model.model_copy(
                    update={"model": "claude-sonnet-5-5", "max_tokens": 8000}
                )
            }
        )
        agent = contributed(Agent.of(definition, client=agent.client, tools=agent.tools), *changes)
        bench = Bench(store, agent)
        turn: Turn | None = None
        for number in range(10):
            thread = turn.conversation_id if turn else None
            order = bench.order(f"Question {number}?", conversation_id=thread)
            turn = bench.work_on(bench.reception.submit(replace(order, kind=TurnKind.CHAT)))
            assert turn.status is TurnStatus.COMPLETED

    assert turn is not None
    bodies = [bare(request.body) for request in server.requests]
    assert len(bodies) > 12
    for before, after in pairwise(bodies):
        assert after.startswith(before.removesuffix(b"]}"))
    assert [request.fault for request in server.refused] == []
    told = contexts(bench, turn)
    assert len(told) == len(set(told)) > 3
    assert_valid(bench.messages(turn))


def test_context_is_told_again_only_when_it_changed(store: Store) -> None:
    client = FakeClient(calls(("act", {})), says("One."), says("Two."), says("Three."))
    agent = contributed(make_agent(client, FakeTool("act")), "a", "a", "b", "a")
    bench = Bench(store, agent)

    first = bench.run()
    second = bench.run(after=first)
    third = bench.run(after=second)

    assert [each.rpartition("\n")[2] for each in contexts(bench, third)] == ["a", "b", "a"]
    assert len(asked(agent)) == 4
    newest = [m for m in client.requests[-1].messages if m.role is Role.CONTEXT][-1]
    assert newest.text.endswith("\na")


def test_the_subject_is_a_block_of_its_own_and_data(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Ok."))))
    order = replace(bench.order(), subject=TICKET)

    turn = bench.work_on(bench.reception.submit(order))

    [told] = contexts(bench, turn)
    assert (
        '<subject type="ticket" id="4711" trusted="no">\nIt &lt;b>burns&lt;/b>.\n</subject>' in told
    )
    assert bench.read(turn.id).subject == TICKET


def test_a_contributor_that_fails_ends_its_turn_and_leaves_the_conversation_usable(
    store: Store,
) -> None:
    failure = ContributorFailed("account", "it took longer than 3 s")
    agent = contributed(make_agent(FakeClient(says("Better."))), failure, "fine")
    bench = Bench(store, agent)

    failed = bench.run()

    assert failed.status is TurnStatus.FAILED
    assert failed.error is not None
    assert failed.error.code == "context_failed"
    assert failed.error.message == "the contributor 'account' failed: it took longer than 3 s"
    assert failed.error.details == {"contributor": "account"}
    assert bench.run(after=failed).result == "Better."


def test_a_contributor_that_was_skipped_is_an_event(store: Store) -> None:
    skipped = Skipped(name="weather", reason="the server answered with status 500")
    bench = Bench(store, contributed(make_agent(FakeClient(says("Ok."))), "a", skipped=[skipped]))

    turn = bench.run()

    assert turn.result == "Ok."
    [event] = [e for e in store.views.events(turn.id) if e.kind == "context.skipped"]
    assert event.body == {
        "contributor": "weather",
        "reason": "the server answered with status 500",
    }


class Stuck:
    """A contributor's source that says when it is asked, and then heeds nobody."""

    def __init__(self) -> None:
        self.begun = Event()
        self.source = FakeSource(self._tell)

    def _tell(self, context: ContributorContext) -> str:
        assert not context.cancelled.is_set()
        self.begun.set()
        Event().wait(5)
        return "late"

    @property
    def contributors(self) -> Contributors:
        clock = SystemClock()
        member = Member(
            name="stuck",
            about="",
            source=self.source,
            trusted=False,
            max_chars=100,
            timeout=60,
            on_error="skip",
        )
        return Team([member], definition_hash="h", cache=Cache(clock), clock=clock)


def start(bench: Bench, turn: Turn, stuck: Stuck) -> Thread:
    thread = Thread(target=bench.worker.work_on, args=(turn.id,))
    thread.start()
    assert stuck.begun.wait(60)
    return thread


def test_a_turn_that_is_cancelled_while_context_is_gathered_ends_at_once(store: Store) -> None:
    stuck = Stuck()
    agent = replace(make_agent(FakeClient(says("Never."))), contributors=stuck.contributors)
    worker, person = Bench(store, agent), Bench(store, agent)
    turn = worker.submit()
    thread = start(worker, turn, stuck)

    person.control.cancel(turn.id, reach=Reach.RETAIN)
    worker.heartbeat.beat()
    thread.join(60)

    assert not thread.is_alive()
    assert person.read(turn.id).status is TurnStatus.CANCELLED
    assert contexts(person, turn) == []


def test_a_worker_that_stops_while_context_is_gathered_hands_its_turn_back(store: Store) -> None:
    stuck = Stuck()
    client = FakeClient(says("Ok."))
    agent = replace(make_agent(client), contributors=stuck.contributors)
    worker = Bench(store, agent)
    turn = worker.submit()
    thread = start(worker, turn, stuck)

    worker.heartbeat.ask_back(at_once=True)
    thread.join(60)

    assert not thread.is_alive()
    assert (worker.read(turn.id).status, client.requests) == (TurnStatus.PENDING, [])
    assert Bench(store, contributed(agent, "a")).work_on(turn).result == "Ok."


def test_a_turn_whose_time_is_over_while_context_is_gathered_fails_by_its_limit(
    store: Store,
) -> None:
    stuck = Stuck()
    agent = make_agent(FakeClient(says("Never.")))
    limits = agent.definition.limits.model_copy(update={"timeout": timedelta(seconds=1)})
    definition = agent.definition.model_copy(update={"limits": limits})
    agent = replace(agent, definition=definition, contributors=stuck.contributors)
    bench = Bench(store, agent)

    turn = bench.run()

    assert turn.error is not None
    assert (turn.error.code, turn.error.details) == ("limit", {"path": "limits.timeout"})


@pytest.mark.parametrize("before", [True, False])
def test_a_crash_between_context_and_answer_tells_it_once(
    store: Store,
    expire_lease: Callable[[str], None],
    before: bool,  # noqa: FBT001 - a table
) -> None:
    agent = contributed(make_agent(FakeClient(says("Ok."))), "a")
    turn = Bench(store, agent).submit()
    Bench(store, agent, journal=MortalJournal(store.journal, number=1, before=before)).die_on(turn)
    if store.views.turn(turn.id).status is TurnStatus.RUNNING:
        expire_lease(turn.id)
        store.sweeps.release_expired(limit=10)
    bench = Bench(store, agent)

    bench.work_on(turn)

    assert bench.read(turn.id).result == "Ok."
    assert len(contexts(bench, turn)) == 1


def test_children_know_nothing_of_their_parents_context(store: Store) -> None:
    child = contributed(make_agent(FakeClient(says("Did it.")), name="child"), "mine")
    parent = contributed(
        make_parent(FakeClient(calls(("child", {"task": "One."})), says("Done."))), "parent's"
    )
    bench = Bench(store, parent, child)
    order = replace(bench.order(), context={"account": 1}, subject=TICKET, principal={"id": "ada"})

    turn = bench.reception.submit(order)
    bench.work_off()

    [seen] = asked(child)
    assert (seen.context, seen.subject, seen.principal) == ({}, None, {"id": "ada"})
    assert (seen.agent, seen.turn_id != turn.id) == ("child", True)
    told = contexts(bench, store.views.turn(seen.turn_id))
    assert all("parent's" not in each and "ticket" not in each for each in told)


def conversation(bench: Bench, **given: object) -> Turn:
    order = Order(
        agent=bench.agent,
        kind=TurnKind.CHAT,
        text="Hello.",
        shared=Shared(context={"a": 1, "b": 1}, subject=TICKET),
    )
    return bench.work_on(bench.reception.submit(replace(order, **given)))  # type: ignore[arg-type]  # fields of an order


def test_a_turn_has_its_conversations_context_with_its_own_on_top(store: Store) -> None:
    agent = contributed(make_agent(FakeClient(says("Hi."))), "")
    bench = Bench(store, agent)
    other = Subject(type="order", id="9")

    first = conversation(bench)
    second = conversation(bench, context={"b": 2, "c": 3}, subject=other)

    assert [(each.context, each.subject) for each in asked(agent)] == [
        ({"a": 1, "b": 1}, TICKET),
        ({"a": 1, "b": 2, "c": 3}, other),
    ]
    for turn in (first, second):
        stored = store.views.conversation(turn.conversation_id)
        assert stored.shared == Shared(context={"a": 1, "b": 1}, subject=TICKET)


def test_a_continuation_sees_the_destinations_context_and_not_the_senders(store: Store) -> None:
    agent = contributed(make_agent(FakeClient(says("Hi."))), "")
    bench = Bench(store, agent)
    sender = bench.work_on(
        bench.reception.submit(replace(bench.order(), context={"secret": 1}, principal={"id": 2}))
    )
    destination = conversation(bench, context={"only": "that turn's"})

    delivery = bench.courier.send(
        key="k",
        sender=sender,
        destination=destination.conversation_id,
        text="News.",
    )
    bench.work_off()

    continued = bench.read(delivery.turn_id)
    assert (continued.context, continued.subject) == ({"a": 1, "b": 1}, TICKET)
    assert asked(agent)[-1].context == {"a": 1, "b": 1}


def test_a_continuation_of_a_task_sees_what_the_task_was_given(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Hi."))))
    shared = Shared(context={"account": 7}, subject=TICKET)
    task = bench.work_on(bench.reception.submit(replace(bench.order(), shared=shared)))

    delivery = bench.courier.send(
        key="k", sender=None, destination=task.conversation_id, text="More."
    )
    bench.work_off()

    continued = bench.read(delivery.turn_id)
    assert (continued.context, continued.subject) == ({"account": 7}, TICKET)


def test_what_was_given_is_made_storable(store: Store) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Hi."))))
    shared = Shared(context={"a\x00": "\ud800"}, subject=Subject(type="t\x00", id="\ud800"))

    turn = bench.work_on(bench.reception.submit(replace(bench.order(), shared=shared)))

    assert turn.context == {"a\ufffd": "\ufffd"}
    assert turn.subject == Subject(type="t\ufffd", id="\ufffd")
    assert store.views.conversation(turn.conversation_id).shared.context == turn.context


def test_the_preview_of_a_prepared_turn_is_its_first_request(store: Store) -> None:
    client = FakeClient(says("Hi."))
    agent = contributed(make_agent(client), "told <x>")
    bench = Bench(store, agent)
    order = replace(bench.order(), subject=TICKET, context={"a": 1})
    prepared = bench.reception.prepare(order)
    now = bench.clock.now()

    shown = preview_turn(prepared, agent, bench.messages(prepared), now=now, with_context=True)
    unstored = preview_order(order, now=now, with_context=True)
    bench.reception.submit_prepared(prepared.id, agent)
    bench.work_off()

    assert client.render(client.requests[0]) == shown.request == unstored.request
    sizes = {size.name: size.characters for size in shown.sizes}
    assert sizes["context.fake"] == len("told <x>")
    assert {"context.environment", "context.subject"} <= set(sizes)


def test_a_preview_need_not_ask_contributors(store: Store) -> None:
    agent = contributed(make_agent(FakeClient(says("Hi."))), "told")
    bench = Bench(store, agent)

    shown = preview_order(
        replace(bench.order(), subject=TICKET), now=bench.clock.now(), with_context=False
    )

    assert asked(agent) == []
    names = [size.name for size in shown.sizes]
    assert "context.fake" not in names
    assert "context.subject" in names


def test_a_preview_tells_what_was_skipped_and_what_failed(store: Store) -> None:
    skipped = Skipped(name="weather", reason="no answer")
    agent = make_agent(FakeClient(says("Hi.")))
    bench = Bench(store, agent)
    order = replace(bench.order(), agent=contributed(agent, "a", skipped=[skipped]))
    failing = replace(order, agent=contributed(agent, ContributorFailed("account", "no answer")))

    shown = preview_order(order, now=bench.clock.now(), with_context=True)

    assert shown.skipped == (skipped,)
    with pytest.raises(ContributorFailed, match="'account'"):
        preview_order(failing, now=bench.clock.now(), with_context=True)
