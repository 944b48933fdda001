"""The command that shows a request without sending it."""

import pytest

from tests.program import Program
from tests.servers import replies
from tests.servers.messages_api import messages_api

CLAUDE = """\
clients: {{anthropic: {{type: anthropic, api_key: key, base_url: "{url}"}}}}
models: {{default: {{client: anthropic, model: claude-sonnet-5-5}}}}
"""


def test_the_preview_shows_the_request_and_how_large_it_is(program: Program) -> None:
    done = program.run("preview", "hello", "good morning")

    assert done.code == 0
    assert "Answer with a greeting." in done.out
    assert "good morning" in done.out
    assert "\\n" not in done.out
    assert done.out.splitlines()[-1].startswith("total")
    assert not (program.root / "runner.db").exists()


def test_the_sizes_of_a_preview_are_shown_by_themselves(program: Program) -> None:
    shown = program.run("preview", "hello", "good morning", "--sizes")
    sizes = program.run("preview", "hello", "good morning", "--sizes", "--json").document

    assert "Answer with a greeting." not in shown.out
    first, *rows = [line.split() for line in shown.out.splitlines()]
    assert first[:2] == ["PIECE", "CHARACTERS"]
    assert [row[0] for row in rows] == [*(size["name"] for size in sizes), "total"]
    assert rows[-1][1].replace(",", "") == str(sum(size["characters"] for size in sizes))
    assert {"system.agent", "system.task", "messages.user", "context.environment"} <= {
        size["name"] for size in sizes
    }
    assert all(0 < size["estimated_tokens"] < size["characters"] for size in sizes)


def test_the_preview_of_a_task_and_of_a_conversation_differ(program: Program) -> None:
    task = program.run("preview", "hello", "hi", "--json").document
    chat = program.run("preview", "hello", "hi", "--chat", "--json").document

    assert task["system"] != chat["system"]


def test_the_preview_of_a_prepared_turn_is_that_of_its_task(program: Program) -> None:
    turn_id = program.run("submit", "hello", "good morning", "--prepare").out.strip()

    stored = program.run("preview", "--turn", turn_id, "--json")

    assert stored.out == program.run("preview", "hello", "good morning", "--json").out


def test_the_preview_of_a_prepared_turn_is_its_first_request_byte_for_byte(
    program: Program,
) -> None:
    with messages_api([replies.say("Good morning!")]) as server:
        program.write("config.yaml", CLAUDE.format(url=server.url))
        turn_id = program.run("submit", "hello", "Grüße 日本", "--prepare").out.strip()
        previewed = program.run("preview", "--turn", turn_id, "--json").out.rstrip("\n")
        worker = program.start("worker", "--threads", "1")
        try:
            program.run("submit", "--turn", turn_id, "--wait")
        finally:
            worker.terminate()
            worker.communicate(timeout=60)

    assert [request.raw.decode() for request in server.requests] == [previewed]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param([], "name an agent and a task, or a stored turn", id="nothing"),
        pytest.param(["hello", "--turn", "t"], "name an agent and a task", id="both"),
        pytest.param(["--turn", "t", "--chat"], "kind already", id="turn-and-kind"),
    ],
)
def test_arguments_of_preview_that_do_not_go_together_are_refused(
    program: Program, arguments: list[str], said: str
) -> None:
    done = program.run("preview", *arguments)

    assert done.code == 2
    assert said in done.err
