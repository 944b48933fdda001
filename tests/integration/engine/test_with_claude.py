"""Whole conversations of the engine with Claude's client, none of whose requests is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.records import Turn
from runner.core.states import TurnStatus
from runner.core.tooling import Recovery, ToolContext, ToolRules
from runner.runtime.agent import Agent
from runner.store.store import Store
from tests.fakes.agents import make_agent
from tests.fakes.journal import MortalJournal
from tests.fakes.tool import FakeTool
from tests.integration.clients.claude import claude
from tests.integration.engine.bench import Bench, assert_valid
from tests.servers.messages_api import MessagesApi, messages_api
from tests.servers.replies import (
    Answer,
    BreakOff,
    Cut,
    EndEarly,
    Json,
    Refusal,
    Reply,
    redacted_thinking,
    text,
    thinking,
    tool_use,
)

Mark = Callable[[str], None]

CONVERSATIONS = 5
TURNS = 12
RESULTS: tuple[object, ...] = (
    None, "", "ok", {}, {"content": ""}, b"\xff", "\ud800\x00", float("nan"), [], SystemExit(3),
    OSError(""), "x" * 50_000,
)  # fmt: skip
SCHEMA: JsonObject = {"type": "object", "required": ["n"], "properties": {"n": {"minimum": 1}}}


@dataclass(frozen=True)
class Provider:
    """Answers each request with whatever may come of it."""

    chance: Random

    def __call__(self, _body: Json) -> Answer:
        return self.chance.choices(
            [self._calls, self._words, self._nothing, self._half, self._failure], [8, 3, 1, 1, 2]
        )[0]()

    def _thoughts(self) -> list[dict[str, object]]:
        some = [thinking(self.chance.choice(["", "Hm."])), redacted_thinking(), text(" \n")]
        return [block for block in some if self.chance.random() < 0.4]

    def _calls(self) -> Reply:
        names = self.chance.choices(
            ["act", "act_safely", "note", "save", "unknown"], [6, 6, 3, 1, 1], k=4
        )
        wanted = [tool_use(name, self.chance.choice([{"n": 1}, None])) for name in names]
        return Reply(
            content=[*self._thoughts(), *wanted[: self.chance.randint(1, 4)]],
            stop_reason="tool_use",
        )

    def _words(self) -> Reply:
        said = self.chance.choice(["Done.", '{"n": 3}', '{"n": 0}'])
        return Reply(content=[*self._thoughts(), text(said)])

    def _nothing(self) -> Reply:
        return Reply(content=self._thoughts())

    def _half(self) -> Reply:
        reason = self.chance.choice(["max_tokens", "refusal", "model_context_window_exceeded"])
        half = tool_use("act", json='{"n": ')
        return Reply(content=[*self._thoughts(), half], stop_reason=reason)

    def _failure(self) -> Answer:
        soon = {"retry-after": "0.01"}
        failures: list[Answer] = [
            Refusal(status=429, type="rate_limit_error", headers=soon),
            Refusal(status=500, type="api_error", headers=soon),
            Refusal(status=529, type="overloaded_error", headers=soon),
            *(
                Reply(content=[*self._thoughts(), text("Never.")], fault=fault)
                for fault in (Cut(2), EndEarly(3), BreakOff(2))
            ),
        ]
        return self.chance.choice(failures)


def make_claude(server: MessagesApi, chance: Random) -> Agent:
    """An agent that asks *server*, with tools that return and raise anything."""

    def act(_arguments: JsonObject, _context: ToolContext) -> object:
        result = chance.choice(RESULTS)
        if isinstance(result, BaseException):
            raise result
        return result

    def note(_arguments: JsonObject, context: ToolContext) -> object:
        context.append_message("A note.")
        return "noted"

    agent = make_agent(
        claude(server),
        FakeTool("act", act, requires=("n",)),
        FakeTool("act_safely", act, rules=ToolRules(recovery=Recovery.REPLAY_SAFE)),
        FakeTool("note", note),
        FakeTool("save", rules=ToolRules(terminal=True)),
        output_schema=chance.choice([None, SCHEMA]),
    )
    model = agent.definition.model.model_copy(
        update={"client": "anthropic", "model": "claude-sonnet-5-5", "max_tokens": 8000}
    )
    definition = agent.definition.model_copy(update={"model": model})
    return Agent.of(definition, client=agent.client, tools=agent.tools)


@pytest.mark.parametrize("seed", range(CONVERSATIONS))
def test_no_request_breaks_a_rule_whatever_became_of_those_before_it(
    store: Store, expire_lease: Mark, make_due: Mark, seed: int
) -> None:
    chance = Random(seed)  # noqa: S311 - conversations that can be had again
    turn: Turn | None = None
    failures = set[str]()

    with messages_api(Provider(chance)) as server:
        agent = make_claude(server, chance)
        bench = Bench(store, agent)
        for _ in range(TURNS):
            turn = bench.submit("Go.", after=turn)
            while not (found := bench.read(turn.id)).status.is_ended:
                if found.status is TurnStatus.RUNNING:
                    expire_lease(turn.id)
                    store.sweeps.release_expired(limit=10)
                make_due(turn.id)
                journal = MortalJournal(
                    store.journal, number=chance.randint(1, 12), before=chance.random() < 0.5
                )
                Bench(store, agent, journal=journal, max_claims=100).die_on(turn)
            failures |= {found.error.code} if found.error else set()

    assert turn is not None
    assert [request.fault for request in server.refused] == []
    assert len(server.requests) > TURNS
    assert "model_rejected" not in failures  # as a client calls what it does not even send
    assert_valid(bench.messages(turn))
