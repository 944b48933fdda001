"""Skills that are loaded while a turn runs, on a real store."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.records import StepWrite
from runner.core.states import ExecutionStatus, Phase, TurnStatus
from runner.core.tooling import Recovery, ToolRules
from runner.definitions.resolved_skill import ResolvedSkill
from runner.definitions.skill import SkillFile
from runner.definitions.snapshot import ResolvedLimits
from runner.engine.preview import preview_turn
from runner.runtime.agent import Agent
from runner.store.store import Store
from runner.tools.skills import skill_tools
from tests.fakes.agents import make_agent
from tests.fakes.client import FakeClient, calls, says
from tests.fakes.journal import MortalJournal
from tests.fakes.skills import make_skill
from tests.fakes.tool import FakeTool
from tests.integration.clients.claude import claude
from tests.integration.engine.bench import Bench, assert_valid
from tests.servers.messages_api import messages_api
from tests.servers.replies import Reply, text, thinking, tool_use

Expire = Callable[[str], None]

COMPLETED, REFUSED = ExecutionStatus.COMPLETED, ExecutionStatus.REFUSED
OWN = ["look", "load_skill"]

#: Loading, two calls and four requests make as many commits after the claim.
COMMITS = 7


class World:
    """An agent with the tool `look`, and skills that bring tools of a name each."""

    def __init__(
        self,
        *answers: object,
        skills: tuple[ResolvedSkill, ...] = (make_skill("letters", "act"),),
        always: tuple[ResolvedSkill, ...] = (),
        rules: ToolRules | None = None,
        client: object = None,
        limits: ResolvedLimits | None = None,
    ) -> None:
        self.client = FakeClient(*answers)  # type: ignore[arg-type]  # answers of any kind
        self.look = FakeTool("look")
        self.tools = {
            tool.name: FakeTool(tool.name, rules=rules)
            for skill in (*skills, *always)
            for tool in skill.tools
        }
        base = make_agent(self.client, limits=limits).definition
        definition = base.model_copy(update={"skills": always, "available_skills": skills})
        self.agent = Agent.of(
            definition,
            client=client or self.client,  # type: ignore[arg-type]  # a client of any kind
            tools={
                "look": self.look,
                **{tool.name: self.tools[tool.name] for one in always for tool in one.tools},
                **{tool.spec.name: tool for tool in skill_tools(definition, Path())},
            },
            loadable={
                skill.name: {tool.name: self.tools[tool.name] for tool in skill.tools}
                for skill in skills
            },
        )

    def offered(self) -> list[list[str]]:
        """The names of the tools of each request."""
        return [[tool.name for tool in request.tools] for request in self.client.requests]


def load(name: str = "letters") -> tuple[str, JsonObject]:
    return "load_skill", {"name": name}


def test_a_skill_s_tools_are_there_from_its_loading_to_the_end_of_the_turn(store: Store) -> None:
    world = World(
        calls(load(), prefix="a"),
        calls(("act", {"n": 1}), prefix="b"),
        says("Done."),
        calls(("act", {"n": 2}), prefix="c"),
        says("I have to load it first."),
    )
    bench = Bench(store, world.agent)

    first = bench.run()
    second = bench.run("Again.", after=first)

    assert (first.result, second.result) == ("Done.", "I have to load it first.")
    assert world.offered() == [OWN, [*OWN, "act"], [*OWN, "act"], OWN, OWN]
    assert world.tools["act"].calls == [{"n": 1}]
    loaded, _, refused = bench.results(second)
    assert loaded.content["text"] == "Be brief."
    assert [run.status for run in bench.executions(second)] == [REFUSED]
    assert "call load_skill with the name 'letters' first" in str(refused.content)
    assert second.tool_executions == 0


def test_what_is_sent_begins_as_before_and_thinking_is_bound_to_what_there_was(
    store: Store,
) -> None:
    world = World(
        says("Hello."),
        calls(load(), prefix="a"),
        calls(("act", {}), prefix="b"),
        says("Done."),
        says("Hm."),
    )
    bench = Bench(store, world.agent)
    begun = bench.run()

    bench.run("Again.", after=bench.run("Go on.", after=begun))

    _, first, second, third, fourth = world.client.requests
    assert first.system == second.system == third.system == fourth.system
    assert first.prefix == fourth.prefix != second.prefix == third.prefix
    assert second.tools[: len(first.tools)] == first.tools == fourth.tools
    assert second.messages[: len(first.messages)] == first.messages
    assert third.messages[: len(second.messages)] == second.messages
    answers = [message for message in fourth.messages if message.origin is not None]
    assert [answer.origin.prefix for answer in answers if answer.origin] == [
        world.client.requests[0].prefix,
        first.prefix,
        second.prefix,
        second.prefix,
    ]


def test_a_skill_without_tools_changes_nothing_but_the_transcript(store: Store) -> None:
    world = World(calls(load()), says("Done."), skills=(make_skill("letters"),))

    Bench(store, world.agent).run()

    first, second = world.client.requests
    assert (first.prefix, first.tools, first.system) == (
        second.prefix,
        second.tools,
        second.system,
    )


def test_a_tool_can_follow_its_skill_in_one_answer_and_not_come_before_it(store: Store) -> None:
    world = World(calls(("act", {"n": 1}), load(), ("act", {"n": 2})), says("Done."))
    bench = Bench(store, world.agent)

    turn = bench.run()

    assert [run.status for run in bench.executions(turn)] == [REFUSED, COMPLETED, COMPLETED]
    assert world.tools["act"].calls == [{"n": 2}]
    assert turn.tool_executions == 2


@pytest.mark.parametrize("name", ["other", 3, None])
def test_what_cannot_be_loaded_loads_nothing(store: Store, name: object) -> None:
    arguments: JsonObject = {"name": name}  # type: ignore[dict-item]  # whatever a model writes
    world = World(calls(("load_skill", arguments), ("act", {})), says("Done."))
    bench = Bench(store, world.agent)

    turn = bench.run()

    assert [run.status for run in bench.executions(turn)] == [REFUSED, REFUSED]
    assert world.tools["act"].calls == []


def test_loading_over_the_limit_loads_nothing(store: Store) -> None:
    limits = ResolvedLimits(max_tool_executions_by_name={"load_skill": 1})
    skills = (make_skill("a", "act"), make_skill("b", "go"))
    world = World(
        calls(load("a"), load("b"), ("go", {})), says("Done."), skills=skills, limits=limits
    )
    bench = Bench(store, world.agent)

    turn = bench.run()

    assert [run.status for run in bench.executions(turn)] == [COMPLETED, REFUSED, REFUSED]
    assert world.offered()[-1] == [*OWN, "act"]


def test_an_unknown_tool_is_answered_with_those_that_are_there(store: Store) -> None:
    world = World(calls(("acct", {}), load(), ("acct", {})), says("Done."))
    bench = Bench(store, world.agent)

    before, _, after = bench.results(bench.run())

    assert "act" not in str(before.content).replace("acct", "")
    assert "act" in str(after.content).replace("acct", "")


def test_a_loaded_skill_takes_tools_away_until_the_turn_ends(store: Store) -> None:
    skills = (make_skill("letters", "act", allowed=()),)
    world = World(
        calls(("look", {"n": 1}), load(), ("look", {"n": 2}), ("act", {}), prefix="a"),
        says("Done."),
        calls(("look", {"n": 3}), prefix="b"),
        says("Done."),
        skills=skills,
    )
    bench = Bench(store, world.agent)

    first = bench.run()
    bench.run("Again.", after=first)

    assert [run.status for run in bench.executions(first)] == [
        COMPLETED,
        COMPLETED,
        REFUSED,
        COMPLETED,
    ]
    assert world.look.calls == [{"n": 1}, {"n": 3}]
    assert "while the skill 'letters' is in force" in str(bench.results(first)[2].content)


def test_a_preloaded_skill_takes_tools_away_and_loading_gives_none_back(store: Store) -> None:
    world = World(
        calls(load("wide"), ("look", {}), ("go", {}), ("own", {})),
        says("Done."),
        skills=(make_skill("wide", "go", allowed=("look", "go", "own")),),
        always=(make_skill("strict", "own", allowed=("go",)),),
    )
    bench = Bench(store, world.agent)

    turn = bench.run()

    assert [run.status for run in bench.executions(turn)] == [
        COMPLETED,
        REFUSED,
        COMPLETED,
        COMPLETED,
    ]
    assert world.offered()[0] == ["look", "own", "load_skill"]


def test_files_are_read_once_the_skill_is_loaded(store: Store) -> None:
    file = SkillFile(path="a.md", sha256="")
    skill = make_skill("letters", folder="nowhere", files=(file,))
    read: tuple[str, JsonObject] = ("read_skill_file", {"skill": "letters", "path": "a.md"})
    world = World(calls(read, load(), read), says("Done."), skills=(skill,))
    bench = Bench(store, world.agent)

    turn = bench.run()

    assert [run.status for run in bench.executions(turn)] == [
        REFUSED,
        COMPLETED,
        ExecutionStatus.FAILED,
    ]
    early, _, late = bench.results(turn)
    assert "is not loaded in this turn" in str(early.content)
    assert "is not there any more" in str(late.content)


@pytest.mark.parametrize("before", [False, True], ids=["after", "before"])
@pytest.mark.parametrize("number", range(1, COMMITS + 1))
@pytest.mark.parametrize("recovery", Recovery)
def test_a_loaded_skill_s_tools_still_work_after_the_worker_died(
    store: Store, expire_lease: Expire, recovery: Recovery, number: int, *, before: bool
) -> None:
    world = World(
        calls(load(), prefix="a"),
        calls(("act", {"n": 1}), prefix="b"),
        calls(("act", {"n": 2}), prefix="c"),
        says("Done."),
        rules=ToolRules(recovery=recovery),
    )
    journal = MortalJournal(store.journal, number=number, before=before)
    first, second = Bench(store, world.agent, journal=journal), Bench(store, world.agent)
    turn = first.submit()

    first.die_on(turn)
    if not first.read(turn.id).status.is_ended:
        expire_lease(turn.id)
        store.sweeps.release_expired(limit=10)
        if before and world.client.requests and first.read(turn.id).phase is Phase.MODEL:
            world.client.put_back()
        second.work_on(turn)
    turn = second.read(turn.id)

    assert turn.status is TurnStatus.COMPLETED
    assert turn.result == "Done."
    assert_valid(second.messages(turn))
    statuses = [run.status for run in second.executions(turn)]
    assert statuses[0] is COMPLETED
    assert REFUSED not in statuses
    assert world.offered()[-1] == [*OWN, "act"]


def test_a_death_while_loading_leaves_the_skill_to_be_loaded_again(
    store: Store, expire_lease: Expire
) -> None:
    world = World(calls(load()), says("Done."))
    journal = MortalJournal(store.journal, number=2, before=True)
    seen: list[list[ExecutionStatus]] = []

    def look(write: StepWrite) -> None:
        seen.append([run.status for run in store.journal.executions(write.turn.id)])

    journal.on_commit = look
    first, second = Bench(store, world.agent, journal=journal), Bench(store, world.agent)
    turn = first.submit()

    first.die_on(turn)
    expire_lease(turn.id)
    store.sweeps.release_expired(limit=10)
    turn = second.work_on(turn)

    assert seen[-1] == [ExecutionStatus.READY]
    assert [run.status for run in second.executions(turn)] == [COMPLETED]
    assert world.offered()[-1] == [*OWN, "act"]


def test_the_preview_is_the_first_request_with_all_that_skills_bring(store: Store) -> None:
    world = World(says("Done."), always=(make_skill("knots", "knot"),))
    bench = Bench(store, world.agent)
    turn = bench.run()

    shown = preview_turn(
        turn, world.agent, bench.messages(turn)[:1], now=bench.clock.now(), with_context=True
    )

    assert shown.request == world.client.render(world.client.requests[0])
    names = [size.name for size in shown.sizes]
    assert [name for name in names if name.startswith("tools.")] == [
        "tools.look",
        "tools.knot",
        "tools.load_skill",
    ]
    assert {"system.skills", "system.available_skills"} <= set(names)


def test_a_provider_that_binds_thinking_refuses_none_of_it(store: Store) -> None:
    """Thinking is sent before, between and after; the server takes back only what it may."""
    replies = [
        Reply(content=[text("Hello.")]),
        Reply(content=[thinking("a"), tool_use("look", {})], stop_reason="tool_use"),
        Reply(
            content=[thinking("b"), tool_use("load_skill", {"name": "letters"})],
            stop_reason="tool_use",
        ),
        Reply(content=[thinking("c"), tool_use("act", {})], stop_reason="tool_use"),
        Reply(content=[thinking("d"), text("Done.")]),
        Reply(content=[thinking("e"), tool_use("look", {})], stop_reason="tool_use"),
        Reply(
            content=[thinking("f"), tool_use("load_skill", {"name": "letters"})],
            stop_reason="tool_use",
        ),
        Reply(content=[thinking("g"), tool_use("act", {})], stop_reason="tool_use"),
        Reply(content=[thinking("h"), text("Done.")]),
        Reply(content=[thinking("i"), text("Done.")]),
    ]
    with messages_api(replies) as server:
        world = World(client=claude(server))
        agent = world.agent
        model = agent.definition.model.model_copy(update={"model": "claude-sonnet-5-5"})
        definition = agent.definition.model_copy(update={"model": model})
        agent = Agent.of(
            definition,
            client=claude(server),
            tools={name: agent.tools[name] for name in OWN},
            loadable={"letters": {"act": agent.tools["act"]}},
        )
        bench = Bench(store, agent)

        begun = bench.run()
        first = bench.run("Go on.", after=begun)
        second = bench.run("Again.", after=first)
        third = bench.run("And again.", after=second)

    assert [turn.status for turn in (first, second, third)] == [TurnStatus.COMPLETED] * 3
    assert len(server.requests) == len(replies)
    thoughts = [
        "".join(
            block["thinking"]
            for message in request.body["messages"]
            for block in message["content"]
            if block["type"] == "thinking"
        )
        for request in server.requests
    ]
    assert thoughts == ["", "", "a", "", "c", "ab", "abe", "cd", "cdg", "abef"]
