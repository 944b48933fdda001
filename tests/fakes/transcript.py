"""A conversation as a client is handed it, written down step by step."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from runner.core.ids import new_conversation_id, new_message_id, new_turn_id
from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message, Origin, Part, Role, Text, ToolCall, ToolResult
from runner.core.model import ModelRequest, ModelResponse, ToolSpec

MODEL = "claude-sonnet-5-5"
READ_FILE = ToolSpec(
    name="read_file",
    description="Reads a file.",
    parameters={"type": "object", "properties": {"path": {"type": "string"}}},
)


@dataclass
class Transcript:
    """The messages so far, and how the next request is made of them."""

    model: str = MODEL
    prefix: str = "prefix-1"
    system: str = "You are an editor."
    tools: Sequence[ToolSpec] = (READ_FILE,)
    messages: list[Message] = field(default_factory=list)
    _conversation_id: Any = field(default_factory=new_conversation_id)
    _turn_id: Any = field(default_factory=new_turn_id)

    def user(self, text: str) -> "Transcript":
        return self.add(Role.USER, Text(text=text))

    def context(self, text: str) -> "Transcript":
        return self.add(Role.CONTEXT, Text(text=text))

    def notice(self, text: str) -> "Transcript":
        return self.add(Role.NOTICE, Text(text=text))

    def result(
        self, call: ToolCall, content: JsonObject | None = None, *, is_error: bool = False
    ) -> "Transcript":
        result = ToolResult(
            call_id=call.call_id, name=call.name, content=content or {}, is_error=is_error
        )
        return self.add(Role.TOOL, result)

    def response(self, response: ModelResponse) -> "Transcript":
        """Keep a response the way the engine does."""
        return self.assistant(*response.parts, provider=response.provider)

    def assistant(self, *parts: Part, provider: str = "anthropic") -> "Transcript":
        origin = Origin(provider=provider, model=self.model, prefix=self.prefix)
        return self.add(Role.ASSISTANT, *parts, origin=origin)

    def add(self, role: Role, *parts: Part, origin: Origin | None = None) -> "Transcript":
        self.messages.append(
            Message(
                id=new_message_id(),
                conversation_id=self._conversation_id,
                turn_id=self._turn_id,
                role=role,
                parts=parts,
                seq=len(self.messages) + 1,
                origin=origin,
            )
        )
        return self

    def request(self, **changes: Any) -> ModelRequest:  # noqa: ANN401 - fields of the request
        fields: dict[str, Any] = {
            "agent": "editor",
            "model": self.model,
            "system": self.system,
            "messages": tuple(self.messages),
            "max_tokens": 8000,
            "tools": self.tools,
            "prefix": self.prefix,
        }
        return ModelRequest(**{**fields, **changes})
