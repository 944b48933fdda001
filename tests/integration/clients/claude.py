"""The client for Claude, pointed at a server of our own."""

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from runner.clients.factory import build_client
from runner.core.model import Delta, ModelRequest, ModelResponse
from runner.core.ports import ModelClient
from runner.definitions.config import AnthropicClient
from runner.definitions.secret import Secret
from runner.tools.cancel import CancelFlag
from tests.servers.messages_api import MessagesApi

KEY = "sk-test-7c21"
MINUTE = timedelta(minutes=1)


def claude(
    server: MessagesApi | str,
    *,
    key: str = KEY,
    timeout: timedelta = MINUTE,
    stall_timeout: timedelta = MINUTE,
) -> ModelClient:
    definition = AnthropicClient(
        type="anthropic",
        api_key=Secret(key),
        base_url=server if isinstance(server, str) else server.url,
        timeout=timeout,
        stall_timeout=stall_timeout,
    )
    return build_client("claude", definition, root=Path())


def ask(client: ModelClient, request: ModelRequest) -> ModelResponse:
    return client.complete(request, lambda _delta: None, CancelFlag())


def watch(client: ModelClient, request: ModelRequest) -> tuple[ModelResponse, Sequence[Delta]]:
    seen = list[Delta]()
    return client.complete(request, seen.append, CancelFlag()), seen
