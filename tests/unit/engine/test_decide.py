from dataclasses import replace

import pytest

from runner.core.ids import ExecutionId
from runner.core.states import ExecutionStatus, Phase
from runner.core.tooling import Carrier
from runner.engine.decide import (
    AskPerson,
    Budget,
    CallModel,
    Cancel,
    CheckOutput,
    Collect,
    Continue,
    CountCall,
    Fail,
    GiveUpCall,
    Join,
    MarkCall,
    OpenCall,
    Park,
    Pause,
    RefuseCall,
    Requests,
    RunCall,
    Snapshot,
    Spawn,
    Step,
    TakeInputs,
    decide,
)

RUN = ExecutionId("exec_1")
WITHIN = Budget(
    iterations=1, max_iterations=3, seconds_left=60, timeout="1m", claims=1, max_claims=5
)
PLANNED = OpenCall(
    id=RUN,
    status=ExecutionStatus.PLANNED,
    carrier=Carrier.FUNCTION,
    marked_by_us=False,
    replay_safe=False,
)
RUNNING = replace(PLANNED, status=ExecutionStatus.RUNNING)


@pytest.mark.parametrize(
    ("phase", "call", "expected"),
    [
        pytest.param(Phase.MODEL, None, CallModel(), id="asks-the-model"),
        pytest.param(Phase.OUTPUT, None, CheckOutput(), id="checks-the-output"),
        pytest.param(Phase.TOOLS, None, Continue(), id="asks-again-when-all-is-answered"),
        pytest.param(Phase.TOOLS, PLANNED, MarkCall(id=RUN), id="marks-before-the-effect"),
        pytest.param(
            Phase.TOOLS,
            replace(RUNNING, marked_by_us=True),
            RunCall(id=RUN),
            id="runs-what-it-marked-itself",
        ),
        pytest.param(
            Phase.TOOLS, RUNNING, GiveUpCall(id=RUN), id="never-repeats-what-another-claim-began"
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, replay_safe=True),
            CountCall(id=RUN),
            id="counts-what-is-replay-safe",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, status=ExecutionStatus.READY, replay_safe=True),
            RunCall(id=RUN),
            id="runs-what-is-replay-safe-without-a-mark",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, status=ExecutionStatus.READY),
            MarkCall(id=RUN),
            id="marks-what-was-handed-back-unbegun",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, carrier=Carrier.SUB_AGENT),
            Spawn(ids=(RUN,)),
            id="starts-children",
        ),
        pytest.param(
            Phase.TOOLS, replace(PLANNED, carrier=Carrier.JOIN), Join(id=RUN), id="joins-turns"
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, status=ExecutionStatus.WAITING, carrier=Carrier.SUB_AGENT),
            Collect(),
            id="collects-what-others-did",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, replay_safe=True, refusal="no"),
            RefuseCall(id=RUN, reason="no"),
            id="refuses-even-what-is-replay-safe",
        ),
        pytest.param(
            Phase.TOOLS, replace(PLANNED, asks=True), AskPerson(id=RUN), id="asks-before-the-effect"
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, asks=True, refusal="no"),
            RefuseCall(id=RUN, reason="no"),
            id="asks-nobody-about-what-is-refused-anyway",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, status=ExecutionStatus.READY, replay_safe=True, asks=True),
            AskPerson(id=RUN),
            id="asks-before-it-runs-again",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(PLANNED, status=ExecutionStatus.ASKING),
            MarkCall(id=RUN),
            id="marks-what-was-approved",
        ),
        pytest.param(
            Phase.TOOLS,
            replace(RUNNING, refusal="no"),
            GiveUpCall(id=RUN),
            id="does-not-claim-that-a-call-was-refused-once-it-may-have-begun",
        ),
    ],
)
def test_next_step(phase: Phase, call: OpenCall | None, expected: Step) -> None:
    snapshot = Snapshot(phase=phase, budget=WITHIN, requests=Requests(), call=call, group=(RUN,))

    assert decide(snapshot) == expected


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize(
    ("budget", "code", "path"),
    [
        pytest.param(
            replace(WITHIN, iterations=4), "limit", "limits.max_iterations", id="iterations"
        ),
        pytest.param(replace(WITHIN, seconds_left=0), "limit", "limits.timeout", id="time"),
        pytest.param(replace(WITHIN, claims=6), "poisoned", "worker.max_claims", id="claims"),
    ],
)
def test_a_turn_past_a_limit_fails_in_every_phase(
    phase: Phase, budget: Budget, code: str, path: str
) -> None:
    step = decide(
        Snapshot(phase=phase, budget=budget, requests=Requests(pause=True, inputs=1), call=PLANNED)
    )

    assert isinstance(step, Fail)
    assert (step.error.code, step.error.details.get("path")) == (code, path)


@pytest.mark.parametrize(
    "budget",
    [
        pytest.param(replace(WITHIN, iterations=3), id="the-last-iteration"),
        pytest.param(replace(WITHIN, claims=5), id="the-last-claim"),
    ],
)
def test_a_turn_at_a_limit_may_still_use_what_is_reserved(budget: Budget) -> None:
    assert decide(Snapshot(phase=Phase.MODEL, budget=budget, requests=Requests())) == CallModel()


JOINED = replace(PLANNED, status=ExecutionStatus.WAITING, carrier=Carrier.SUB_AGENT)


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        pytest.param(Requests(cancel=True, pause=True, inputs=1), Cancel(), id="cancel-first"),
        pytest.param(Requests(pause=True, inputs=1), Pause(), id="then-pause"),
        pytest.param(Requests(inputs=2), TakeInputs(), id="then-inputs"),
    ],
)
def test_what_people_ask_comes_before_the_turns_own_work(
    phase: Phase, requests: Requests, expected: Step
) -> None:
    assert decide(Snapshot(phase=phase, budget=WITHIN, requests=requests)) == expected


def test_a_cancelled_turn_is_cancelled_although_its_time_is_over() -> None:
    late = replace(WITHIN, seconds_left=-1)

    step = decide(Snapshot(phase=Phase.MODEL, budget=late, requests=Requests(cancel=True)))

    assert step == Cancel()


def test_the_results_of_children_come_before_new_input() -> None:
    snapshot = Snapshot(phase=Phase.TOOLS, budget=WITHIN, requests=Requests(inputs=1), call=JOINED)

    assert decide(snapshot) == Collect()


def test_a_turn_whose_calls_all_wait_for_people_lets_go() -> None:
    snapshot = Snapshot(phase=Phase.TOOLS, budget=WITHIN, requests=Requests(), is_open=True)

    assert decide(snapshot) == Park()


@pytest.mark.parametrize(
    ("call", "is_joining", "expected"),
    [
        pytest.param(None, False, TakeInputs(), id="in-place-of-what-is-asked"),
        pytest.param(None, True, Park(), id="after-the-children-that-are-at-work"),
        pytest.param(
            replace(PLANNED, status=ExecutionStatus.ASKING),
            True,
            Park(),
            id="with-nothing-more-begun-meanwhile",
        ),
        pytest.param(
            replace(RUNNING, marked_by_us=True),
            True,
            RunCall(id=RUN),
            id="after-the-call-that-was-begun",
        ),
    ],
)
def test_new_input_is_taken(call: OpenCall | None, expected: Step, *, is_joining: bool) -> None:
    snapshot = Snapshot(
        phase=Phase.TOOLS,
        budget=WITHIN,
        requests=Requests(inputs=1),
        call=call,
        is_open=True,
        is_joining=is_joining,
    )

    assert decide(snapshot) == expected
