"""What a turn costs the database: commits, statements, and bytes that do not grow."""

from pathlib import Path

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.definitions.snapshot import ResolvedLimits
from runner.engine.authority import PolicyAuthority
from runner.engine.permits import Policing
from runner.runtime.agent import Agent
from runner.store.database import Database
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.contributors import no_function
from tests.fakes.tool import FakeTool
from tests.integration.engine.bench import Bench
from tests.store_helpers import counting
from tests.unit.definitions.projects import load

LIMITS = ResolvedLimits(max_iterations=200, max_tool_executions=400)


def make_looping_agent(requests: int, calls_each: int, recovery: Recovery) -> Agent:
    """An agent that is asked *requests* times, and calls tools each time but the last."""
    answers = [
        calls(*[("act", {"n": n}) for n in range(calls_each)], prefix=f"r{request}")
        for request in range(requests - 1)
    ]

    def act(arguments: JsonObject, _context: ToolContext) -> object:
        return {"n": arguments["n"]}

    tool = FakeTool("act", act, rules=ToolRules(recovery=recovery))
    return make_agent(FakeClient(*answers, says("Done.")), tool, limits=LIMITS)


@pytest.mark.parametrize("recovery", list(Recovery))
@pytest.mark.parametrize(("requests", "calls_each"), [(1, 0), (2, 1), (4, 3), (10, 2)])
def test_a_turn_commits_once_for_each_request_and_call_and_twice_more(
    store: Store, database: Database, requests: int, calls_each: int, recovery: Recovery
) -> None:
    bench = Bench(store, make_looping_agent(requests, calls_each, recovery))
    store.intake.save_definition(
        content_hash=bench.agent.content_hash, kind="agent", name="tester", body="{}"
    )
    executions = (requests - 1) * calls_each

    with counting(database) as counts:
        turn = bench.submit()
        bench.worker.work_on(turn.id)

    assert bench.read(turn.id).result == "Done."
    assert counts.commits <= requests + executions + 2
    # Submitting and claiming take at most 4 statements each, reading takes 2, ending looks once.
    assert counts.statements <= 4 * (requests + executions + 2) + 3


#: Both layers have rules that a call is held against, and that let it through on record.
POLICIES = {
    "config.yaml": (
        "authorization:\n"
        "  - name: top\n"
        "    rules:\n"
        "      - {effect: deny, tools: [mail], reason: No mail.}\n"
        "      - {effect: ask, when: 'has(arguments.n) && arguments.n > 99.0'}\n"
        "      - {effect: allow, tools: [act]}\n"
    ),
    "agents/zero.yaml": "description: None.\n",
}


@pytest.mark.parametrize("is_policed", [False, True])
@pytest.mark.parametrize(("requests", "calls_each"), [(1, 0), (2, 1), (4, 3), (10, 2)])
def test_policies_cost_a_turn_no_statement_and_no_commit(
    store: Store,
    database: Database,
    tmp_path: Path,
    requests: int,
    calls_each: int,
    is_policed: bool,  # noqa: FBT001 - a table
) -> None:
    agent = make_looping_agent(requests, calls_each, Recovery.UNKNOWN)
    project = load(tmp_path, POLICIES)
    authority = PolicyAuthority(
        project=lambda: project, snapshot=lambda _: agent.definition, function_of=no_function
    )
    bench = Bench(store, agent, policing=Policing(authority=authority) if is_policed else None)
    store.intake.save_definition(
        content_hash=agent.content_hash, kind="agent", name="tester", body="{}"
    )
    executions = (requests - 1) * calls_each

    with counting(database) as counts:
        turn = bench.submit()
        bench.worker.work_on(turn.id)

    assert bench.read(turn.id).result == "Done."
    assert bench.kinds(turn).count("policy.decided") == (executions if is_policed else 0)
    assert counts.commits == requests + executions + 2
    # As many as before there were policies.
    assert counts.statements == 4 * counts.commits + 2


def test_a_step_costs_the_same_late_in_a_long_conversation(
    store: Store, database: Database
) -> None:
    bench = Bench(store, make_agent(FakeClient(says("Word."))))
    turn = bench.run("First.")
    with counting(database) as early:
        turn = bench.run("Early.", after=turn)
    for number in range(40):
        turn = bench.run(f"Number {number}.", after=turn)

    with counting(database) as late:
        bench.run("Early.", after=turn)

    assert late.statements == early.statements
    assert late.commits == early.commits
    assert late.bytes_written <= early.bytes_written * 1.1


def test_a_long_turn_writes_as_much_in_its_last_step_as_in_its_first(
    store: Store, database: Database
) -> None:
    short = Bench(store, make_looping_agent(5, 1, Recovery.UNKNOWN))
    long = Bench(store, make_looping_agent(50, 1, Recovery.UNKNOWN))

    few = _bytes_written(short, database)
    many = _bytes_written(long, database)

    assert many / 50 <= few / 5 * 1.1


def _bytes_written(bench: Bench, database: Database) -> int:
    turn: Turn = bench.submit()
    with counting(database) as counts:
        bench.worker.work_on(turn.id)
    assert bench.read(turn.id).result == "Done."
    return counts.bytes_written
