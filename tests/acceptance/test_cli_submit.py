"""Commands that hand work to workers."""

import pytest

from tests.program import Program


def test_a_submitted_task_waits_for_a_worker(program: Program) -> None:
    done = program.run("submit", "hello", "good morning")

    assert done.code == 0
    assert done.out.startswith("turn_")
    assert f"runner watch {done.out.strip()}" in done.err
    (turn,) = program.run("ps", "--json").document
    assert (turn["id"], turn["status"]) == (done.out.strip(), "pending")


def test_a_prepared_task_waits_for_its_submission(program: Program) -> None:
    prepared = program.run("submit", "hello", "good morning", "--prepare", "--json").document
    assert prepared["status"] == "prepared"

    done = program.run("submit", "--turn", prepared["id"], "--json")

    assert (done.document["id"], done.document["status"]) == (prepared["id"], "pending")


def test_a_person_is_told_how_to_submit_what_was_prepared(program: Program) -> None:
    done = program.run("submit", "hello", "good morning", "--prepare")

    assert f"runner submit --turn {done.out.strip()}" in done.err


def test_a_message_is_submitted_to_its_conversation(program: Program) -> None:
    first = program.run("submit", "hello", "one", "--json").document

    second = program.run(
        "submit", "hello", "two", "--conversation", first["conversation_id"], "--json"
    ).document

    assert second["conversation_id"] == first["conversation_id"]
    assert second["kind"] == first["kind"]
    shown = program.run("messages", first["conversation_id"], "--json").document
    assert [one["parts"][0]["text"] for one in shown] == ["one", "two"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "name an agent and a task", id="nothing"),
        pytest.param(["hello", "x", "--turn", "t"], "give only --turn", id="task-and-turn"),
        pytest.param(
            ["hello", "x", "--conversation", "c", "--prepare"],
            "neither --input nor --prepare",
            id="prepared-message",
        ),
        pytest.param(["hello", "x", "--prepare", "--wait"], "--wait", id="wait-for-prepared"),
    ],
)
def test_arguments_of_submit_that_do_not_go_together_are_refused(
    program: Program, arguments: list[str], said: str
) -> None:
    done = program.run("submit", *arguments)

    assert done.code == 2
    assert said in done.err


def test_a_conversation_of_another_agent_is_refused(clerk: Program) -> None:
    first = clerk.run("submit", "hello", "one", "--json").document

    done = clerk.run("submit", "clerk", "two", "--conversation", first["conversation_id"])

    assert done.code == 2
    assert "is answered by 'hello', not 'clerk'" in done.err


def test_a_submitted_turn_can_be_waited_for(clerk: Program) -> None:
    worker = clerk.start("worker", "--threads", "1")
    try:
        done = clerk.run("submit", "hello", "good morning", "--wait")
    finally:
        worker.terminate()
        worker.communicate(timeout=60)

    assert (done.code, done.out) == (0, "Hello! You said: good morning\n")
