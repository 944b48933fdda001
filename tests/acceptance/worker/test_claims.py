"""Workers that are slow, not dead."""

from runner import Runner
from runner.core.states import ExecutionStatus, TurnStatus
from tests.acceptance.worker.conftest import MakeProject
from tests.acceptance.worker.project import Project
from tests.acceptance.worker.workers import working
from tests.fakes.dispatcher import FakeDispatcher
from tests.waiting import until


def test_a_worker_that_was_stopped_writes_nothing_once_its_claim_was_taken_over(
    project: Project,
) -> None:
    project.shut("a")
    turn = project.runner.submit("actor", "act twice in a row")

    with working(project) as slow:
        until(lambda: project.count("begin", "a"), "the tool to begin")
        slow.freeze()
        with working(project):
            project.runner.wait(turn.id)
        written = project.runner.events(turn.id)
        project.open("a")
        slow.thaw()
        until(lambda: "claim lost" in slow.log, "the worker to see that its claim is lost")
        another = project.runner.wait(project.runner.submit("actor", "act safely").id)

    frozen, *others = [entry.pid for entry in project.ledger if entry.what == "begin"]
    assert project.outcomes(turn.id) == [ExecutionStatus.INTERRUPTED, ExecutionStatus.COMPLETED]
    assert project.runner.events(turn.id) == written
    assert project.count("begin", "b") == 1
    assert another.status is TurnStatus.COMPLETED
    assert others[-1] == frozen


def test_a_model_call_of_several_leases_keeps_its_claim(make_project: MakeProject) -> None:
    project = make_project("postgresql-redis", lease="2s")
    turn = project.runner.submit("actor", "think")

    with working(project, processes=2):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert ended.fence == 1
    assert project.events(turn.id, "turn.resumed") == 0


def test_a_turn_goes_on_after_its_slice_while_others_had_their_chance(
    make_project: MakeProject,
) -> None:
    project = make_project("sqlite-memory://", slice="50ms")
    turn = project.runner.submit("actor", "act a lot")

    with working(project, threads=1):
        ended = project.runner.wait(turn.id)

    assert ended.status is TurnStatus.COMPLETED
    assert ended.fence > 1
    assert [entry.name for entry in project.ledger if entry.what == "end"] == ["a", "b", "c"]


def test_the_turns_of_a_conversation_run_in_the_order_they_were_submitted_and_never_at_once(
    project: Project,
) -> None:
    names = [f"act as {number}" for number in range(5)]
    with Runner(project.config, dispatcher=FakeDispatcher()) as mute:
        conversation = mute.conversation("actor")
        turns = [conversation.post(name) for name in names]
    project.runner.wiring.dispatcher.dispatch([turn.id for turn in reversed(turns)])

    with working(project, processes=2):
        ended = [project.runner.wait(turn.id) for turn in turns]

    assert {turn.status for turn in ended} == {TurnStatus.COMPLETED}
    assert [(entry.what, entry.name) for entry in project.ledger] == [
        (what, name) for name in names for what in ("begin", "end")
    ]
