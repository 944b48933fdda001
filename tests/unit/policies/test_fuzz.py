"""Nothing that is written outside of policies can change what they say, other than by meaning."""

from collections.abc import Mapping
from typing import Final

from hypothesis import example, given, settings
from hypothesis import strategies as st

from runner.core.authorization import Action, Attempt, Effect
from runner.policies.decision import decide
from tests.unit.policies.layers import layer

#: Text that would matter if it were ever read as code, a pattern, or a part of either.
TRICKS: Final = st.sampled_from(
    [
        "' || true || '",
        '" || true //',
        "true",
        "*",
        "${HOME}",
        "\\",
        "\x00",
        "\ud800",
        "(a+)+$",
        "a" * 5_000 + "b",
        "principal",
        "__class__",
    ]
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | TRICKS
    | st.binary(max_size=4)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=6) | TRICKS | st.just("amount"), inner, max_size=4)
    ),
    max_leaves=20,
)
OBJECTS = st.dictionaries(
    st.sampled_from(["amount", "to", "role", "items", "x"]) | st.text(max_size=6) | TRICKS,
    VALUES,
    max_size=5,
)
ATTEMPTS = st.builds(
    Attempt,
    action=st.sampled_from(Action),
    agent=st.sampled_from(["desk", "other"]) | TRICKS,
    tool=st.none() | st.sampled_from(["refund", "mail_me"]) | TRICKS,
    principal=st.none() | OBJECTS,
    arguments=OBJECTS,
    turn=OBJECTS,
    conversation=OBJECTS,
    context=OBJECTS,
)

#: Conditions that are never true, however they are evaluated.
NEVER: Final = (
    "arguments.amount > 100.0 && arguments.amount < 1.0",
    "arguments.to.matches('^(a+)+$') && arguments.to == 'b'",
    "principal.role == 'admin' && principal.role == 'nobody'",
    "context.items.exists(i, i == 1 && i == 2)",
    "arguments.items.all(i, arguments.items.exists(j, i == j)) && false",
    "tool == 'x' && tool == 'y'",
    "int(arguments.amount) / 0 == 1",
    "turn.x[conversation.x] == 1 && context.amount + 'a' == 'b'",
    "timestamp(string(arguments.x)) == timestamp('x')",
    "{principal.role: 1}[arguments.to] == 2",
)
WHITELISTS: Final = [
    layer({"effect": "allow", "when": condition}, name="operator") for condition in NEVER
]
DENIAL: Final[Mapping[str, object]] = {"effect": "deny", "name": "no"}
DENYING: Final = layer(DENIAL)
BESIDE: Final = [
    layer({"effect": word, "when": condition}, *also)
    for condition in NEVER
    for word in ("allow", "ask", "deny")
    for also in ((), (DENIAL,))
]


@given(attempt=ATTEMPTS)
@settings(max_examples=100, deadline=None)
@example(attempt=Attempt(action=Action.TOOL, agent="desk", arguments={"amount": 2**70}))
@example(attempt=Attempt(action=Action.TOOL, agent="desk", arguments={"to": "a" * 300_000}))
@example(attempt=Attempt(action=Action.TOOL, agent="desk", arguments={"items": [1] * 30_000}))
def test_no_text_makes_a_condition_that_never_holds_allow(attempt: Attempt) -> None:
    for whitelist in WHITELISTS:
        assert decide(attempt, [whitelist]).effect is Effect.DENY


@given(attempt=ATTEMPTS)
@settings(max_examples=100, deadline=None)
def test_no_condition_lifts_what_another_rule_denies(attempt: Attempt) -> None:
    for other in BESIDE:
        verdict = decide(attempt, [DENYING, other])

        assert (verdict.effect, verdict.rule) == (Effect.DENY, "no")
        assert decide(attempt, [other, DENYING]).effect is Effect.DENY


@given(attempt=ATTEMPTS, word=st.sampled_from(["deny", "ask", "allow"]))
@settings(max_examples=100, deadline=None)
def test_a_rule_for_other_tools_changes_nothing(attempt: Attempt, word: str) -> None:
    foreign = {"effect": word, "tools": ("nobodys_tool",), "when": "arguments.amount > 1"}
    # It speaks of all that may be attempted: a rule that allows makes a list of what is allowed.
    mine = {"effect": "ask", "name": "mine", "actions": tuple(Action)}

    assert decide(attempt, [layer(mine, foreign)]) == decide(attempt, [layer(mine)])
