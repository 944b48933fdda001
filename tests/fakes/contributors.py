"""Contributors made in code, and turns to ask them for."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

from runner.context.surroundings import Surroundings
from runner.core.clock import Clock, SystemClock
from runner.core.contributing import Contribution, ContributorContext, Gathered, Skipped, Subject
from runner.core.errors import ConfigError
from runner.core.ids import ConversationId, TurnId
from runner.core.jsonvalue import JsonObject
from runner.core.tooling import Cancellation
from runner.outbound.addresses import Reach
from runner.outbound.databases import ReadOnlyDatabase
from runner.outbound.limit import Limit
from tests.fakes.cancellation import never

TICKET = Subject(type="ticket", id="4711", text="The printer <b>burns</b>.")


def known(
    *,
    context: JsonObject | None = None,
    principal: JsonObject | None = None,
    subject: Subject | None = TICKET,
    agent: str = "tester",
    conversation: str = "conv_1",
    turn: str = "turn_1",
    cancelled: Cancellation | None = None,
) -> ContributorContext:
    """What contributors may know of some turn."""
    return ContributorContext(
        turn_id=TurnId(turn),
        conversation_id=ConversationId(conversation),
        agent=agent,
        principal=principal,
        subject=subject,
        context=context or {},
        cancelled=cancelled or never(),
    )


def unlimited() -> Limit:
    return Limit(30, never(), SystemClock())


def no_function(reference: str) -> FunctionType:
    raise ConfigError(f"there is no function {reference!r}")


def surroundings(
    root: Path,
    *,
    environ: Mapping[str, str] | None = None,
    reach: Reach | None = None,
    databases: Mapping[str, ReadOnlyDatabase] | None = None,
    functions: Callable[[str], FunctionType] = no_function,
    clock: Clock | None = None,
) -> Surroundings:
    def database_of(name: str) -> ReadOnlyDatabase:
        if name not in (databases or {}):
            raise ConfigError(f"the config declares no database {name!r}")
        return (databases or {})[name]

    return Surroundings(
        root=root,
        clock=clock or SystemClock(),
        environ=environ or {},
        reach=reach or Reach(),
        database_of=database_of,
        function_of=functions,
    )


@dataclass(slots=True)
class FakeSource:
    """Gives what a function of the turn gives, and counts how often it was asked."""

    tell: Callable[[ContributorContext], str]
    asked: list[ContributorContext] = field(default_factory=list)

    def read(self, context: ContributorContext, limit: Limit) -> str:
        del limit
        self.asked.append(context)
        return self.tell(context)


@dataclass(slots=True)
class FakeContributors:
    """Gives its texts in turn, the last one again and again; an exception is raised."""

    answers: list[str | Exception]
    skipped: tuple[Skipped, ...] = ()
    asked: list[ContributorContext] = field(default_factory=list)

    def gather(self, context: ContributorContext, *, seconds: float) -> Gathered:
        del seconds
        self.asked.append(context)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        told = [Contribution(name="fake", text=answer)] if answer else []
        return Gathered(contributions=told, skipped=self.skipped)
