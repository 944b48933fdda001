"""What a turn does next: a pure function from what is known of it to a step."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from runner.core.ids import ExecutionId
from runner.core.jsonvalue import JsonObject
from runner.core.records import TurnError
from runner.core.states import ExecutionStatus, Phase
from runner.core.tooling import Carrier


@dataclass(frozen=True, slots=True, kw_only=True)
class CallModel:
    """Ask the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCall:
    """Run this call; nothing more need be recorded before its effect."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkCall:
    """Record that this call's effect may begin."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class CountCall:
    """Count this call against the limits; it may be run any number of times after that."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class RefuseCall:
    """Answer this call without making it."""

    id: ExecutionId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AskPerson:
    """Ask people whether this call may be made; go on without it meanwhile."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpCall:
    """Answer this call with an unknown outcome: its process died while it ran."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawn:
    """Start a child turn for each of these calls and wait for them all."""

    ids: Sequence[ExecutionId]


@dataclass(frozen=True, slots=True, kw_only=True)
class Join:
    """Wait for the turns this call names."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Collect:
    """Answer the calls other turns worked on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """Every call is answered: ask the model again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Park:
    """Let go of the turn until people have answered or other turns have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeInputs:
    """Put what the turn was told meanwhile into the transcript, in place of planned calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutput:
    """Check the answer, then finish or ask for a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Let go of the turn until it is resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """End the turn as cancelled, answering whatever calls are open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """End the turn as failed, answering whatever calls are open."""

    error: TurnError


CallStep: TypeAlias = (
    RunCall
    | MarkCall
    | CountCall
    | RefuseCall
    | AskPerson
    | GiveUpCall
    | Spawn
    | Join
    | Collect
    | Park
    | Continue
)
#: In these a call is carried out before anything else.
_BEGUN = {ExecutionStatus.READY, ExecutionStatus.RUNNING}

Step: TypeAlias = CallModel | CallStep | TakeInputs | CheckOutput | Pause | Cancel | Fail


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a result."""

    id: ExecutionId
    status: ExecutionStatus
    carrier: Carrier
    #: It was marked under the claim that asks now, so its effect has not begun yet.
    marked_by_us: bool
    replay_safe: bool
    #: Why it may not be made, if so.
    refusal: str | None = None
    #: A person has to agree before it is made.
    asks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A turn's own limits and what it has used of them."""

    iterations: int
    max_iterations: int
    seconds_left: float
    timeout: str
    claims: int
    max_claims: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    """What people asked of the turn that it has not done yet."""

    cancel: bool = False
    pause: bool = False
    inputs: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All that the next step depends on."""

    phase: Phase
    budget: Budget
    requests: Requests
    #: The call whose place has come.
    call: OpenCall | None = None
    #: The calls that fan out with it, it included.
    group: Sequence[ExecutionId] = ()
    #: Some call has no result yet.
    is_open: bool = False
    #: Other turns are at work on calls.
    is_joining: bool = False


def decide(turn: Snapshot) -> Step:
    return _what_comes_first(turn) or _next_in_phase(turn)


def _what_comes_first(turn: Snapshot) -> Step | None:
    """What people asked for and limits demand, before the turn's own work."""
    if turn.requests.cancel:
        return Cancel()
    error = breach(turn.budget)
    if error:
        return Fail(error=error)
    if turn.requests.pause:
        return Pause()
    return _inputs_first(turn) if turn.requests.inputs else None


def _inputs_first(turn: Snapshot) -> Step | None:
    """
    Take what the turn was told in place of what it had planned.

    The results of other turns come before that; they are waited for, and nothing more is begun.
    """
    status = turn.call.status if turn.call is not None else None
    if turn.is_joining and status not in _BEGUN:
        return Park()
    return None if turn.is_joining or status is ExecutionStatus.WAITING else TakeInputs()


def _next_in_phase(turn: Snapshot) -> Step:
    match turn.phase:
        case Phase.MODEL:
            return CallModel()
        case Phase.TOOLS:
            return next_call(turn.call, turn.group, is_open=turn.is_open)
        case Phase.OUTPUT:
            return CheckOutput()
        case _:
            assert_never(turn.phase)


def next_call(
    call: OpenCall | None, group: Sequence[ExecutionId] = (), *, is_open: bool = False
) -> CallStep:
    """
    Say what happens to the open call whose place has come.

    A call marked running under an earlier claim may have had its effect and is never made again.
    """
    if call is None:
        return Park() if is_open else Continue()
    if call.status is ExecutionStatus.WAITING:
        return Collect()
    if call.status is ExecutionStatus.RUNNING and not call.marked_by_us:
        return GiveUpCall(id=call.id)
    if call.refusal is not None:
        return RefuseCall(id=call.id, reason=call.refusal)
    if call.asks:
        return AskPerson(id=call.id)
    return _begin(call, group)


def _begin(call: OpenCall, group: Sequence[ExecutionId]) -> CallStep:
    match call.carrier:
        case Carrier.FUNCTION:
            return _next_function_call(call)
        case Carrier.SUB_AGENT:
            return Spawn(ids=tuple(group))
        case Carrier.JOIN:
            return Join(id=call.id)
        case _:
            assert_never(call.carrier)


def breach(budget: Budget) -> TurnError | None:
    """Name the limit the turn is past, or None."""
    if budget.claims > budget.max_claims:
        return TurnError(
            code="poisoned",
            message=(
                f"given up after {budget.max_claims} workers in a row died or lost their claim "
                "without finishing a step"
            ),
            details={"path": "worker.max_claims", "used": budget.claims - 1},
        )
    if budget.seconds_left <= 0:
        return timeout_error(budget.timeout)
    if budget.iterations > budget.max_iterations:
        return iterations_error(budget.max_iterations)
    return None


def timeout_error(timeout: str) -> TurnError:
    return limit_error("limits.timeout", f"the turn's time of {timeout} is over")


def iterations_error(limit: int) -> TurnError:
    message = f"{limit} of {limit} model requests are used"
    return limit_error("limits.max_iterations", message, used=limit, limit=limit)


def limit_error(path: str, message: str, **amounts: int) -> TurnError:
    """Build the error that names a limit by its YAML path, with the amounts."""
    details: JsonObject = {"path": path, **amounts}
    return TurnError(code="limit", message=f"{path}: {message}", details=details)


def _next_function_call(call: OpenCall) -> CallStep:
    if call.marked_by_us:
        return RunCall(id=call.id)
    if not call.replay_safe:
        return MarkCall(id=call.id)
    counted = call.status is ExecutionStatus.READY
    return RunCall(id=call.id) if counted else CountCall(id=call.id)
