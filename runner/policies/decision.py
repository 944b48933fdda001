"""What all layers together say: the strictest of them decides."""

from collections.abc import Iterable, Sequence
from typing import Final

from runner.core.authorization import ALLOWED, Attempt, Effect, Verdict
from runner.policies.attempt_facts import Facts
from runner.policies.layer import Layer

_STRICTNESS: Final = {Effect.ALLOW: 0, Effect.ASK: 1, Effect.DENY: 2}


def decide(attempt: Attempt, layers: Sequence[Layer]) -> Verdict:
    """
    Say what becomes of an attempt; of verdicts that are equally strict the first layer's counts.

    Where layers have policies but none has anything to say, the last of them allows.
    """
    facts = Facts(attempt)
    said = [verdict for layer in layers if (verdict := layer.decide(facts)) is not None]
    return strictest(said) or _silence(layers)


def strictest(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the strictest of some verdicts, the first where several are."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.effect], default=None)


def _silence(layers: Sequence[Layer]) -> Verdict:
    asked = [layer for layer in layers if not layer.is_empty]
    if not asked:
        return ALLOWED
    return Verdict(effect=Effect.ALLOW, reason="no rule has anything to say", layer=asked[-1].name)
