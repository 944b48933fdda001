"""All contributors of one agent, asked together."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from runner.context.blocks import context_block, cut
from runner.context.cache import Cache, key_of
from runner.context.source import Source
from runner.core.clock import Clock
from runner.core.contributing import Contribution, ContributorContext, Gathered, Skipped
from runner.core.errors import ContributorFailed, OutboundCancelled, OutboundError
from runner.core.jsonvalue import storable_text
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One contributor."""

    name: str
    about: str
    source: Source
    trusted: bool
    max_chars: int
    #: Seconds it may take.
    timeout: float
    on_error: Literal["fail", "skip"]
    #: Seconds for which what it gave is used again; None never.
    ttl: float | None = None

    def block(self, text: str) -> str:
        """Write what it gave as the model reads it; nothing for nothing."""
        told = cut(storable_text(text).strip(), max_chars=self.max_chars)
        if not told:
            return ""
        return context_block(self.name, told, trusted=self.trusted, about=self.about)


class Team:
    """Contributors in the order in which they are told."""

    def __init__(
        self, members: Sequence[Member], *, definition_hash: str, cache: Cache, clock: Clock
    ) -> None:
        self._members = members
        self._definition_hash = definition_hash
        self._cache = cache
        self._clock = clock

    def gather(self, context: ContributorContext, *, seconds: float) -> Gathered:
        """
        Ask all of them side by side, each within its own time limit and *seconds*.

        Raises:
            ContributorFailed: One that its turn cannot go on without gave nothing.
            OutboundCancelled: The turn does not want it any more.
        """
        begun = [(member, self._begin(member, context, seconds)) for member in self._members]
        contributions: list[Contribution] = []
        skipped: list[Skipped] = []
        for member, finish in begun:
            try:
                text = finish()
            except OutboundCancelled:
                raise
            except OutboundError as error:
                if member.on_error == "fail":
                    raise ContributorFailed(member.name, str(error)) from error
                skipped.append(Skipped(name=member.name, reason=str(error)))
            else:
                contributions += [Contribution(name=member.name, text=text)] if text else []
        return Gathered(contributions=contributions, skipped=skipped)

    def _begin(
        self, member: Member, context: ContributorContext, seconds: float
    ) -> Callable[[], str]:
        """Start asking one, and return what waits for its block."""
        # What belongs to no conversation yet belongs to nobody who could ask again.
        keeps = member.ttl is not None and bool(context.conversation_id)
        key = key_of(self._definition_hash, member.name, context) if keeps else ""
        known = self._cache.get(key) if keeps else None
        if known is not None:
            return lambda: known
        limit = Limit(min(member.timeout, seconds), context.cancelled, self._clock)
        job = limit.start(partial(_read, member.source, context, limit), name=member.name)

        def finish() -> str:
            block = member.block(job.result())
            if keeps:
                self._cache.put(key, block, seconds=member.ttl or 0)
            return block

        return finish


def _read(source: Source, context: ContributorContext, limit: Limit) -> str:
    try:
        return source.read(context, limit)
    except OutboundError:
        raise
    except BaseException as error:  # whatever foreign code raised, exits of threads included
        # Its message may hold what nobody is to see.
        raise OutboundError(f"it raised {type(error).__name__}") from error
