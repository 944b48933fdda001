"""What the Messages API server is told to answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: JSON of any shape, as tests write and read it.
Json: TypeAlias = Any
Block: TypeAlias = dict[str, Json]


def text(said: str, **fields: Json) -> Block:
    return {"type": "text", "text": said, **fields}


def thinking(thought: str = "") -> Block:
    """Thinking whose text is omitted unless given; the server signs it."""
    return {"type": "thinking", "thinking": thought}


def redacted_thinking() -> Block:
    """Thinking that only the provider can read; the server makes its data."""
    return {"type": "redacted_thinking"}


def tool_use(
    name: str, arguments: Json = None, *, json: str | None = None, **fields: Json
) -> Block:
    """A tool call, to which the server adds an id; *json* is streamed in place of arguments."""
    return {"type": "tool_use", "name": name, "input": arguments or {}, "_json": json, **fields}


@dataclass(frozen=True, slots=True)
class Cut:
    """The connection breaks after so many events of the stream."""

    after: int


@dataclass(frozen=True, slots=True)
class EndEarly:
    """The body ends as if it were complete after so many events."""

    after: int


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing more comes after so many events, or none and no headers either."""

    after: int | None


@dataclass(frozen=True, slots=True)
class BreakOff:
    """After so many events comes one that says that the rest will not."""

    after: int
    type: str = "overloaded_error"
    message: str = "Overloaded"


Fault: TypeAlias = Cut | EndEarly | Stall | BreakOff


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A message, streamed."""

    content: Sequence[Block] = ()
    stop_reason: str | None = "end_turn"
    stop_details: Mapping[str, Json] | None = None
    #: Counts to report in place of the server's own.
    usage: Mapping[str, Json] | None = None
    #: Counts for the end of the stream alone.
    final_usage: Mapping[str, Json] = field(default_factory=dict)
    fault: Fault | None = None
    #: Events of types nobody knows, and pings, strewn between the others.
    with_noise: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A failure that comes in place of a stream."""

    status: int
    type: str
    message: str = "The server was told to fail."
    code: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Raw:
    """Whatever a proxy may answer."""

    body: bytes
    status: int = 200
    content_type: str = "application/json"


Answer: TypeAlias = Reply | Refusal | Raw


def say(said: str) -> Reply:
    return Reply(content=[text(said)])


def call(name: str, arguments: Json = None) -> Reply:
    return Reply(content=[tool_use(name, arguments)], stop_reason="tool_use")


def from_json(answer: Mapping[str, Json]) -> Answer:
    """Read an answer from a script file: the fields of one of the classes above."""
    if "body" in answer:
        return Raw(**{**answer, "body": str(answer["body"]).encode()})
    if "status" in answer:
        return Refusal(**answer)
    kinds = {"cut": Cut, "end_early": EndEarly, "stall": Stall, "break_off": BreakOff}
    fields = dict(answer)
    for name, kind in kinds.items():
        if name in fields:
            fields["fault"] = kind(**fields.pop(name))
    return Reply(**fields)
