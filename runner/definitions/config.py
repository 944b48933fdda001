"""The operator's file: where things are and what may be used."""

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, Tag
from pydantic_core import PydanticCustomError

from runner.definitions.agent import Limits, PromptSettings
from runner.definitions.base import Items, StrictModel
from runner.definitions.price import Price
from runner.definitions.scalars import (
    ADDRESS_PATTERN,
    MODULES_PATTERN,
    NO_SPACES_PATTERN,
    QUEUE_PATTERN,
    Count,
    Duration,
    ModelReference,
    Name,
    RelativePath,
    parse_duration,
)
from runner.definitions.secret import Secret, SecretUrl
from runner.definitions.thinking import Thinking
from runner.definitions.variants import by_value, tag

DATABASE_SCHEMES: Final = ("sqlite", "postgresql", "postgresql+psycopg")
_LAST_PORT: Final = 65_535
BROKER_SCHEMES: Final = ("memory", "redis", "rediss", "amqp", "amqps")


def _with_scheme(*schemes: str) -> Callable[[SecretUrl], SecretUrl]:
    expected = ", ".join(f"{scheme}://" for scheme in schemes)

    def check(url: SecretUrl) -> SecretUrl:
        scheme, separator, _ = url.reveal().partition("://")
        if not separator or scheme not in schemes:
            raise PydanticCustomError(
                "bad_url",
                "expected a URL that starts with one of {expected}",
                {"expected": expected},
            )
        return url

    return check


def _readable(url: SecretUrl) -> SecretUrl:
    """Refuse a server's address of which a part would be taken for another, as by a stray `@`."""
    scheme, _, rest = url.reveal().partition("://")
    user_info, _, address = rest.rpartition("@")
    server = re.split("[/?#]", address, maxsplit=1)[0]
    port = server.rpartition(":")[2] if ":" in server and not server.endswith("]") else ""
    if scheme == "sqlite" or (
        "@" not in user_info.partition("?")[0]
        and re.fullmatch("[0-9]{0,5}", port)
        and int(port or 0) <= _LAST_PORT
    ):
        return url
    raise PydanticCustomError(
        "bad_url",
        "expected user:password@host:port with a number for the port, and in the password %40 for "
        "an '@', %3F for a '?' and %2F for a '/'",
    )


class DatabaseConfig(StrictModel):
    """Where turns are stored."""

    url: Annotated[
        SecretUrl, AfterValidator(_with_scheme(*DATABASE_SCHEMES)), AfterValidator(_readable)
    ] = SecretUrl.from_text("sqlite:///runner.db")
    #: Connections kept open in each process.
    pool_size: Annotated[int, Field(ge=1, le=200)] = 5
    #: How long to wait for one of them.
    pool_timeout: Duration = parse_duration("30s")
    #: How long to wait for a lock on SQLite.
    busy_timeout: Duration = parse_duration("15s")


class BrokerConfig(StrictModel):
    """Where workers are woken."""

    url: Annotated[SecretUrl, AfterValidator(_with_scheme(*BROKER_SCHEMES))] = SecretUrl.from_text(
        "memory://"
    )
    queue: Annotated[str, StringConstraints(pattern=QUEUE_PATTERN)] = "runner"


class WorkerConfig(StrictModel):
    """How workers work."""

    processes: Annotated[int, Field(ge=1, le=256)] = 1
    threads: Annotated[int, Field(ge=1, le=256)] = 8
    #: How long a claim lasts without a heartbeat.
    lease: Duration = parse_duration("60s")
    #: How long a turn is worked on before others have their chance.
    slice: Duration = parse_duration("5m")
    #: How long a stopping worker waits for its turns to reach a boundary.
    grace: Duration = parse_duration("20s")
    #: How often each worker looks for what a crash left behind.
    interval: Duration = parse_duration("5s")
    #: How often a turn may be claimed before it is taken to kill its workers.
    max_claims: Annotated[int, Field(ge=1, le=1000)] = 10


class ApprovalsConfig(StrictModel):
    """How people are asked."""

    #: How long there is to answer where the rule that asks says nothing of it; then it is denied.
    expire: Duration = parse_duration("24h")


class AnthropicClient(StrictModel):
    """Claude, through the provider's own API."""

    type: Literal["anthropic"]
    api_key: Secret
    #: Another address that speaks the same API.
    base_url: Annotated[str, StringConstraints(pattern=ADDRESS_PATTERN)] | None = None
    #: How long one call may take, all in all.
    timeout: Duration = parse_duration("10m")
    #: How long a stream may say nothing.
    stall_timeout: Duration = parse_duration("60s")
    max_attempts: Annotated[int, Field(ge=1, le=20)] = 4
    #: The client used in place of this one when its key is empty.
    without_key: Name | None = None


class ScriptedClient(StrictModel):
    """Answers from files; needs no key and no network."""

    type: Literal["scripted"]
    #: Files, or patterns such as `answers/*.yaml`.
    scripts: Items[RelativePath] = ()


ClientConfig: TypeAlias = Annotated[
    Annotated[AnthropicClient, Tag(tag("anthropic"))]
    | Annotated[ScriptedClient, Tag(tag("scripted"))],
    by_value("type", "anthropic", "scripted"),
]


class ModelConfig(StrictModel):
    """What an alias stands for."""

    client: Name
    #: The provider's model id.
    model: Annotated[str, StringConstraints(pattern=NO_SPACES_PATTERN, max_length=200)]
    #: The most tokens of one answer.
    max_tokens: Count = 16_000
    #: How many tokens the model can read.
    context_tokens: Annotated[int, Field(ge=1, le=100_000_000)] = 200_000
    thinking: Thinking | None = None
    #: What the model costs; left out, what the public price list says.
    price: Price | None = None


class AgentDefaults(StrictModel):
    """What agents that say nothing of it have."""

    model: ModelReference = "default"
    limits: Limits | None = None
    thinking: Thinking | None = None
    prompt: PromptSettings | None = None


class Config(StrictModel):
    """Everything an operator can set."""

    #: The folder of the definitions.
    agents_dir: RelativePath = "agents"
    database: DatabaseConfig = DatabaseConfig()
    broker: BrokerConfig = BrokerConfig()
    worker: WorkerConfig = WorkerConfig()
    approvals: ApprovalsConfig = ApprovalsConfig()
    clients: dict[Name, ClientConfig] = Field(default_factory=dict)
    models: dict[Name, ModelConfig] = Field(default_factory=dict)
    defaults: AgentDefaults = AgentDefaults()
    #: Modules, packages (`package.`) and project folders (with a slash) whose functions tools name.
    python_modules: Items[
        Annotated[str, StringConstraints(pattern=MODULES_PATTERN, max_length=500)]
    ] = ()
