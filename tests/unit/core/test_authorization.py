import pytest

from runner.core.authorization import (
    ALLOWED,
    Action,
    Attempt,
    Effect,
    Unrestricted,
    Verdict,
    strictest,
)

ALLOW, ASK, DENY = (Verdict(effect=effect, reason=effect.value) for effect in Effect)


@pytest.mark.parametrize(
    ("said", "holds"),
    [
        ((), ALLOWED),
        ((ALLOW, ASK), ASK),
        ((DENY, ASK, ALLOW), DENY),
        ((ALLOW, ALLOWED), ALLOW),
    ],
)
def test_the_strictest_verdict_holds(said: tuple[Verdict, ...], holds: Verdict) -> None:
    assert strictest(said) is holds


def test_without_policies_everything_is_allowed() -> None:
    attempt = Attempt(action=Action.TOOL, agent="desk")

    assert Unrestricted().decide(attempt, ()) is ALLOWED
