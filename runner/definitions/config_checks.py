"""What in a config refers to what is not there."""

from collections.abc import Iterator

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.config import AnthropicClient, Config, ScriptedClient
from runner.definitions.document import Document
from runner.definitions.interpolation import Flaw
from runner.definitions.models import check_reference, unknown_client
from runner.definitions.nodes import Path
from runner.definitions.paths import expand
from runner.definitions.price import Price
from runner.definitions.problem import Problem, Severity
from runner.definitions.python_references import is_folder
from runner.definitions.thinking import BudgetThinking


def check_config(config: Config, document: Document) -> Iterator[Problem]:
    """Tell what is wrong between the parts of a config, at places of its own file only."""
    for path, flaw in _flaws(config, document):
        if document.has(path):
            yield document.problem(
                path, flaw.code, flaw.message, hint=flaw.hint, severity=flaw.severity
            )


def _flaws(config: Config, document: Document) -> Iterator[tuple[Path, Flaw]]:
    yield from _folder(document, ("agents_dir",), config.agents_dir)
    for index, entry in enumerate(config.python_modules):
        if is_folder(entry):
            yield from _folder(document, ("python_modules", index), entry)
    for name in config.clients:
        yield from _client(name, config, document)
    for alias, model in config.models.items():
        if model.client not in config.clients:
            yield ("models", alias, "client"), unknown_client(model.client, config)
        thinking = model.thinking
        if isinstance(thinking, BudgetThinking) and thinking.budget >= model.max_tokens:
            message = f"the budget must be less than max_tokens, {model.max_tokens}"
            path = ("models", alias, "thinking", "budget")
            yield path, Flaw(code=Code.BAD_VALUE, message=message)
    yield from _prices(config)
    flaw = check_reference(config.defaults.model, config)
    if flaw:
        yield ("defaults", "model"), flaw


def _prices(config: Config) -> Iterator[tuple[Path, Flaw]]:
    """A model costs the same under each of its aliases."""
    first = dict[tuple[str, str], tuple[str, Price]]()
    for alias, model in config.models.items():
        if model.price is None:
            continue
        other, price = first.setdefault((model.client, model.model), (alias, model.price))
        if price != model.price:
            message = f"the same model has another price as models.{other}"
            hint = "give it one price, at either of them"
            yield ("models", alias, "price"), Flaw(code=Code.BAD_VALUE, message=message, hint=hint)


def _folder(document: Document, path: Path, text: str) -> Iterator[tuple[Path, Flaw]]:
    try:
        document.base.folder_at(text)
    except PathRefused as refused:
        yield path, Flaw(code=Code.named(refused.code), message=str(refused))


def _client(name: str, config: Config, document: Document) -> Iterator[tuple[Path, Flaw]]:
    match config.clients[name]:
        case AnthropicClient(without_key=str(other)):
            path: Path = ("clients", name, "without_key")
            if other not in config.clients:
                yield path, unknown_client(other, config)
            elif _leads_back(name, config):
                message = f"{name!r} leads back to itself"
                yield path, Flaw(code=Code.CLIENT_LOOP, message=message)
        case AnthropicClient():
            return
        case ScriptedClient(scripts=scripts):
            for index, pattern in enumerate(scripts):
                flaw = _pattern(document, pattern)
                if flaw:
                    yield ("clients", name, "scripts", index), flaw


def _pattern(document: Document, pattern: str) -> Flaw | None:
    try:
        if expand(document.base, pattern):
            return None
    except PathRefused as refused:
        return Flaw(code=Code.named(refused.code), message=str(refused))
    return Flaw(
        code=Code.MISSING_FILE,
        message="no file matches the pattern",
        severity=Severity.WARNING,
    )


def _leads_back(start: str, config: Config) -> bool:
    name, passed = start, set[str]()
    while name not in passed:
        passed.add(name)
        client = config.clients.get(name)
        if not isinstance(client, AnthropicClient) or client.without_key is None:
            return False
        name = client.without_key
    return name == start
