"""What a call attempts, and what is told of what was said to it."""

import pytest

from runner.core.authorization import ALLOWED, Action, Effect, Verdict
from runner.core.ids import ExecutionId
from runner.core.jsonvalue import JsonObject
from runner.core.tooling import Carrier, ToolRules
from runner.engine.permits import Ruling, actions_of, decision

LAUNCH = ToolRules(action=Action.LAUNCH_AGENT)


@pytest.mark.parametrize(
    ("rules", "arguments", "attempted"),
    [
        (ToolRules(), {"callback": True}, (Action.TOOL,)),
        (ToolRules(carrier=Carrier.SUB_AGENT), {}, (Action.LAUNCH_AGENT, Action.WAIT)),
        (ToolRules(carrier=Carrier.JOIN), {}, (Action.WAIT,)),
        (ToolRules(action=Action.SEND_MESSAGE), {}, (Action.SEND_MESSAGE,)),
        (LAUNCH, {}, (Action.LAUNCH_AGENT,)),
        (LAUNCH, {"callback": False}, (Action.LAUNCH_AGENT,)),
        (LAUNCH, {"callback": True}, (Action.LAUNCH_AGENT, Action.CALLBACK)),
    ],
)
def test_a_call_attempts_what_it_is_for(
    rules: ToolRules, arguments: JsonObject, attempted: tuple[Action, ...]
) -> None:
    assert actions_of(rules, arguments) == attempted


def test_the_strictest_of_what_is_said_to_a_call_holds_and_names_its_action() -> None:
    ask = Verdict(effect=Effect.ASK, policy="careful")
    ruling = Ruling(said={Action.LAUNCH_AGENT: ALLOWED, Action.CALLBACK: ask})

    assert (ruling.verdict, ruling.action) == (ask, Action.CALLBACK)


@pytest.mark.parametrize(
    ("verdict", "is_told"),
    [
        (ALLOWED, False),
        (Verdict(effect=Effect.ALLOW, layer="operator"), True),
        (Verdict(effect=Effect.ALLOW, policy="open"), True),
        (Verdict(effect=Effect.DENY), True),
    ],
)
def test_a_decision_is_told_of_where_a_policy_has_to_do_with_it(
    verdict: Verdict, *, is_told: bool
) -> None:
    run = ExecutionId("exec_1")

    event = decision(verdict, action=Action.TOOL, tool="act", execution_id=run)

    assert (event is not None) == is_told
    if event is not None:
        assert event.body["execution_id"] == run
