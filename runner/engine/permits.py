"""What the policies in force say to the calls of one turn, right before they are made."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Final

from runner.core.authorization import (
    Action,
    Attempt,
    Effect,
    Unrestricted,
    Verdict,
    strictest,
)
from runner.core.ids import ExecutionId
from runner.core.jsonvalue import JsonObject, JsonValue
from runner.core.ports import Authority
from runner.core.records import NewEvent, ToolExecution, Turn
from runner.core.tooling import Carrier, ToolRules

#: How long people have to answer where neither a rule nor the config says.
EXPIRE: Final = timedelta(hours=24)
_BY_CARRIER: Final[Mapping[Carrier, Sequence[Action]]] = {
    Carrier.SUB_AGENT: (Action.LAUNCH_AGENT, Action.WAIT),
    Carrier.JOIN: (Action.WAIT,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Policing:
    """Who says what turns may do, and how long people have to answer."""

    authority: Authority = field(default_factory=Unrestricted)
    expire: timedelta = EXPIRE


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """What the policies say to one call: to each thing that it attempts."""

    said: Mapping[Action, Verdict]

    @property
    def verdict(self) -> Verdict:
        """What holds for the call as a whole."""
        return strictest(self.said.values())

    @property
    def action(self) -> Action:
        """What the verdict is on."""
        return next(action for action, verdict in self.said.items() if verdict is self.verdict)


class Permits:
    """
    Asks the policies about the calls of one turn under one claim.

    Within one step the answer for a call stays the same; `forget` begins the next. A call that was
    begun under this claim needs no other answer to be carried out under it.
    """

    def __init__(self, policing: Policing, turn: Turn) -> None:
        self._policing = policing
        self._turn = turn
        self._rulings = dict[ExecutionId, Ruling]()
        self._granted = set[ExecutionId]()

    @property
    def expire(self) -> timedelta:
        return self._policing.expire

    def forget(self) -> None:
        """Let every call be asked about anew."""
        self._rulings.clear()

    def on(self, run: ToolExecution, rules: ToolRules) -> Ruling:
        """Return what the policies say to a call in this step."""
        if run.id not in self._rulings:
            self._rulings[run.id] = self._ask(run, rules)
        return self._rulings[run.id]

    def said(self, run_id: ExecutionId) -> Ruling | None:
        """Return what they said to a call in this step, if they were asked."""
        return self._rulings.get(run_id)

    def grant(self, run_id: ExecutionId) -> None:
        """Remember that a call was begun under this claim."""
        self._granted.add(run_id)

    def is_granted(self, run_id: ExecutionId) -> bool:
        return run_id in self._granted

    def _ask(self, run: ToolExecution, rules: ToolRules) -> Ruling:
        decide, lineage = self._policing.authority.decide, self._turn.lineage
        return Ruling(
            said={
                action: decide(attempt_by(self._turn, run, action), lineage)
                for action in actions_of(rules, run.arguments)
            }
        )


def actions_of(rules: ToolRules, arguments: JsonObject) -> Sequence[Action]:
    """Return what a call attempts, by who carries it out and what it is to do."""
    by_carrier = _BY_CARRIER.get(rules.carrier)
    if by_carrier is not None:
        return by_carrier
    calls_back = rules.action is Action.LAUNCH_AGENT and arguments.get("callback")
    return (rules.action, Action.CALLBACK) if calls_back else (rules.action,)


def attempt_by(turn: Turn, run: ToolExecution, action: Action) -> Attempt:
    """Describe what a turn attempts by a call; only its arguments are a model's words."""
    return Attempt(
        action=action,
        agent=turn.agent,
        principal=turn.principal,
        tool=run.tool,
        arguments=run.arguments,
        turn=describe_turn(turn),
        conversation={"id": turn.conversation_id, "agent": turn.agent},
        context=turn.context,
    )


def attempt_on(turn: Turn, action: Action, principal: JsonObject | None) -> Attempt:
    """Describe what somebody attempts on a turn, or on the conversation it is the last of."""
    return Attempt(
        action=action,
        agent=turn.agent,
        principal=principal,
        turn=describe_turn(turn),
        conversation={"id": turn.conversation_id, "agent": turn.agent},
        context=turn.context,
    )


def describe_turn(turn: Turn) -> JsonObject:
    """Return what policies may know of a turn."""
    return {
        "id": turn.id,
        "kind": turn.kind.value,
        "depth": turn.place.depth,
        "parent_id": turn.place.parent_id,
        "root_id": turn.place.root_id,
    }


def decision(
    verdict: Verdict, *, action: Action, tool: str | None, **more: JsonValue
) -> NewEvent | None:
    """Return the event that tells what was decided; None where no policy has to do with it."""
    if verdict.effect is Effect.ALLOW and verdict.policy is None and verdict.layer is None:
        return None
    body: JsonObject = {
        "action": action.value,
        "tool": tool,
        **more,
        "effect": verdict.effect.value,
        "policy": verdict.policy,
        "rule": verdict.rule,
        "source": verdict.source,
        "layer": verdict.layer,
        "reason": verdict.reason,
    }
    return NewEvent(kind="policy.decided", body=body)
