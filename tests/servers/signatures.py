"""Signs thinking and binds it to all that came before it, as the API does."""

import base64
import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Final

from tests.servers.replies import Block, Json

#: The models on which a change before a thinking block makes it invalid.
BINDING_MODELS: Final = (
    "claude-fable-5-1", "claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5",
    "claude-haiku-5-5",
)  # fmt: skip


def sign(block: Block, *, model: str, before: str) -> Block:
    """Return a thinking block with its signature, or redacted thinking with its data."""
    seal = {"model": model, "before": before, "text": digest(block.get("thinking", ""))}
    token = base64.b64encode(json.dumps(seal).encode()).decode()
    if block["type"] == "redacted_thinking":
        return {**block, "data": token}
    return {**block, "signature": token}


def fault(block: Block, *, model: str, before: str) -> str | None:
    """Say why a replayed block cannot be accepted; another model's is passed over."""
    try:
        seal = json.loads(base64.b64decode(block.get("signature") or block.get("data") or ""))
    except ValueError:
        return "Invalid `signature` in `thinking` block"
    if seal["text"] != digest(block.get("thinking", "")):
        return "Invalid `signature` in `thinking` block"
    if seal["model"] != model or not model.startswith(BINDING_MODELS):
        return None
    if seal["before"] != before:
        return (
            "Invalid `signature` in `thinking` block. The block is bound to a different "
            "conversation."
        )
    return None


def token_of(block: Block) -> str:
    return str(block.get("signature") or block.get("data"))


def stream_of(messages: Sequence[Json]) -> Iterator[tuple[str, Block]]:
    """Every block with its role, however the messages are divided."""
    for message in messages:
        for block in blocks_of(message):
            if not (block["type"] == "text" and not block["text"].strip()):
                yield message["role"], block


def blocks_of(message: Json) -> list[Block]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def frame(body: Json) -> Json:
    """What stands before all messages."""
    return [_unmarked(body.get("system")), _unmarked(body.get("tools"))]


def before(body: Json, blocks: Sequence[tuple[str, Block]]) -> str:
    """Identify the system prompt, the tools and these blocks."""
    return digest([frame(body), _unmarked(list(blocks))])


def digest(value: Json) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:32]


def _unmarked(value: Json) -> Json:
    """Take out the marks for the cache: they bind nothing."""
    if isinstance(value, dict):
        return {k: _unmarked(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, list | tuple):
        return [_unmarked(item) for item in value]
    return value
