"""What a turn does next: a pure function from what is known of it to a step."""

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from runner.core.ids import ExecutionId
from runner.core.jsonvalue import JsonObject
from runner.core.records import TurnError
from runner.core.states import ExecutionStatus, Phase


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
class RefuseCall:
    """Answer this call without making it."""

    id: ExecutionId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveUpCall:
    """Answer this call with an unknown outcome: its process died while it ran."""

    id: ExecutionId


@dataclass(frozen=True, slots=True, kw_only=True)
class Continue:
    """Every call is answered: ask the model again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOutput:
    """Check the answer, then finish or ask for a better one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """End the turn as failed, answering whatever calls are open."""

    error: TurnError


CallStep: TypeAlias = RunCall | MarkCall | RefuseCall | GiveUpCall | Continue
Step: TypeAlias = CallModel | CallStep | CheckOutput | Fail


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenCall:
    """A call without a result."""

    id: ExecutionId
    status: ExecutionStatus
    #: It was marked under the claim that asks now, so its effect has not begun yet.
    marked_by_us: bool
    replay_safe: bool
    #: Why it may not be made, if so.
    refusal: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A turn's limits and what it has used of them."""

    iterations: int
    max_iterations: int
    seconds_left: float
    timeout: str
    claims: int
    max_claims: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All that the next step depends on."""

    phase: Phase
    budget: Budget
    #: The first call without a result; those behind it wait.
    call: OpenCall | None = None


def decide(turn: Snapshot) -> Step:
    error = breach(turn.budget)
    if error:
        return Fail(error=error)
    match turn.phase:
        case Phase.MODEL:
            return CallModel()
        case Phase.TOOLS:
            return next_call(turn.call)
        case Phase.OUTPUT:
            return CheckOutput()
        case _:
            assert_never(turn.phase)


def next_call(call: OpenCall | None) -> CallStep:
    """
    Say what happens to the first open call.

    A call marked running under an earlier claim may have had its effect and is never made again.
    """
    if call is None:
        return Continue()
    if call.status is ExecutionStatus.RUNNING and not call.marked_by_us:
        return GiveUpCall(id=call.id)
    if call.refusal is not None:
        return RefuseCall(id=call.id, reason=call.refusal)
    if call.marked_by_us or call.replay_safe:
        return RunCall(id=call.id)
    return MarkCall(id=call.id)


def breach(budget: Budget) -> TurnError | None:
    """Name the limit the turn is past, or None."""
    if budget.claims > budget.max_claims:
        return TurnError(
            code="poisoned",
            message=(
                f"given up after {budget.max_claims} workers in a row died or lost their claim "
                "without finishing a step"
            ),
            details={"limit": "worker.max_claims", "used": budget.claims - 1},
        )
    if budget.seconds_left <= 0:
        return timeout_error(budget.timeout)
    if budget.iterations > budget.max_iterations:
        return limit_error(
            "limits.max_iterations",
            f"{budget.max_iterations} of {budget.max_iterations} model requests are used",
            used=budget.max_iterations,
            limit=budget.max_iterations,
        )
    return None


def timeout_error(timeout: str) -> TurnError:
    return limit_error("limits.timeout", f"the turn's time of {timeout} is over")


def limit_error(path: str, message: str, **amounts: int) -> TurnError:
    """Build the error that names a limit by its YAML path, with the amounts."""
    details: JsonObject = {"path": path, **amounts}
    return TurnError(code="limit", message=f"{path}: {message}", details=details)
