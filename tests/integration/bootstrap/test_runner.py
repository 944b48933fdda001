"""The Python API on a project's files and a real store."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread

import pytest

from runner import Runner
from runner.bootstrap.given import Given
from runner.core.errors import ConfigError, ConversationBusy, DefinitionError, NotFound, UsageError
from runner.core.ports import TurnFilter
from runner.core.states import TurnStatus
from tests.fakes.dispatcher import BrokenDispatcher, FakeDispatcher

HELLO = """
name: hello
description: Greets people.
instructions: |
  Answer with one friendly sentence.
"""
SCRIPT = """
- agent: hello
  when: morning
  answers: [{text: Good morning!}]
- agent: hello
  answers: [{text: Hello!}]
"""
CONFIG = """
database: {{url: {url}}}
clients: {{offline: {{type: scripted, scripts: [agents/_offline/hello.yaml]}}}}
"""


@pytest.fixture
def project(tmp_path: Path, database_url: str) -> Path:
    """A project with one agent; its config."""
    root = tmp_path / "project"
    (root / "agents" / "_offline").mkdir(parents=True)
    (root / "agents" / "hello.yaml").write_text(HELLO)
    (root / "agents" / "_offline" / "hello.yaml").write_text(SCRIPT)
    config = root / "config.yaml"
    config.write_text(CONFIG.format(url=database_url))
    return config


@pytest.fixture
def dispatcher() -> FakeDispatcher:
    return FakeDispatcher()


@pytest.fixture
def runner(project: Path, dispatcher: FakeDispatcher) -> Iterator[Runner]:
    with Runner(project, environ={}, dispatcher=dispatcher) as runner:
        yield runner
        assert list(runner.unattended()) == []


def work(runner: Runner, turn_id: str) -> None:
    runner.wiring.turn_worker.work_on(runner.turn(turn_id).id)


def test_a_task_is_run_here(runner: Runner) -> None:
    turn = runner.run("hello", "Good morning.")

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "Good morning!")
    assert turn == runner.turn(turn.id)
    assert turn.ended_at is not None
    assert [event.kind for event in runner.follow(turn.id)][-1] == "turn.completed"


def test_a_submitted_task_wakes_a_worker_and_is_waited_for(
    runner: Runner, dispatcher: FakeDispatcher
) -> None:
    turn = runner.submit("hello", "Hi.")
    assert dispatcher.sent == [turn.id]
    worker = Thread(target=work, args=(runner, turn.id))
    worker.start()

    ended = runner.wait(turn.id, timeout=timedelta(seconds=60))

    worker.join()
    assert ended.result == "Hello!"


def test_a_submission_is_safe_with_the_broker_down(project: Path) -> None:
    with Runner(project, environ={}, dispatcher=BrokenDispatcher()) as runner:
        turn = runner.submit("hello", "Hi.")

        assert runner.turn(turn.id).status is TurnStatus.PENDING
        report = runner.reconcile()
        assert list(report.due) == [turn.id]
        assert "broker is down" in report.errors[0]
        work(runner, turn.id)
        assert runner.turn(turn.id).result == "Hello!"


def test_a_wait_that_is_too_short_leaves_the_turn_alone(runner: Runner) -> None:
    turn = runner.submit("hello", "Hi.")

    with pytest.raises(TimeoutError, match=turn.id):
        runner.wait(turn.id, timeout=timedelta(0))
    with pytest.raises(TimeoutError, match=turn.id):
        list(runner.follow(turn.id, timeout=timedelta(0)))

    assert runner.turn(turn.id).status is TurnStatus.PENDING


def test_a_conversation_goes_on_in_another_process(runner: Runner, project: Path) -> None:
    conversation = runner.conversation("hello")
    before = conversation.id
    first = conversation.say("Good morning.")
    assert before is None
    assert conversation.id == first.conversation_id

    with Runner(project, environ={}, dispatcher=FakeDispatcher()) as other:
        again = other.open_conversation(first.conversation_id)
        second = again.say("And hello.")

    assert (first.result, second.result) == ("Good morning!", "Hello!")
    assert [m.text for m in runner.messages(first.conversation_id) if m.role.value == "user"] == [
        "Good morning.",
        "And hello.",
    ]


def test_a_task_that_is_written_to_keeps_its_prompt(runner: Runner) -> None:
    task = runner.run("hello", "Good morning.")

    again = runner.open_conversation(task.conversation_id).say("And again.")
    delivery = runner.send(task.conversation_id, "And once more.")

    assert again.kind is task.kind
    assert runner.turn(delivery.turn_id).kind is task.kind


def test_a_busy_conversation_takes_posts_but_answers_none_here(runner: Runner) -> None:
    conversation = runner.conversation("hello")
    conversation.post("First.")

    with pytest.raises(ConversationBusy):
        conversation.say("Second.")

    second = conversation.post("Second.")
    assert runner.turn(second.id).lane == 2


def test_asking_waits_for_the_answer(runner: Runner) -> None:
    conversation = runner.conversation("hello")

    with pytest.raises(TimeoutError):
        conversation.ask("Hi.", timeout=timedelta(0))

    (turn,) = runner.turns(TurnFilter(statuses={TurnStatus.PENDING}))
    assert turn.conversation_id == conversation.id


def test_the_preview_of_a_prepared_turn_is_its_first_request(runner: Runner) -> None:
    turn = runner.prepare("hello", "Good morning.")

    shown = runner.preview_turn(turn.id)

    assert shown.request == runner.preview("hello", "Good morning.").request
    runner.submit_prepared(turn.id)
    work(runner, turn.id)
    assert runner.turn(turn.id).result == "Good morning!"
    with pytest.raises(UsageError, match="has started"):
        runner.preview_turn(turn.id)


def test_a_conversation_has_another_prompt_than_a_task(runner: Runner) -> None:
    task = runner.preview("hello", "Hi.").sizes
    chat = runner.preview("hello", "Hi.", chat=True).sizes

    assert "system.task" in {size.name for size in task}
    assert "system.chat" in {size.name for size in chat}


def test_what_the_application_hands_in_is_stored_with_the_turn(runner: Runner) -> None:
    given = Given(principal={"id": "ada"}, context={"shop": 3}, metadata={"ticket": "T-1"})

    turn = runner.turn(runner.submit("hello", "Hi.", given=given).id)

    assert (turn.principal, turn.context, turn.metadata) == (
        {"id": "ada"},
        {"shop": 3},
        {"ticket": "T-1"},
    )


def test_a_turn_finishes_with_the_definition_it_began_with(runner: Runner, project: Path) -> None:
    before = runner.submit("hello", "Hi.")
    (project.parent / "agents" / "hello.yaml").write_text(HELLO.replace("friendly", "rude"))
    after = runner.submit("hello", "Hi.")

    assert before.definition_hash != after.definition_hash
    agent = runner.wiring.agent_of(before)
    assert "friendly" in agent.definition.instructions
    assert "rude" in runner.wiring.agent_of(after).definition.instructions


def test_a_broken_edit_leaves_the_last_good_definitions_in_force(
    runner: Runner, project: Path
) -> None:
    file = project.parent / "agents" / "hello.yaml"
    runner.submit("hello", "Hi.")

    file.write_text(HELLO + "modle: default\n")
    kept = runner.submit("hello", "Hi again.")
    problems = runner.problems()
    file.write_text(HELLO.replace("friendly", "kind"))
    mended = runner.submit("hello", "Hi once more.")

    assert [problem.code for problem in problems] == ["unknown-key"]
    assert "friendly" in runner.wiring.agent_of(kept).definition.instructions
    assert "kind" in runner.wiring.agent_of(mended).definition.instructions


def test_definitions_that_were_never_good_are_refused(project: Path) -> None:
    (project.parent / "agents" / "hello.yaml").write_text("naem: hello\n")

    with Runner(project, environ={}) as runner, pytest.raises(DefinitionError, match="validate"):
        runner.submit("hello", "Hi.")


def test_a_config_with_a_mistake_is_refused(project: Path) -> None:
    project.write_text("databse: {}\n")

    with Runner(project, environ={}) as runner, pytest.raises(ConfigError, match=r"config\.yaml:1"):
        runner.turns()


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda runner: runner.run("nobody", "Hi."), id="agent"),
        pytest.param(lambda runner: runner.conversation("nobody"), id="conversation-agent"),
        pytest.param(lambda runner: runner.turn("turn_0"), id="turn"),
        pytest.param(lambda runner: runner.open_conversation("conv_0"), id="conversation"),
        pytest.param(lambda runner: runner.submit_prepared("turn_0"), id="prepared"),
        pytest.param(lambda runner: runner.wait("turn_0"), id="waiting"),
    ],
)
def test_what_is_not_there_is_named(runner: Runner, ask: Callable[[Runner], object]) -> None:
    with pytest.raises(NotFound):
        ask(runner)


def test_an_sqlite_file_is_found_beside_the_config_wherever_the_process_is(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write_text(CONFIG.format(url="sqlite:///here.db"))
    monkeypatch.chdir(tmp_path)

    with Runner(project, environ={}, dispatcher=FakeDispatcher()) as runner:
        runner.submit("hello", "Hi.")

    assert (project.parent / "here.db").is_file()


def test_counting_shows_what_has_not_ended(runner: Runner) -> None:
    runner.submit("hello", "Hi.")
    runner.prepare("hello", "Hi.")
    runner.run("hello", "Hi.")

    assert dict(runner.counts()) == {TurnStatus.PENDING: 1, TurnStatus.PREPARED: 1}
