import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.context.cache import Cache, key_of
from runner.context.team import Member, Team
from runner.core.clock import Clock, SystemClock
from runner.core.contributing import ContributorContext, Subject
from runner.core.errors import ContributorFailed, OutboundCancelled, OutboundError
from tests.fakes.cancellation import never
from tests.fakes.clock import FakeClock
from tests.fakes.contributors import FakeSource, known

MEMBER = Member(
    name="one",
    about="",
    source=FakeSource(lambda _: "text"),
    trusted=False,
    max_chars=1000,
    timeout=20,
    on_error="fail",
)


def raising(error: BaseException) -> Callable[[ContributorContext], str]:
    def tell(_: ContributorContext) -> str:
        raise error

    return tell


def member(name: str, tell: Callable[[ContributorContext], str]) -> Member:
    return replace(MEMBER, name=name, source=FakeSource(tell))


def team(*members: Member, clock: Clock | None = None, cache: Cache | None = None) -> Team:
    clock = clock or SystemClock()
    return Team(members, definition_hash="hash", cache=cache or Cache(clock), clock=clock)


def texts(found: Team, context: ContributorContext | None = None) -> list[str]:
    return [each.text for each in found.gather(context or known(), seconds=20).contributions]


def test_what_contributors_give_stands_in_their_order() -> None:
    second_done = Event()

    def slow(_: ContributorContext) -> str:
        assert second_done.wait(10)
        return "slow <b>"

    def quick(_: ContributorContext) -> str:
        second_done.set()
        return " quick\n"

    assert texts(team(member("a", slow), member("b", quick))) == [
        '<context name="a" trusted="no">\nslow &lt;b>\n</context>',
        '<context name="b" trusted="no">\nquick\n</context>',
    ]


@pytest.mark.parametrize("text", ["", " \n"])
def test_nothing_given_is_nothing_told(text: str) -> None:
    assert texts(team(member("a", lambda _: text))) == []


def test_what_no_database_can_hold_is_replaced() -> None:
    [block] = texts(team(member("a", lambda _: "a\x00b\ud800")))

    assert "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}" in block


def test_a_long_text_is_cut_before_it_is_told() -> None:
    [block] = texts(team(replace(member("a", lambda _: "<" * 5000), max_chars=100)))

    assert "characters in the middle are left out" in block
    assert len(block) < 600


def test_a_contributor_that_fails_fails_the_turn_and_is_named() -> None:
    failing = member("account", raising(OutboundError("the server answered with status 500")))

    with pytest.raises(ContributorFailed) as caught:
        team(member("a", lambda _: "x"), failing).gather(known(), seconds=20)

    assert caught.value.contributor == "account"
    assert str(caught.value) == (
        "the contributor 'account' failed: the server answered with status 500"
    )


@pytest.mark.parametrize(
    "error", [ValueError("hunter2"), SystemExit("hunter2"), KeyboardInterrupt("hunter2")]
)
def test_what_foreign_code_raises_is_told_without_its_words(error: BaseException) -> None:
    with pytest.raises(ContributorFailed, match=f"it raised {type(error).__name__}$") as caught:
        team(member("a", raising(error))).gather(known(), seconds=20)

    assert "hunter2" not in str(caught.value)


def test_a_contributor_that_may_be_skipped_is_left_out_and_told() -> None:
    failing = replace(member("a", raising(OutboundError("no answer"))), on_error="skip")

    gathered = team(failing, member("b", lambda _: "x")).gather(known(), seconds=20)

    assert [each.name for each in gathered.contributions] == ["b"]
    assert [(each.name, each.reason) for each in gathered.skipped] == [("a", "no answer")]


@pytest.mark.parametrize(("timeout", "seconds"), [(0.1, 20.0), (20.0, 0.1), (20.0, 0.0)])
def test_a_contributor_ends_with_its_own_time_and_with_its_turns(
    timeout: float, seconds: float
) -> None:
    stuck = replace(member("a", lambda _: str(Event().wait(5))), timeout=timeout)

    with pytest.raises(ContributorFailed, match="it took longer than"):
        team(stuck).gather(known(), seconds=seconds)


def test_contributors_of_a_turn_that_was_taken_away_end_at_once() -> None:
    flag = never()

    def cancel(_: ContributorContext) -> str:
        flag.set()
        Event().wait(5)
        return "late"

    stuck = replace(member("a", cancel), on_error="skip")
    with pytest.raises(OutboundCancelled):
        team(stuck).gather(known(cancelled=flag), seconds=20)


def kept(tell: Callable[[ContributorContext], str], clock: Clock) -> tuple[Team, FakeSource]:
    source = FakeSource(tell)
    return team(replace(MEMBER, source=source, ttl=60), clock=clock), source


def test_what_was_given_is_used_again_until_its_time_is_over() -> None:
    clock = FakeClock()
    numbers = iter(range(10))
    found, source = kept(lambda _: f"number {next(numbers)}", clock)

    first, second = texts(found), texts(found, known(turn="turn_2"))
    clock.advance(61)
    third = texts(found)

    assert first == second != third
    assert len(source.asked) == 2


def test_without_a_time_to_keep_it_each_is_asked_again() -> None:
    source = FakeSource(lambda _: "x")
    found = team(replace(MEMBER, source=source))

    texts(found)
    texts(found)

    assert len(source.asked) == 2


def test_a_failure_is_not_kept() -> None:
    answers: list[BaseException | None] = [OutboundError("once"), None]

    def tell(_: ContributorContext) -> str:
        error = answers.pop(0)
        if error:
            raise error
        return "better"

    found, _ = kept(tell, FakeClock())
    with pytest.raises(ContributorFailed):
        texts(found)

    assert "better" in texts(found)[0]


def test_what_belongs_to_no_conversation_is_not_kept() -> None:
    found, source = kept(lambda _: "x", FakeClock())

    texts(found, known(conversation=""))
    texts(found, known(conversation=""))

    assert len(source.asked) == 2


OTHERS = [
    pytest.param(known(agent="other"), id="agent"),
    pytest.param(known(conversation="conv_2"), id="run"),
    pytest.param(known(principal={"id": 1}), id="principal"),
    pytest.param(known(subject=None), id="no-subject"),
    pytest.param(known(subject=Subject(type="ticket", id="4712")), id="subject"),
    pytest.param(known(context={"account": 1}), id="context"),
]


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_that_is_kept_is_shown_to_another(other: ContributorContext) -> None:
    found, source = kept(repr, FakeClock())

    mine, theirs = texts(found), texts(found, other)

    assert mine != theirs
    assert source.asked[1] == other


def test_what_is_kept_of_one_definition_is_not_shown_to_another() -> None:
    clock = FakeClock()
    cache = Cache(clock)
    first = Team([replace(MEMBER, ttl=60)], definition_hash="a", cache=cache, clock=clock)
    second = Team(
        [replace(MEMBER, ttl=60, source=FakeSource(lambda _: "mine"))],
        definition_hash="b",
        cache=cache,
        clock=clock,
    )

    assert texts(first) != texts(second)


Names = st.sampled_from(["a", "b", "ab", ""])
Values = st.dictionaries(Names, st.one_of(Names, st.integers(0, 2), st.booleans()), max_size=2)
Known = st.builds(
    known,
    agent=Names,
    conversation=Names,
    principal=st.none() | Values,
    context=Values,
    subject=st.none() | st.builds(Subject, type=Names, id=Names, text=Names),
)


@given(st.lists(st.tuples(Names, Names, Known), min_size=2, max_size=8))
def test_keys_are_equal_only_where_all_that_may_be_told_is_equal(
    asked: Sequence[tuple[str, str, ContributorContext]],
) -> None:
    by_key: dict[str, str] = {}
    for definition, name, context in asked:
        told = json.dumps(
            [
                [definition, name, context.agent, context.conversation_id],
                [context.principal, repr(context.subject), context.context],
            ],
            sort_keys=True,
        )

        assert by_key.setdefault(key_of(definition, name, context), told) == told


def test_not_more_than_a_thousand_texts_are_kept() -> None:
    clock = FakeClock()
    cache = Cache(clock)
    cache.put("short", "x", seconds=1)
    clock.advance(2)
    for number in range(1200):
        cache.put(str(number), "x", seconds=60)

    assert cache.get("short") is None
    assert cache.get("199") is None
    assert cache.get("200") == "x"
    assert len(cache._kept) == 1000
