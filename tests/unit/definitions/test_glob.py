import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.definitions.glob import Glob, covers

PIECES = st.text(alphabet="ab*", max_size=8)
WORDS = st.text(alphabet="ab", max_size=12)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("mail", "mail", True),
        ("mail", "mail_me", False),
        ("mail_*", "mail_", True),
        ("mail_*", "mail", False),
        ("*_mail", "send_mail", True),
        ("*_mail", "send_mails", False),
        ("a*b*c", "a-b-c", True),
        ("a*b*c", "a-c-b", False),
        ("a*a", "a", False),
        ("ab*ba", "aba", False),
        ("*", "", True),
        ("a.c", "abc", False),
        ("[ab]", "a", False),
        ("a?", "ab", False),
    ],
)
def test_only_a_star_stands_for_anything(pattern: str, text: str, *, matches: bool) -> None:
    assert Glob.of(pattern).matches(text) is matches


def test_a_long_text_that_almost_matches_takes_no_time() -> None:
    assert not Glob.of("*a" * 50 + "*b").matches("a" * 200_000)


@given(pattern=PIECES, pieces=st.lists(WORDS, max_size=9))
def test_what_stands_for_the_stars_may_be_anything(pattern: str, pieces: list[str]) -> None:
    head, *rest = pattern.split("*")
    filled = head + "".join(
        (pieces[index] if index < len(pieces) else "") + part for index, part in enumerate(rest)
    )

    assert Glob.of(pattern).matches(filled)


@given(wider=PIECES, narrower=PIECES, text=WORDS)
def test_a_pattern_that_covers_another_matches_whatever_that_does(
    wider: str, narrower: str, text: str
) -> None:
    if covers(wider, narrower) and Glob.of(narrower).matches(text):
        assert Glob.of(wider).matches(text)
