import pytest

from runner.definitions.variants import nearest

MANY = [f"tool_{number}_reader" for number in range(1000)]


@pytest.mark.parametrize(
    ("word", "known", "meant"),
    [
        ("instructons", ["input_schema", "instructions"], "instructions"),
        ("nothing", ["alike"], None),
        ("x", [], None),
        ("tool_77_raeder", MANY, "tool_77_reader"),
        ("ttool_500_reader", MANY, "tool_500_reader"),
    ],
)
def test_the_nearest_word_is_suggested(word: str, known: list[str], meant: str | None) -> None:
    assert nearest(word, known) == meant
