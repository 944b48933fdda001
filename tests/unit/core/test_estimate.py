import pytest

from runner.core.estimate import estimate_tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("   ", 0, id="spaces belong to what follows"),
        pytest.param("The quick brown fox jumps.", 6, id="words and a mark"),
        pytest.param("internationalisation", 3, id="a long word"),
        pytest.param("1234567", 3, id="a number"),
        pytest.param("a\n\n  b", 3, id="a line break with what is around it"),
        pytest.param("日本語", 3, id="another script"),
        pytest.param("==========", 4, id="a row of marks"),
        pytest.param("snake_case", 3, id="an underscore"),
    ],
)
def test_tokens_are_estimated_from_words_numbers_and_marks(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_a_long_text_is_estimated_in_no_time() -> None:
    assert estimate_tokens("word, " * 200_000) == 400_000
