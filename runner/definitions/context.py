"""Contributors as they are written: the keys all have in common, and one model for each kind."""

import re
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, StringConstraints, Tag, model_validator
from pydantic_core import PydanticCustomError

from runner.definitions.base import Items, StrictModel
from runner.definitions.placeholders import Deferred, checked, without_variables
from runner.definitions.scalars import (
    FUNCTION_PATTERN,
    HEADER_PATTERN,
    VARIABLE_PATTERN,
    Count,
    Duration,
    JsonObject,
    Name,
    Prose,
    RelativePath,
    parse_duration,
)
from runner.definitions.variants import TEXT, by_key, tag

#: The keys of which a contributor has exactly one.
CONTEXT_KEYS: Final = ("text", "file", "python", "http", "sql", "command")

#: A scheme and a host without values in them; a variable may stand for either.
_ADDRESS: Final = re.compile(r"(https?://|\0)[^@{}\s/?#]*([/?#].*)?", re.DOTALL)

Bytes: TypeAlias = Annotated[int, Field(ge=1, le=100_000_000)]
VariableName: TypeAlias = Annotated[str, StringConstraints(pattern=VARIABLE_PATTERN)]


def _address(url: Deferred) -> Deferred:
    if not _ADDRESS.fullmatch(without_variables(str(url), "\0")):
        raise PydanticCustomError(
            "bad_url", "expected an http:// or https:// URL whose host is fixed and names no user"
        )
    return url


class CommonContextKeys(StrictModel):
    """What every contributor says about itself."""

    kind: Literal["context"] = "context"
    name: Name
    #: What it tells, in a few words, for the model.
    description: Prose = ""
    #: Whether what it gives is ours, and may instruct the model; else it is escaped, as data.
    trusted: bool = False
    #: How much of it the model reads; the middle of a longer text is cut out.
    max_chars: Count = 20_000
    #: How long it may take.
    timeout: Duration = parse_duration("10s")
    #: Whether a turn fails without it, or goes on.
    on_error: Literal["fail", "skip"] = "fail"
    #: How long what it gave is used again in the same conversation.
    ttl: Duration | None = None

    @model_validator(mode="before")
    @classmethod
    def _has_one_kind(cls, value: object) -> object:
        found = [key for key in CONTEXT_KEYS if isinstance(value, dict) and key in value]
        if len(found) > 1:
            raise PydanticCustomError(
                "several_kinds",
                "a contributor has exactly one of the keys {keys}",
                {"keys": " and ".join(found)},
            )
        return value


class TextContext(CommonContextKeys):
    """A text written here."""

    #: May name values: `{context.account_id}`.
    text: Annotated[Prose, AfterValidator(checked)]


class FileContext(CommonContextKeys):
    """A file of the project, as it is whenever it is read."""

    file: RelativePath
    #: The largest file that is read.
    max_bytes: Bytes = 1_000_000


class PythonContext(CommonContextKeys):
    """A function of a module that the config lists."""

    python: Annotated[str, StringConstraints(pattern=FUNCTION_PATTERN)]


class HttpCall(StrictModel):
    """A request over HTTP."""

    #: May name values after the host; they are escaped.
    url: Annotated[Deferred, AfterValidator(_address)]
    method: Literal["GET", "POST"] = "GET"
    #: Added to the URL, escaped.
    query: dict[str, Deferred] = Field(default_factory=dict)
    headers: dict[
        Annotated[str, StringConstraints(pattern=HEADER_PATTERN, max_length=100)], Deferred
    ] = Field(default_factory=dict)
    #: JSON to send with a POST; its texts may name values.
    body: JsonObject | None = None
    #: The longest answer that is read.
    max_bytes: Bytes = 1_000_000
    #: How many redirects a GET follows.
    max_redirects: Annotated[int, Field(ge=0, le=10)] = 0


class HttpContext(CommonContextKeys):
    """What a server answers."""

    http: HttpCall


class SqlContext(CommonContextKeys):
    """What a database answers to one statement that only reads."""

    #: Its parameters are written `:name`.
    sql: Prose
    #: A name under `databases` in the config.
    database: Name
    #: What is bound; a value alone keeps its type.
    parameters: dict[VariableName, Deferred] = Field(default_factory=dict)
    max_rows: Annotated[int, Field(ge=1, le=10_000)] = 100


class CommandContext(CommonContextKeys):
    """What a program writes."""

    #: The program and its arguments, one item each; no shell reads them.
    command: Annotated[Items[Deferred], Field(min_length=1)]
    #: All the variables that the program sees.
    env: dict[VariableName, Deferred] = Field(default_factory=dict)
    #: The folder that it runs in; the project's when left out.
    cwd: RelativePath | None = None
    #: What it can read.
    stdin: Deferred | None = None
    #: The most that it may write.
    max_bytes: Bytes = 1_000_000


#: One contributor, told apart by its kind key.
ContextDefinition: TypeAlias = Annotated[
    Annotated[TextContext, Tag(tag("text"))]
    | Annotated[FileContext, Tag(tag("file"))]
    | Annotated[PythonContext, Tag(tag("python"))]
    | Annotated[HttpContext, Tag(tag("http"))]
    | Annotated[SqlContext, Tag(tag("sql"))]
    | Annotated[CommandContext, Tag(tag("command"))],
    by_key(*CONTEXT_KEYS, expected=f"one of the keys {', '.join(CONTEXT_KEYS)}"),
]

#: A contributor by its name, or written here.
ContextEntry: TypeAlias = Annotated[
    Annotated[Name, Tag(TEXT)]
    | Annotated[TextContext, Tag(tag("text"))]
    | Annotated[FileContext, Tag(tag("file"))]
    | Annotated[PythonContext, Tag(tag("python"))]
    | Annotated[HttpContext, Tag(tag("http"))]
    | Annotated[SqlContext, Tag(tag("sql"))]
    | Annotated[CommandContext, Tag(tag("command"))],
    by_key(
        *CONTEXT_KEYS,
        expected=(
            "the name of a contributor, or a contributor with one of the keys "
            + ", ".join(CONTEXT_KEYS)
        ),
    ),
]
