"""Sentences for people about what they would not expect."""

import re
from typing import Final

from runner.bootstrap.runner import Runner
from runner.definitions.config import AnthropicClient
from runner.definitions.models import client_in_use

_VARIABLE: Final = re.compile(r"\$\{(\w+)")


def offline_notice(runner: Runner, agent: str) -> str:
    """
    Say that another client stands in for one whose key is not set; empty where none does.

    Raises:
        NotFound: There is no such agent.
    """
    model = runner.wiring.catalog.agent(agent).definition.model
    config, used = runner.wiring.config, model.client
    alias = config.models.get(model.alias or "")
    wanted = config.clients if alias is None else {alias.client: config.clients[alias.client]}
    for name, client in wanted.items():
        if isinstance(client, AnthropicClient) and name != used == client_in_use(name, config):
            key = ", ".join(_VARIABLE.findall(str(client.api_key))) or f"clients.{name}.api_key"
            return f"offline: {used!r} answers from scripts; set {key} to let {name!r} answer"
    return ""
