"""Each action of a turn, inline and in a worker, denied, asked about and allowed, by each layer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from threading import Thread

import pytest

from runner.core.authorization import Action, Effect
from runner.core.jsonvalue import JsonObject
from runner.core.model import ModelRequest, ModelResponse
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.authority import FakeAuthority, saying
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import answer_all, approve, open_approvals, policing
from tests.integration.engine.bench import Bench
from tests.integration.engine.late import launcher, sender
from tests.integration.engine.trees import delegate_to, make_parent, wait_for
from tests.waiting import until

#: The layers by what they are called here, and by whose they are.
LAYERS = {"operator": "operator", "ancestor": "parent", "own": "child"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A parent whose child does one thing, and how often that has had its effect."""

    bench: Bench
    authority: FakeAuthority
    effects: Callable[[Turn], int]


def echo(_request: ModelRequest) -> ModelResponse:
    return says("Did it.")


def scene(store: Store, action: Action) -> Scene:
    """Let a child attempt *action* once, by the call that is for it."""
    tool = FakeTool("act")
    launch, send = launcher(), sender()
    reader = make_agent(FakeClient(says("Hi.")), name="reader")
    there = Bench(store, reader).run()
    wanted: dict[Action, tuple[str, JsonObject]] = {
        Action.TOOL: ("act", {}),
        Action.LAUNCH_AGENT: ("grandchild", {"task": "Go."}),
        Action.WAIT: ("wait_for", {"turn_ids": [there.id]}),
        Action.SEND_MESSAGE: (
            "send_message",
            {"conversation_id": there.conversation_id, "text": "Hello."},
        ),
        Action.CALLBACK: (
            "launch_agent",
            {"agent": "grandchild", "task": "Go.", "callback": True},
        ),
    }
    client = FakeClient(calls(wanted[action]), says("Done."))
    tools = (tool, launch.tool, send.tool, wait_for(), delegate_to("grandchild"))
    child = make_agent(client, *tools, name="child")
    parent = make_parent(FakeClient(calls(("child", {"task": "Go."})), says("Done.")))
    grandchild = make_agent(FakeClient(echo), name="grandchild")
    authority = FakeAuthority()
    bench = Bench(store, parent, child, grandchild, reader, policing=policing(authority))
    launch.bench = send.bench = bench

    def effects(turn: Turn) -> int:
        tree = store.views.tree(turn.id)
        of_child = next(each for each in tree if each.agent == "child")
        done = [run for run in bench.executions(of_child) if run.status == "completed"]
        match action:
            case Action.TOOL:
                return len(tool.calls)
            case Action.SEND_MESSAGE:
                return len(store.deliveries.inbox(there.conversation_id))
            case Action.WAIT:
                return len(done)
            case _:
                return sum(each.agent == "grandchild" for each in tree)

    return Scene(bench=bench, authority=authority, effects=effects)


def in_worker(at: Scene) -> Turn:
    turn = at.bench.submit()
    at.bench.work_off()
    asked = open_approvals(at.bench)
    assert at.effects(turn) == 0 or not asked, "it was done before anybody had agreed"
    answer_all(at.bench)
    return at.bench.read(turn.id)


def inline(at: Scene) -> Turn:
    """Run it in a thread, and answer from another as somebody elsewhere would."""
    ended: list[Turn] = []
    thread = Thread(target=lambda: ended.append(at.bench.run_here(at.bench.order())))
    thread.start()

    def has_ended() -> bool:
        for approval in open_approvals(at.bench):
            approve(at.bench, approval)
        return bool(ended)

    until(has_ended, "the end of the turn")
    thread.join()
    at.bench.work_off()
    return ended[0]


def cases() -> Iterator[object]:
    actions = (
        Action.TOOL,
        Action.LAUNCH_AGENT,
        Action.WAIT,
        Action.SEND_MESSAGE,
        Action.CALLBACK,
    )
    for action, way, effect, layer in product(actions, (in_worker, inline), Effect, LAYERS):
        name = f"{action.value}-{way.__name__}-{effect.value}-{layer}"
        yield pytest.param(action, way, effect, layer, id=name)


@pytest.mark.parametrize(("action", "way", "effect", "layer"), list(cases()))
def test_each_action_is_done_denied_or_asked_about_alike_wherever_it_is_attempted(
    store: Store, action: Action, way: Callable[[Scene], Turn], effect: Effect, layer: str
) -> None:
    at = scene(store, action)
    whose = LAYERS[layer]
    about = {"action": action.value, "agent": "child"}
    at.authority.layers[whose] = saying(effect, whose, **about)
    others = [name for name in LAYERS.values() if name != whose]
    at.authority.layers |= {name: saying(Effect.ALLOW, name, **about) for name in others}

    turn = way(at)

    assert turn.status is TurnStatus.COMPLETED
    assert at.effects(turn) == (effect is not Effect.DENY)
    of_child = next(each for each in store.views.tree(turn.id) if each.agent == "child")
    decided = [e for e in store.views.events(of_child.id) if e.kind == "policy.decided"]
    said = [e.body["effect"] for e in decided if e.body["action"] == action.value]
    assert said == [effect.value] * (2 if effect is Effect.ASK else 1)
    assert at.bench.executions(of_child)[0].tool == decided[0].body["tool"]
