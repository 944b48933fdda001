"""The example of agents that work together: in one process, through a worker, and with Claude."""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import pytest

from runner import Runner
from runner.core.ids import TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Role
from runner.core.model import Delta
from runner.core.records import NewEvent, Turn
from runner.core.states import TurnStatus
from tests.acceptance.example_commands import PROGRAM, command, with_claude, worker
from tests.example_project import OFFLINE, ExampleProject
from tests.servers.messages_api import messages_api
from tests.servers.replies import Reply, call, say, text, thinking, tool_use
from tests.waiting import until

TASK = "Edit the draft harbour_light.md."
WISH = "Keep it to one sentence."


class Onlooker:
    """Does something whenever an agent's model has answered, before the agent goes on."""

    def __init__(self, act: Callable[[Turn], None]) -> None:
        self._act = act
        self.runner: Runner

    def on_event(self, turn_id: TurnId, event: NewEvent) -> None:
        if event.kind == "model.responded":
            self._act(self.runner.turn(turn_id))

    def on_delta(self, turn_id: TurnId, delta: Delta) -> None:
        """Look away."""


@contextmanager
def watched(example: ExampleProject, act: Callable[[Turn], None]) -> Iterator[Runner]:
    """Open the project with scripts that lose no time, and somebody who looks on."""
    for script in (example.root / "agents" / "_offline").iterdir():
        script.write_text(re.sub(r"delay: \w+", "delay: 1ms", script.read_text("utf-8")))
    onlooker = Onlooker(act)
    with Runner(example.config, environ=OFFLINE, observer=onlooker) as runner:
        onlooker.runner = runner
        yield runner


def look_on(_turn: Turn) -> None:
    """Do nothing."""


def children(runner: Runner, turn: Turn) -> dict[str, Turn]:
    """The turns below one, by agent; there is one of each."""
    below = [each for each in runner.tree(turn.id) if each.id != turn.id]
    assert len({each.agent for each in below}) == len(below)
    return {each.agent: each for each in below}


def everything_said(runner: Runner, turns: Sequence[Turn]) -> list[str]:
    said = [m.text for turn in turns for m in runner.messages(turn.conversation_id)]
    asked = [json.dumps(run.arguments) for turn in turns for run in runner.executions(turn.id)]
    return [*said, *asked]


def verdicts_of(turn: Turn) -> list[dict[str, str]]:
    assert isinstance(turn.output_data, dict)
    verdicts: Any = turn.output_data["verdicts"]
    return list(verdicts)


def test_two_work_at_the_same_time_and_a_third_is_launched(example: ExampleProject) -> None:
    both, met = Barrier(2, timeout=60), list[str]()

    def meet(turn: Turn) -> None:
        if turn.agent in {"researcher", "fact_checker"} and turn.agent not in met:
            met.append(turn.agent)
            both.wait()

    with watched(example, meet) as runner:
        turn = runner.run("editor", TASK)
        below = children(runner, turn)
        tools = [run.tool for run in runner.executions(turn.id)]

    assert turn.status is TurnStatus.COMPLETED
    assert not both.broken
    assert set(below) == {"researcher", "fact_checker", "archivist"}
    assert tools == ["read_draft", "researcher", "fact_checker", "save_article", "launch_agent"]
    assert below["archivist"].callback_to == turn.conversation_id


def test_the_article_is_made_of_what_the_others_found(example: ExampleProject) -> None:
    with watched(example, look_on) as runner:
        turn = runner.run("editor", TASK)
        below = children(runner, turn)
        said = everything_said(runner, [turn, *below.values()])

    (article,) = (example.root / "out" / "articles").iterdir()
    written = article.read_text("utf-8")
    assert f"Saved {article.relative_to(example.root)}" in (turn.result or "")
    verdicts = verdicts_of(below["fact_checker"])
    assert all(each["evidence"] in written for each in verdicts if "|" not in each["evidence"])
    assert any((below["researcher"].result or "x") in each for each in said)
    assert not any(re.search(r"\{(task|input|last_result)", each) for each in said)


def test_the_verdicts_are_on_the_draft_and_quote_the_archive(example: ExampleProject) -> None:
    data = example.root / "agents" / "data"
    draft = (data / "drafts" / "harbour_light.md").read_text("utf-8")

    with watched(example, look_on) as runner:
        verdicts = verdicts_of(children(runner, runner.run("editor", TASK))["fact_checker"])

    for each in verdicts:
        figures = re.findall(r"\d[\d,]*", each["claim"])
        assert all(figure in draft for figure in figures)
        assert each["evidence"] in (data / "archive" / each["file"]).read_text("utf-8")
        held = all(figure in each["evidence"] for figure in figures)
        assert each["verdict"] == ("true" if figures and held else "false")


def test_a_steer_while_the_others_work_is_heeded_with_what_they_found(
    example: ExampleProject,
) -> None:
    def interrupt(turn: Turn) -> None:
        if turn.agent == "researcher" and turn.place.parent_id:
            runner.steer(turn.place.parent_id, WISH, key="wish")

    with watched(example, interrupt) as runner:
        turn = runner.run("editor", TASK)
        below = children(runner, turn)
        messages = runner.messages(turn.conversation_id)
        said = everything_said(runner, [turn])

    wish = next(message for message in messages if message.text == WISH)
    (article,) = (example.root / "out" / "articles").iterdir()
    assert turn.status is TurnStatus.COMPLETED
    assert set(below) == {"researcher", "fact_checker", "archivist"}
    assert [message.text for message in messages].count(WISH) == 1
    before = [message.role for message in messages[: messages.index(wish)]]
    assert before[-2:] == [Role.TOOL, Role.TOOL]
    assert "owed its first evening" in article.read_text("utf-8")
    assert not any("{last_result" in each for each in said)


def test_a_steer_before_the_others_work_has_them_work_once(example: ExampleProject) -> None:
    def interrupt(turn: Turn) -> None:
        if turn.agent == "editor" and turn.iterations == 1:
            runner.steer(turn.id, WISH, key="wish")

    with watched(example, interrupt) as runner:
        turn = runner.run("editor", TASK)
        below = children(runner, turn)

    assert turn.status is TurnStatus.COMPLETED
    assert set(below) == {"researcher", "fact_checker", "archivist"}
    assert "owed its first evening" in (turn.result or "")


def test_a_worker_of_two_threads_does_it_all_and_the_report_comes_back_once(
    example: ExampleProject,
) -> None:
    with worker(example, "--threads", "2"), Runner(example.config, environ=OFFLINE) as runner:
        shown = command(example, str(PROGRAM), "submit", "editor", TASK, "--wait")
        # The report may have come already, and its turn is newer.
        turn = [each for each in runner.turns() if each.agent == "editor"][-1]
        conversation = turn.conversation_id
        until(lambda: runner.inbox(conversation), "the archivist's report")
        (report,) = runner.inbox(conversation)
        answer = runner.wait(report.turn_id)
        runner.reconcile()
        below = children(runner, turn)
        reports = runner.inbox(conversation)
        sent = runner.outbox(below["archivist"].conversation_id)

    assert shown.returncode == 0, shown.stderr
    assert "Saved out/articles/" in shown.stdout
    both = [below["researcher"], below["fact_checker"]]
    assert max(started(each) for each in both) < min(ended(each) for each in both)
    assert reports == sent == [report]
    assert report.key == f"callback:{below['archivist'].id}"
    (card,) = (example.root / "out" / "articles").glob("*.json")
    mark = json.loads(card.read_text("utf-8"))["mark"]
    assert f"has the mark {mark}" in (answer.result or "")


def started(turn: Turn) -> float:
    assert turn.started_at
    return turn.started_at.timestamp()


def ended(turn: Turn) -> float:
    assert turn.ended_at
    return turn.ended_at.timestamp()


def test_a_running_worker_heeds_a_steer(example: ExampleProject) -> None:
    with worker(example), Runner(example.config, environ=OFFLINE) as runner:
        turn = runner.submit("editor", TASK)
        until(lambda: len(runner.tree(turn.id)) > 1, "the sub-agents")
        runner.steer(turn.id, WISH)
        result = runner.wait(turn.id).result
        texts = [message.text for message in runner.messages(turn.conversation_id)]

    assert WISH in texts
    assert f"As you wish: {WISH}" in texts
    assert "owed its first evening" in (result or "")


def claude(body: dict[str, Any]) -> Reply:
    """Answer whoever asks: each is known by the tools it has."""
    tools = {tool["name"] for tool in body["tools"]}
    answered: int = sum(message["role"] == "assistant" for message in body["messages"])
    if "save_article" in tools:
        return EDITOR[answered]
    if body.get("output_config", {}).get("format"):
        return say(json.dumps({"verdicts": [VERDICT]}))
    return say("It was late.")


VERDICT: JsonObject = {
    "claim": "It was first lit in 1879.",
    "verdict": "false",
    "evidence": "First lit on 12 October 1874",
    "file": "register_of_lights.md",
}
EDITOR = [
    call("read_draft", {"path": "harbour_light.md"}),
    Reply(
        content=[
            thinking(),
            text("Both at once."),
            tool_use("researcher", {"task": "What is known of the evening?"}),
            tool_use(
                "fact_checker",
                {"task": "Check this.", "input": {"claims": ["It was first lit in 1879."]}},
            ),
        ],
        stop_reason="tool_use",
    ),
    call("save_article", {"headline": "Late", "text": "The light was late."}),
    call(
        "launch_agent",
        {
            "agent": "archivist",
            "task": "File it.",
            "input": {"path": "out/articles/x.md"},
            "callback": True,
        },
    ),
    say("All done."),
]


def test_the_editor_works_with_claude(example: ExampleProject) -> None:
    with messages_api(claude) as server, with_claude(example, server.url) as runner:
        turn = runner.run("editor", TASK)
        below = children(runner, turn)

    assert (turn.status, turn.result) == (TurnStatus.COMPLETED, "All done.")
    assert below["researcher"].result == "It was late."
    assert verdicts_of(below["fact_checker"]) == [VERDICT]
    assert set(below) == {"researcher", "fact_checker", "archivist"}
    assert not server.refused


@pytest.mark.parametrize("agent", ["researcher", "fact_checker", "archivist"])
def test_who_works_for_the_editor_can_be_asked_directly(
    example: ExampleProject, agent: str
) -> None:
    with watched(example, look_on) as runner:
        preview = runner.preview(agent, "Go on.", input=INPUTS.get(agent))

    assert preview.request.body["messages"]


INPUTS: dict[str, JsonObject] = {
    "fact_checker": {"claims": ["It was first lit in 1879."]},
    "archivist": {"path": "out/articles/x.md"},
}
