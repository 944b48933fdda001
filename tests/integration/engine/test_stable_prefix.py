"""Requests of a long conversation, each of which begins with the bytes of the one before."""

import json
import re
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

from runner.core.messages import Role
from runner.core.records import Turn, TurnKind
from runner.core.states import ExecutionStatus, TurnStatus
from runner.engine.authority import PolicyAuthority
from runner.engine.permits import Policing
from runner.runtime.agent import Agent
from runner.store.store import Store
from runner.tools.skills import skill_tools
from tests.fakes.agents import make_agent
from tests.fakes.contributors import FakeContributors, no_function
from tests.fakes.skills import make_skill
from tests.fakes.tool import FakeTool
from tests.integration.clients.claude import claude
from tests.integration.engine.asking import approve, open_approvals
from tests.integration.engine.bench import Bench, assert_valid
from tests.servers.messages_api import MessagesApi, messages_api
from tests.servers.replies import Json, Reply, text, thinking, tool_use
from tests.unit.definitions.projects import load

_MARK: Final = re.compile(rb', "cache_control": \{"type": "ephemeral"\}')

POLICIES: Final = """\
authorization:
  - name: top
    rules:
      - {effect: deny, tools: [mail], reason: No mail.}
      - {effect: ask, tools: [pay], actions: [tool]}
"""

#: The tools that are called in each turn, one in each answer but the last.
TURNS: Final = [
    [],
    ["look"],
    ["mail"],
    ["pay", "look"],
    ["load_skill", "act", "mail"],
    ["look", "act"],
    [],
    ["load_skill", "act"],
    ["mail", "look"],
    [],
]


def replies() -> list[Reply]:
    """Give each answer a thought of its own, to be bound to what it was thought with."""
    found: list[Reply] = []
    for number, tools in enumerate(TURNS):
        for step, tool in enumerate(tools):
            arguments = {"name": "letters"} if tool == "load_skill" else {}
            content = [thinking(f"<{number}.{step}>"), tool_use(tool, arguments)]
            found.append(Reply(content=content, stop_reason="tool_use"))
        found.append(Reply(content=[thinking(f"<{number}>"), text("Done.")]))
    return found


def make(server: MessagesApi) -> tuple[Agent, FakeTool]:
    """An agent with live context that changes, a skill to load, and tools of each kind."""
    tools = [FakeTool(name) for name in ("look", "mail", "pay")]
    mail, act = tools[1], FakeTool("act")
    base = make_agent(claude(server), *tools).definition
    model = base.model.model_copy(update={"model": "claude-sonnet-5-5", "max_tokens": 8000})
    skills = (make_skill("letters", "act"),)
    definition = base.model_copy(update={"model": model, "available_skills": skills})
    every = {tool.spec.name: tool for tool in (*tools, *skill_tools(definition, Path()))}
    agent = Agent.of(
        definition, client=claude(server), tools=every, loadable={"letters": {"act": act}}
    )
    changes: list[str | Exception] = [f"Level {number // 3} <is> it." for number in range(60)]
    return replace(agent, contributors=FakeContributors(changes)), mail


def converse(bench: Bench) -> list[Turn]:
    """Have the ten turns, with somebody who approves what is asked."""
    turns: list[Turn] = []
    for number in range(len(TURNS)):
        thread = turns[-1].conversation_id if turns else None
        order = bench.order(f"Question {number}?", conversation_id=thread)
        turn = bench.work_on(bench.reception.submit(replace(order, kind=TurnKind.CHAT)))
        for approval in open_approvals(bench, turn):
            approve(bench, approval)
            turn = bench.work_on(turn)
        turns.append(turn)
    return turns


def whole(body: Json) -> bytes:
    """Write a request without the marks of the cache, which move on with the conversation."""
    return _MARK.sub(b"", json.dumps(body).encode()).removesuffix(b"]}")


def unthought(body: Json) -> bytes:
    """Write what is said in a request, without what was thought."""
    said = [
        [message["role"], [block for block in message["content"] if block["type"] != "thinking"]]
        for message in body["messages"]
    ]
    return _MARK.sub(b"", json.dumps(said).encode()).removesuffix(b"]")


def test_ten_turns_with_context_skills_denials_and_approvals_only_ever_append(
    store: Store, tmp_path: Path
) -> None:
    project = load(tmp_path, {"config.yaml": POLICIES, "agents/zero.yaml": "description: None.\n"})
    with messages_api(replies()) as server:
        agent, mail = make(server)
        authority = PolicyAuthority(
            project=lambda: project, snapshot=lambda _: agent.definition, function_of=no_function
        )
        bench = Bench(store, agent, policing=Policing(authority=authority))
        turns = converse(bench)

    assert {turn.status for turn in turns} == {TurnStatus.COMPLETED}
    assert [request.fault for request in server.refused] == []
    bodies: list[Json] = [request.body for request in server.requests]
    assert len(bodies) == sum(len(tools) + 1 for tools in TURNS)

    # The instructions never change, and tools only come on top, for as long as a skill is loaded.
    assert len({json.dumps(body["system"]) for body in bodies}) == 1
    by_tools: dict[tuple[str, ...], list[Json]] = defaultdict(list)
    for body in bodies:
        by_tools[tuple(tool["name"] for tool in body["tools"])].append(body)
    without, loaded = sorted(by_tools, key=len)
    assert loaded == (*without, "act")
    assert len(by_tools[loaded]) == 5

    # With the same tools a request begins with all bytes of the one before it.
    for same in by_tools.values():
        for before, after in pairwise(same):
            assert whole(after).startswith(whole(before))
    # Whatever the tools, nothing that was said is ever said otherwise.
    for before, after in pairwise(bodies):
        assert unthought(after).startswith(unthought(before))

    # And all that could have moved it did happen.
    last = turns[-1]
    told = [m.text for m in bench.messages(last) if m.role is Role.CONTEXT]
    assert len(told) == len(set(told)) > 3
    statuses = {run.tool: run.status for turn in turns for run in bench.executions(turn)}
    assert (statuses["mail"], mail.calls) == (ExecutionStatus.REFUSED, [])
    assert statuses["pay"] is ExecutionStatus.COMPLETED
    assert_valid(bench.messages(last))
