"""The Python API, opened the way the command line was asked to."""

from collections.abc import Sequence

import typer

from runner.bootstrap.conversation import Conversation
from runner.bootstrap.given import Given
from runner.bootstrap.runner import Runner
from runner.cli.options import read_object
from runner.cli.reading import config_path
from runner.core.errors import NotPermitted, UsageError
from runner.core.ports import Observer
from runner.core.records import Turn


def open_runner(
    ctx: typer.Context, observer: Observer | None = None, *, principal: str | None = None
) -> Runner:
    """
    Open the config that `--config` named, or the one that is found without it.

    Args:
        ctx: What the program was called with.
        observer: Sees the turns run in this process.
        principal: What `--principal` gave.

    Raises:
        UsageError: That is not a JSON object.
    """
    acting = None if principal is None else read_object("--principal", principal)
    return Runner(config_path(ctx), observer=observer, principal=acting)


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


def visible_tree(runner: Runner, turn_id: str) -> Sequence[Turn]:
    """Return a turn and what is below it, as far as the principal may see that."""
    try:
        return runner.tree(turn_id)
    except NotPermitted:
        return ()


def stored_conversation(runner: Runner, conversation_id: str) -> str:
    """
    Return the id of a conversation, which is there.

    Raises:
        NotFound: There is no such conversation.
    """
    runner.open_conversation(conversation_id)
    return conversation_id
