"""Tries what a project needs beside its files: databases, broker, clients."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import typer

from runner.bootstrap.runner import Runner
from runner.cli.checks import Check, CheckStatus
from runner.cli.failures import sentence
from runner.cli.opening import open_runner
from runner.cli.text import count
from runner.core.clock import SystemClock
from runner.core.errors import CallCancelled, OutboundError, RunnerError
from runner.core.ids import ConversationId, new_message_id, new_turn_id
from runner.core.messages import Message, Role, Text
from runner.core.model import ModelRequest
from runner.definitions.config import AnthropicClient
from runner.engine.deadline import Deadline
from runner.tools.cancel import CancelFlag

#: Seconds a client has to answer.
_PATIENCE: Final = 30.0


def service_checks(ctx: typer.Context) -> Iterator[Check]:
    """Try every database, the broker and every client."""
    with open_runner(ctx) as runner:
        yield from checks_of(runner)


def checks_of(runner: Runner) -> Iterator[Check]:
    """Try every database, the broker and every client of an open runner."""
    yield _check("database", lambda: _try_database(runner))
    for name in runner.wiring.config.databases:
        yield _check(f"database {name}", partial(_try_named_database, runner, name))
    yield _check("broker", lambda: _try_broker(runner))
    for name, client in runner.wiring.config.clients.items():
        title = f"client {name}"
        if isinstance(client, AnthropicClient) and not client.api_key and client.without_key:
            message = f"has no key; {client.without_key!r} answers in its place"
            yield Check(name=title, status=CheckStatus.WARNING, message=message)
        else:
            yield _check(title, partial(_try_client, runner, name))


def _check(name: str, attempt: Callable[[], str]) -> Check:
    """Make *attempt*, which says what it found or raises what is wrong."""
    try:
        return Check(name=name, status=CheckStatus.OK, message=attempt())
    except (RunnerError, OSError) as error:
        return Check(name=name, status=CheckStatus.FAILED, message=sentence(error))


def _try_database(runner: Runner) -> str:
    counts = runner.counts()
    live = ", ".join(f"{number} {status.value}" for status, number in sorted(counts.items()))
    return f"{runner.wiring.config.database.url}: {live or 'no turns waiting or running'}"


def _try_named_database(runner: Runner, name: str) -> str:
    url = runner.wiring.config.databases[name].url
    try:
        runner.wiring.context.try_database(name, seconds=_PATIENCE)
    except OutboundError as error:
        raise OutboundError(f"{url}: {error}") from error
    return f"{url}: answers"


def _try_broker(runner: Runner) -> str:
    url = str(runner.wiring.config.broker.url)
    if url.startswith("memory://"):
        return f"{url}: each worker finds turns in the database by itself"
    # Workers ignore a wake-up for a turn that does not exist.
    runner.wiring.dispatcher.dispatch([new_turn_id()])
    return f"{url}: took a wake-up"


def _try_client(runner: Runner, name: str) -> str:
    client = runner.wiring.client(name)
    config = runner.wiring.config
    if not isinstance(config.clients[name], AnthropicClient):
        return "answers from scripts"
    model = next((one.model for one in config.models.values() if one.client == name), None)
    if model is None:
        return "has a key; no model of the config uses it"
    try:
        with Deadline(_PATIENCE, SystemClock()).limiting(CancelFlag()) as cancelled:
            answer = client.complete(_question(model), lambda _: None, cancelled)
    except CallCancelled as error:
        raise TimeoutError(f"{model} did not answer within {_PATIENCE:g}s") from error
    return f"{model} answered ({count(answer.usage.output_tokens, 'token')})"


def _question(model: str) -> ModelRequest:
    message = Message(
        id=new_message_id(),
        conversation_id=ConversationId(""),
        turn_id=new_turn_id(),
        role=Role.USER,
        parts=(Text(text="Answer with the word ok."),),
    )
    return ModelRequest(agent="doctor", model=model, system="", messages=[message], max_tokens=16)
