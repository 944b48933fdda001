"""
Every action that policies have a say in, on whoever attempts it, whatever is said, in each layer.

What turns attempt and what people attempt on turns are the two tables; policies are YAML files.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Final

import pytest

from runner import Given, Runner
from runner.core.approvals import Approval
from runner.core.authorization import Action, Effect
from runner.core.errors import NotPermitted
from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn
from runner.core.states import ExecutionStatus, TurnStatus
from runner.store.database import open_database
from runner.store.schema import upgrade_schema
from tests import services
from tests.integration.bootstrap.policed import ADMIN, FILES, NAMES, Policed

#: What a child turn attempts: by a call to which tool, and with what; ids are filled in.
CALLS: Final[Mapping[str, tuple[Action, str, JsonObject]]] = {
    "tool": (Action.TOOL, "act", {}),
    "sub-agent": (Action.LAUNCH_AGENT, "helper", {"task": "Go."}),
    "join": (Action.WAIT, "helper", {"task": "Go."}),
    "launch": (Action.LAUNCH_AGENT, "launch_agent", {"agent": "helper", "task": "Go."}),
    "wait": (Action.WAIT, "wait_for", {"turn_ids": []}),
    "message": (Action.SEND_MESSAGE, "send_message", {"conversation_id": "", "text": "Hello."}),
    "callback": (
        Action.CALLBACK,
        "launch_agent",
        {"agent": "helper", "task": "Go.", "callback": True},
    ),
}
WAYS: Final = ("worker", "inline")
EFFECTS: Final = (Effect.DENY, Effect.ASK, Effect.ALLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Deed:
    """What a person does to a child turn, and whether that shows in how it stands."""

    do: Callable[[Runner, Turn, Policed], object]
    shows: bool = True
    #: What brings the child to where it can be done.
    begin: Callable[[Runner, Turn], object] = lambda _runner, _turn: None
    #: A turn of one's own is under no ancestor's policies.
    layers: tuple[str, ...] = tuple(FILES)


#: What people attempt, on a child that waits for an approval or, for `submit`, beside it.
DEEDS: Final[Mapping[str, tuple[Action, Deed]]] = {
    "cancel": (Action.CANCEL, Deed(do=lambda r, t, _: r.cancel(t.id))),
    "pause": (Action.PAUSE, Deed(do=lambda r, t, _: r.pause(t.id))),
    "resume": (
        Action.RESUME,
        Deed(do=lambda r, t, _: r.resume(t.id), begin=lambda r, t: r.pause(t.id)),
    ),
    "steer": (Action.STEER, Deed(do=lambda r, t, _: r.steer(t.id, "Faster."))),
    "approve": (Action.APPROVE, Deed(do=lambda r, t, p: r.approve(p.asked(t.id)[0].id))),
    "refuse": (Action.APPROVE, Deed(do=lambda r, t, p: r.deny(p.asked(t.id)[0].id))),
    "look": (Action.READ_CONTROL, Deed(do=lambda r, t, _: r.turn(t.id), shows=False)),
    "read": (
        Action.READ_MESSAGES,
        Deed(do=lambda r, t, _: r.messages(t.conversation_id), shows=False),
    ),
    "write": (Action.SEND_MESSAGE, Deed(do=lambda r, t, _: r.send(t.conversation_id, "Hello."))),
    "submit": (
        Action.SUBMIT,
        Deed(do=lambda r, _t, _p: r.submit("actor", "rest"), layers=("operator", "own")),
    ),
    "submit-and-wait": (
        Action.WAIT,
        Deed(
            do=lambda r, _, p: r.submit("actor", "rest", given=Given(wait_for=[p.there.id])),
            layers=("operator", "own"),
        ),
    ),
    "submit-and-tell": (
        Action.CALLBACK,
        Deed(
            do=lambda r, _, p: r.submit(
                "actor", "rest", given=Given(callback_to=p.there.conversation_id)
            ),
            layers=("operator", "own"),
        ),
    ),
}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def policed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Policed]:
    """One project for all of this, on a database of its own of each kind."""
    root = tmp_path_factory.mktemp("policed")
    with ExitStack() as afterwards:
        if request.param == "sqlite":
            shutil.copyfile(request.getfixturevalue("sqlite_template"), root / "runner.db")
            url = f"sqlite:///{root / 'runner.db'}"
        else:
            server = request.getfixturevalue("postgres_server")
            url = afterwards.enter_context(services.new_database(server))
            database = open_database(url)
            upgrade_schema(database)
            database.close()
        made = Policed(root, url)
        made.open({name: (tool, arguments) for name, (_, tool, arguments) in CALLS.items()})
        afterwards.callback(made.close)
        yield made


def effects(policed: Policed, call: str, turn: Turn) -> int:
    """Count what the call of a turn's child has brought about."""
    actor = policed.child(turn.id)
    views = policed.store.views
    done = [
        run for run in views.tool_executions(actor.id) if run.status is ExecutionStatus.COMPLETED
    ]
    match call:
        case "tool":
            return policed.deeds.count(actor.id)
        case "wait":
            return len(done)
        case "message":
            inbox = policed.store.deliveries.inbox(policed.there.conversation_id)
            return sum(each.source == actor.conversation_id for each in inbox)
        case "callback":
            return len(policed.store.deliveries.inbox(actor.conversation_id))
        case _:
            return sum(each.agent == "helper" for each in views.tree(turn.id))


def calls() -> Iterator[object]:
    """Yield all combinations; in the short run each is of one layer, and all layers come up."""
    for number, (call, way, effect) in enumerate(product(CALLS, WAYS, EFFECTS)):
        for place, layer in enumerate(NAMES):
            marks = (
                ()
                if place == (number + number // len(EFFECTS)) % len(NAMES)
                else (pytest.mark.crash,)
            )
            name = f"{call}-{way}-{effect.value}-{layer}"
            yield pytest.param(call, way, effect, layer, id=name, marks=marks)


@pytest.mark.parametrize(("call", "way", "effect", "layer"), list(calls()))
def test_what_a_turn_attempts_is_done_denied_or_asked_about_alike_wherever_it_runs(
    policed: Policed, call: str, way: str, effect: Effect, layer: str
) -> None:
    action, tool, _ = CALLS[call]
    policed.say(effect, action, layer, role="clerk")
    asked: list[Approval] = []

    def look(turn: Turn) -> None:
        assert effects(policed, call, turn) == 0, "it was done before anybody had agreed"
        asked.extend(policed.asked(turn.id))

    turn = policed.in_worker(call, look) if way == "worker" else policed.inline(call, look)

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Done.")
    assert effects(policed, call, turn) == (effect is not Effect.DENY)
    actor = policed.child(turn.id)
    [run] = policed.store.views.tool_executions(actor.id)
    assert (run.status is ExecutionStatus.REFUSED) is (effect is Effect.DENY)
    told = str(policed.store.views.messages(actor.conversation_id))
    assert (f"{layer} says deny." in told) is (effect is Effect.DENY)
    decided = [e.body for e in policed.store.views.events(actor.id) if e.kind == "policy.decided"]
    on_it = [each for each in decided if each["action"] == action.value]
    told_by = [(e["effect"], e["layer"], str(e["source"]).rpartition(":")[0]) for e in on_it]
    by = (effect.value, NAMES[layer], f"agents/{FILES[layer]}.yaml")
    assert told_by == [by] * (2 if effect is Effect.ASK else 1)
    assert [(a.question.agents, a.question.tool, a.question.arguments) for a in asked] == (
        [(("boss", "actor"), tool, run.arguments)] if effect is Effect.ASK else []
    )


@contextmanager
def held(policed: Policed, way: str) -> Iterator[Turn]:
    """Lend a child turn that waits for an approval, and end it afterwards."""
    policed.be_silent()
    turn, thread = policed.held_inline() if way == "inline" else policed.held_in_worker()
    yield turn
    policed.be_silent()
    policed.cancel_all()
    thread.join(60)
    assert not thread.is_alive()


def deeds() -> Iterator[object]:
    """Yield all combinations, as above."""
    for number, ((deed, (_, how)), way) in enumerate(product(DEEDS.items(), WAYS)):
        for place, layer in enumerate(how.layers):
            marks = (
                ()
                if place == (number // len(WAYS) + WAYS.index(way)) % len(how.layers)
                else (pytest.mark.crash,)
            )
            yield pytest.param(deed, way, layer, id=f"{deed}-{way}-{layer}", marks=marks)


@pytest.mark.parametrize(("deed", "way", "layer"), list(deeds()))
def test_what_a_person_attempts_is_done_if_it_is_allowed_and_refused_if_denied_or_asked_about(
    policed: Policed, deed: str, way: str, layer: str
) -> None:
    action, how = DEEDS[deed]
    clerk, admin = policed.runner, policed.runner.acting_for(ADMIN)
    with held(policed, way) as turn:
        how.begin(clerk, turn)
        before = policed.standing(turn)

        for effect in (Effect.DENY, Effect.ASK):
            policed.say(effect, action, layer)
            with pytest.raises(NotPermitted, match=f"{layer} says {effect.value}"):
                how.do(admin, turn, policed)
        policed.say(Effect.ALLOW, action, layer, role="admin")
        with pytest.raises(NotPermitted, match=f"no rule of '{NAMES[layer]}' allows it"):
            how.do(clerk, turn, policed)
        untouched = policed.standing(turn)
        how.do(admin, turn, policed)

        assert untouched == before
        assert (policed.standing(turn) != before) is how.shows


@pytest.mark.parametrize("layer", NAMES)
def test_a_callback_that_is_denied_before_it_is_due_leaves_the_end_as_it_is(
    policed: Policed, layer: str
) -> None:
    policed.be_silent()
    turn = policed.runner.submit("boss", "callback")
    for agent in ("boss", "actor"):
        each = turn if agent == "boss" else policed.child(turn.id)
        policed.runner.wiring.turn_worker.work_on(each.id)

    policed.say(Effect.DENY, Action.CALLBACK, layer)
    policed.work_off()

    helper = policed.child(turn.id, "helper")
    assert (helper.status, effects(policed, "callback", turn)) == (TurnStatus.COMPLETED, 0)
    events = policed.store.views.events(helper.id)
    [dropped] = [each.body for each in events if each.kind == "delivery.dropped"]
    assert f"{layer} says deny." in str(dropped["reason"])
    [decided] = [each.body for each in events if each.kind == "policy.decided"]
    assert (decided["action"], decided["layer"]) == ("callback", NAMES[layer])
