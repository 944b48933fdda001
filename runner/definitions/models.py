"""References to models: aliases of the config, or a client and that provider's model id."""

from runner.definitions.codes import Code
from runner.definitions.config import AnthropicClient, Config, ModelConfig
from runner.definitions.interpolation import Flaw
from runner.definitions.price import Price
from runner.definitions.variants import nearest


def model_config(reference: str, config: Config) -> ModelConfig | None:
    """What a reference stands for, or None when it stands for nothing."""
    client, separator, model = reference.partition("/")
    if not separator:
        return config.models.get(reference)
    if client not in config.clients:
        return None
    return ModelConfig(client=client, model=model)


def check_reference(reference: str, config: Config) -> Flaw | None:
    """Why a reference stands for nothing, or None."""
    if model_config(reference, config) is not None:
        return None
    client, separator, _ = reference.partition("/")
    if separator:
        return unknown_client(client, config)
    meant = nearest(reference, config.models)
    declared = ", ".join(sorted(config.models))
    return Flaw(
        code=Code.UNKNOWN_MODEL,
        message=f"the config has no model {reference!r}",
        hint=f"did you mean {meant!r}?" if meant else f"declared under models: {declared}",
    )


def unknown_client(name: str, config: Config) -> Flaw:
    """What to say of a client that is not declared."""
    meant = nearest(name, config.clients)
    declared = ", ".join(sorted(config.clients))
    return Flaw(
        code=Code.UNKNOWN_CLIENT,
        message=f"the config has no client {name!r}",
        hint=f"did you mean {meant!r}?" if meant else f"declared under clients: {declared}",
    )


def client_in_use(name: str, config: Config) -> str:
    """The client that answers for this one: another where its key is empty and it says so."""
    *_, last = _standing_in(name, config)
    return last


def prices_of(client: str, config: Config) -> dict[str, Price]:
    """The prices in force for a client, by model id: also of the models it stands in for."""
    stood_in, own = dict[str, Price](), dict[str, Price]()
    for model in config.models.values():
        if model.price is None:
            continue
        if model.client == client:
            own[model.model] = model.price
        elif client in _standing_in(model.client, config):
            stood_in[model.model] = model.price
    return stood_in | own


def _standing_in(name: str, config: Config) -> tuple[str, ...]:
    """The client of this name, and those that are used in its place one after another."""
    passed: tuple[str, ...] = (name,)
    while True:
        client = config.clients.get(passed[-1])
        if not isinstance(client, AnthropicClient) or client.api_key or not client.without_key:
            return passed
        if client.without_key in passed:
            return passed
        passed = (*passed, client.without_key)
