"""A store in which a good deal has happened, with turns of every kind and some still at work."""

from dataclasses import replace
from typing import Final

from runner.core.authorization import Action
from runner.core.jsonvalue import JsonObject
from runner.core.model import ToolSpec
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.engine.coordination import CoordinationTool, coordination_rules
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.engine.asking import approve, asking, open_approvals, policing
from tests.integration.engine.bench import Bench
from tests.integration.engine.trees import make_parent

_LIMITS: Final = ResolvedLimits(max_tool_executions_by_name={"act": 5})
_CALLS: Final = calls(
    ("act", {}),
    ("safe", {}),
    ("child", {"task": "Look."}),
    ("launch_agent", {"agent": "child", "task": "Look again.", "callback": True}),
)


def live(store: Store) -> None:
    """
    Let a family and some single turns live in *store*.

    A parent is steered twice, acts, has one child done and launches another that calls back, and
    is written to. Then a sleeper is pending, a waiter waits for it, and a worker has died while it
    ran a tool whose effect must not happen twice, and an asker has had one call approved and waits
    for another.
    """
    launch = CoordinationTool(
        spec=ToolSpec(name="launch_agent", description="", parameters={"type": "object"}),
        act=lambda arguments, context: bench.coordination.launch(arguments, context),  # noqa: PLW0108 - the bench is made below
        rules=coordination_rules(Action.LAUNCH_AGENT),
    )
    safe = FakeTool("safe", _remark, rules=ToolRules(recovery=Recovery.REPLAY_SAFE))
    parent = make_parent(
        FakeClient(_CALLS, says("Done.")), FakeTool("act"), safe, launch, limits=_LIMITS
    )
    idle = FakeClient(says("Done."))
    others = [make_agent(idle, name=name) for name in ("child", "sleeper", "waiter")]
    bench = Bench(store, parent, *others)
    turn = bench.submit()
    for number in (1, 2):
        bench.control.steer(turn.id, key=f"k{number}", text=f"And {number}.")
    bench.work_off()
    bench.courier.send(key="k", sender=None, destination=turn.conversation_id, text="Hello.")
    bench.work_off()
    sleeper = bench.submit(agent="sleeper")
    waiting = replace(bench.order(), agent=bench.agents["waiter"], awaits=(sleeper.id,))
    bench.reception.submit(waiting)
    _die_at_work(store)
    _ask_twice(store)


def _ask_twice(store: Store) -> None:
    client = FakeClient(calls(("ask", {"n": 1})), says("Done."), calls(("ask", {"n": 2})))
    agent = make_agent(client, FakeTool("ask"), name="asker")
    bench = Bench(store, agent, policing=policing(asking(tool="ask")))
    answered = bench.run()
    [approval] = open_approvals(bench)
    approve(bench, approval)
    bench.work_on(answered)
    bench.run()


def _die_at_work(store: Store) -> None:
    agent = make_parent(FakeClient(calls(("hold", {}))), FakeTool("hold"), name="worker")
    bench = Bench(store, agent, journal=MortalJournal(store.journal, number=2, before=True))
    bench.die_on(bench.submit())


def _remark(_arguments: JsonObject, context: ToolContext) -> str:
    context.append_message("By the way.")
    return "ok"
