"""`runner submit`: hand a task or a message to the workers."""

import sys
from dataclasses import dataclass, replace
from typing import Annotated, TypeAlias

import typer

from runner.bootstrap.given import Given
from runner.bootstrap.runner import Runner
from runner.cli.console import print_json
from runner.cli.following import follow_to_the_end
from runner.cli.live import view_for
from runner.cli.opening import conversation_of, open_runner, stored_conversation
from runner.cli.options import (
    AsJson,
    Context,
    ConversationId,
    Input,
    Principal,
    SubjectOption,
    read_given,
    read_json,
)
from runner.cli.outcome import advice_on
from runner.cli.shapes import turn_json
from runner.cli.text import count
from runner.core.errors import UsageError
from runner.core.jsonvalue import JsonValue
from runner.core.records import Turn
from runner.core.states import TurnStatus

app = typer.Typer(add_completion=False)

WaitFor: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(metavar="TURN", help="A turn that has to end first, and is told of; repeatable."),
]
Callback: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="CONVERSATION", help="The conversation that is told how it ended."),
]

Prepare: TypeAlias = Annotated[
    bool, typer.Option("--prepare", help="Store it only; submit it later with --turn.")
]
Prepared: TypeAlias = Annotated[
    str | None, typer.Option("--turn", metavar="TURN", help="The prepared turn to submit.")
]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Request:
    """What the command line asks for."""

    agent: str
    task: str
    input: JsonValue
    given: Given
    conversation_id: str | None
    turn_id: str | None
    prepare: bool

    def check(self) -> None:
        """
        See that the arguments go together.

        Raises:
            UsageError: They do not.
        """
        if self.turn_id and (self.agent or self.task or self.conversation_id or self.prepare):
            raise UsageError("a prepared turn has its agent and task already; give only --turn")
        if not self.turn_id and not self.agent:
            raise UsageError("name an agent and a task, or a prepared turn with --turn")
        if self.turn_id and (self.given.wait_for or self.given.callback_to):
            raise UsageError("--wait-for and --callback are given when a turn is prepared")
        if self.conversation_id and (self.prepare or self.input is not None):
            raise UsageError("a message to a conversation takes neither --input nor --prepare")

    def carry_out(self, runner: Runner) -> Turn:
        """Store what is asked for."""
        if self.turn_id:
            return runner.submit_prepared(self.turn_id)
        if self.given.callback_to:
            stored_conversation(runner, self.given.callback_to)
        if self.conversation_id:
            conversation = conversation_of(runner, self.agent, self.conversation_id)
            return conversation.post(self.task, given=self.given)
        store = runner.prepare if self.prepare else runner.submit
        return store(self.agent, self.task, input=self.input, given=self.given)


@app.command()
def submit(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    agent: Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")] = "",
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do.")] = "",
    input_json: Input = None,
    context_json: Context = None,
    subject_json: SubjectOption = None,
    conversation_id: ConversationId = None,
    prepare: Prepare = False,
    turn_id: Prepared = None,
    wait_for: WaitFor = None,
    callback: Callback = None,
    wait: Annotated[bool, typer.Option("--wait", help="Follow it until it has ended.")] = False,
    as_json: AsJson = False,
    principal: Principal = None,
) -> int:
    """
    Hand a task or a message to the workers.

    The turn's id is printed. It is safe once this returns, with the broker down as well. With
    --wait the turn is shown like in `runner run` and its failure is the exit code 1.
    """
    request = _Request(
        agent=agent,
        task=task,
        input=read_json("--input", input_json),
        given=replace(
            read_given(context_json, subject_json),
            wait_for=tuple(wait_for or ()),
            callback_to=callback,
        ),
        conversation_id=conversation_id,
        turn_id=turn_id,
        prepare=prepare,
    )
    request.check()
    if wait and prepare:
        raise UsageError("a prepared turn does not run, so there is nothing to --wait for")
    with open_runner(ctx, principal=principal) as runner:
        turn = request.carry_out(runner)
        if wait:
            return follow_to_the_end(runner, view_for(as_json=as_json), turn.id)
    _tell(turn, as_json=as_json)
    return 0


def _tell(turn: Turn, *, as_json: bool) -> None:
    if as_json:
        print_json(turn_json(turn))
    else:
        print(turn.id)
        print(_next(turn), file=sys.stderr)


def _next(turn: Turn) -> str:
    if turn.status is TurnStatus.PREPARED:
        return f"prepared; {advice_on(turn)}"
    if turn.open_waits:
        waits = count(turn.open_waits, "turn")
        return f"submitted; it waits for {waits}: `runner watch {turn.id}`"
    return f"submitted; a worker takes it: `runner worker`, and `runner watch {turn.id}`"
