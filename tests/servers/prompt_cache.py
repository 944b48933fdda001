"""A prompt cache that counts, with the API's marks and look-back."""

import json
from typing import Final

from tests.servers.replies import Json
from tests.servers.signatures import blocks_of, digest

_LOOK_BACK: Final = 20


class PromptCache:
    """Knows the prefixes that were marked in earlier requests."""

    def __init__(self) -> None:
        self._known = set[str]()

    def count(self, body: Json) -> dict[str, int]:
        """Return a request's usage, and remember its marked prefixes."""
        entries = [
            *(body.get("tools") or []),
            *(body.get("system") or []),
            *(block for message in body["messages"] for block in blocks_of(message)),
        ]
        prefixes, sizes, marks = [], [], []
        running, size = digest(body["model"]), 0
        for position, entry in enumerate(entries):
            bare = {key: value for key, value in entry.items() if key != "cache_control"}
            running, size = digest([running, bare]), size + len(json.dumps(bare)) // 4 + 1
            prefixes.append(running)
            sizes.append(size)
            if "cache_control" in entry:
                marks.append(position)
        read = max((sizes[at] for at in self._hits(prefixes, marks)), default=0)
        self._known |= {prefixes[mark] for mark in marks}
        cached = sizes[marks[-1]] if marks else 0
        return {
            "input_tokens": size - cached,
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": cached - read,
        }

    def _hits(self, prefixes: list[str], marks: list[int]) -> list[int]:
        return [
            at
            for mark in marks
            for at in range(max(0, mark - _LOOK_BACK), mark + 1)
            if prefixes[at] in self._known
        ]
