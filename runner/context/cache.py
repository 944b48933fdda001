"""What contributors gave a moment ago, for whoever may have just that."""

from hashlib import sha256
from threading import Lock
from typing import Final

from runner.core.clock import Clock
from runner.core.contributing import ContributorContext
from runner.core.jsonvalue import canonical_json

_MOST: Final = 1_000


class Cache:
    """
    Texts that are used again until their time is over.

    A key is all that a contributor's text can depend on, so that nothing of one agent, principal,
    subject, context or conversation is ever shown to another.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._kept: dict[str, tuple[float, str]] = {}

    def get(self, key: str) -> str | None:
        """Return what is kept under a key, if its time is not over."""
        with self._lock:
            until, text = self._kept.get(key, (0.0, ""))
            return text if key in self._kept and self._clock.monotonic() < until else None

    def put(self, key: str, text: str, *, seconds: float) -> None:
        """Keep a text; when there are too many, what is over and then the oldest goes."""
        now = self._clock.monotonic()
        with self._lock:
            self._kept.pop(key, None)
            if len(self._kept) >= _MOST:
                self._kept = {k: kept for k, kept in self._kept.items() if kept[0] > now}
            while len(self._kept) >= _MOST:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = (now + seconds, text)


def key_of(definition_hash: str, contributor: str, context: ContributorContext) -> str:
    """Name what a contributor gives here: another agent, turn's content or thread, another key."""
    subject = context.subject
    parts = [
        definition_hash,
        contributor,
        context.agent,
        context.conversation_id,
        context.principal,
        None if subject is None else subject.as_json(),
        context.context,
    ]
    return sha256(canonical_json(parts).encode(errors="replace")).hexdigest()
