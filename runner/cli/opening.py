"""The Python API, opened the way the command line was asked to."""

import typer

from runner.bootstrap.conversation import Conversation
from runner.bootstrap.given import Given
from runner.bootstrap.runner import Runner
from runner.cli.reading import config_path
from runner.core.errors import UsageError
from runner.core.ports import Observer


def open_runner(ctx: typer.Context, observer: Observer | None = None) -> Runner:
    """Open the config that `--config` named, or the one that is found without it."""
    return Runner(config_path(ctx), observer=observer)


def conversation_of(
    runner: Runner, agent: str, conversation_id: str | None, *, given: Given | None = None
) -> Conversation:
    """
    Continue a conversation of *agent*, or begin one that is about what is given.

    Raises:
        NotFound: There is no such agent or conversation.
        UsageError: Another agent answers the conversation.
    """
    if conversation_id is None:
        return runner.conversation(agent, given=given)
    conversation = runner.open_conversation(conversation_id)
    if conversation.agent != agent:
        raise UsageError(f"{conversation_id} is answered by {conversation.agent!r}, not {agent!r}")
    return conversation


def stored_conversation(runner: Runner, conversation_id: str) -> str:
    """
    Return the id of a conversation, which is there.

    Raises:
        NotFound: There is no such conversation.
    """
    runner.open_conversation(conversation_id)
    return conversation_id
