"""`runner chat`: talk with an agent."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from importlib import import_module

import typer

from runner.bootstrap.conversation import Conversation
from runner.bootstrap.given import Given
from runner.bootstrap.runner import Runner
from runner.cli.asker import looking
from runner.cli.failures import FAILED, INTERRUPTED, complain
from runner.cli.foreground import in_foreground
from runner.cli.live import View, view_for
from runner.cli.notices import offline_notice
from runner.cli.opening import conversation_of, open_runner
from runner.cli.options import (
    AgentName,
    AsJson,
    Context,
    ConversationId,
    Principal,
    SubjectOption,
    read_given,
)
from runner.core.errors import RunnerError

app = typer.Typer(add_completion=False)

_QUIT = "/quit"


@app.command()
def chat(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    agent: AgentName,
    conversation_id: ConversationId = None,
    context_json: Context = None,
    subject_json: SubjectOption = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> int:
    """
    Talk with an agent.

    One message a line, until /quit or ctrl-d. Lines can be piped in; then a failed turn makes the
    exit code 1. Ctrl-c during an answer hands the turn to the workers. Context and subject are the
    new conversation's; given for one that is there already, they hold for these messages alone.
    """
    given = read_given(context_json, subject_json)
    view = view_for(as_json=as_json, chat=True)
    with open_runner(ctx, observer=view, principal=principal) as runner:
        view.look_up_in(runner)
        conversation = conversation_of(runner, agent, conversation_id, given=given)
        notice = offline_notice(runner, agent)
        if notice:
            view.notice(notice)
        try:
            code = _talk(runner, conversation, view, given if conversation_id else None)
        except KeyboardInterrupt:
            print(file=sys.stderr)
            code = INTERRUPTED
        if conversation.id and not as_json:
            view.notice(f"go on with: runner chat {agent} --conversation {conversation.id}")
    return code


def _talk(runner: Runner, conversation: Conversation, view: View, given: Given | None) -> int:
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    look = looking(runner, view)
    worst = 0
    for text in _lines(interactive=interactive):
        try:
            with view.working():
                say = partial(conversation.say, text, given=given)
                tree = in_foreground(runner, say, look=look)
        except RunnerError as error:
            complain(str(error))
            worst = FAILED
            continue
        worst = max(worst, view.outcome(tree))
        if worst == INTERRUPTED:
            return INTERRUPTED
    return 0 if interactive else worst


def _lines(*, interactive: bool) -> Iterator[str]:
    """Yield what is typed, or piped in, without empty lines."""
    if interactive:
        with suppress(ImportError):
            import_module("readline")  # gives the prompt a history and keys to edit with
    while True:
        try:
            text = input("\n> " if interactive else "")
        except EOFError:
            break
        if text.strip() == _QUIT:
            return
        if text.strip():
            yield text
    if interactive:
        print()
