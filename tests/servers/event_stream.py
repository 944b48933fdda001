"""Writes a message as the events of a stream."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Final

from tests.servers.replies import Block, Json, Reply

_CHARS: Final = 7


def events(reply: Reply, content: Sequence[Block], *, head: Mapping[str, Json]) -> Iterator[Json]:
    """Write *reply*, whose blocks are complete in *content*, beginning with *head*."""
    written = _events(reply, content, head=head)
    if not reply.with_noise:
        yield from written
        return
    for number, event in zip(count(), written):
        yield {"type": "ping"}
        yield event
        if number:
            yield {"type": f"unheard_of_{number}", "data": {"index": 0}}


def encode(event: Json) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()


def _events(reply: Reply, content: Sequence[Block], *, head: Mapping[str, Json]) -> Iterator[Json]:
    yield {"type": "message_start", "message": {**head, "content": [], "stop_reason": None}}
    for index, block in enumerate(content):
        yield from _block(index, block)
    delta = {
        "stop_reason": reply.stop_reason,
        "stop_sequence": None,
        "stop_details": reply.stop_details,
    }
    produced = len(json.dumps(list(content))) // 4
    yield {
        "type": "message_delta",
        "delta": delta,
        "usage": {"output_tokens": produced, **reply.final_usage},
    }
    yield {"type": "message_stop"}


def _block(index: int, block: Block) -> Iterator[Json]:
    opening = {key: value for key, value in block.items() if not key.startswith("_")}
    deltas: list[Json] = []
    match block["type"]:
        case "text":
            opening["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        case "thinking":
            opening |= {"thinking": "", "signature": ""}
            deltas = [
                *({"type": "thinking_delta", "thinking": p} for p in _pieces(block["thinking"])),
                {"type": "signature_delta", "signature": block["signature"]},
            ]
        case "tool_use" | "server_tool_use":
            opening["input"] = {}
            written = block.get("_json")
            if written is None:
                written = json.dumps(block["input"]) if block["input"] else ""
            deltas = [
                {"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written)
            ]
        case _:
            pass
    deltas += block.get("_deltas", [])
    yield {"type": "content_block_start", "index": index, "content_block": opening}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    if not block.get("_open"):
        yield {"type": "content_block_stop", "index": index}


def _pieces(written: str) -> list[str]:
    return [written[at : at + _CHARS] for at in range(0, len(written), _CHARS)]
