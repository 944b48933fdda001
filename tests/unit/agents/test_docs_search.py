import pytest

from runner.core.tooling import Tool
from tests.example_project import ExampleProject, call

PAGES = {
    "fruit.md": """\
# Fruit

Apples are picked in autumn.

## Storing

Store apples in a cool cellar. Retries are of no use.

```yaml
apples:

  cellar: cool
```
""",
    "stone.md": "# Stone\n\nGranite is hard.\n\n- a list\n- of stones\n"
    "\n| kind | use |\n|---|---|\n| slate | roofs |\n| basalt | roads |\n",
}


@pytest.fixture
def search_docs(example: ExampleProject) -> Tool:
    for page in (example.root / "docs").iterdir():
        page.unlink()
    for name, text in PAGES.items():
        (example.root / "docs" / name).write_text(text)
    return example.tool("guide", "search_docs")


def found(tool: Tool, words: str, most: int = 3) -> str:
    return str(call(tool, {"words": words, "most": most})["result"])


def test_a_passage_is_shown_with_the_place_where_it_stands(search_docs: Tool) -> None:
    assert found(search_docs, "granite") == "stone.md, line 3 (Stone):\nGranite is hard."


def test_the_passage_that_has_more_of_the_words_comes_first(search_docs: Tool) -> None:
    first = found(search_docs, "store apples cellar", most=1)

    assert first.startswith("fruit.md, line 7 (Fruit / Storing):\nStore apples")


@pytest.mark.parametrize("word", ["retry", "retried", "retrying", "RETRIES"])
def test_a_word_is_found_in_its_other_forms(search_docs: Tool, word: str) -> None:
    assert "Retries are" in found(search_docs, word)


def test_code_is_one_passage_with_its_empty_lines(search_docs: Tool) -> None:
    shown = found(search_docs, "yaml")

    assert shown.endswith("```yaml\napples:\n\n  cellar: cool\n```")


def test_each_row_of_a_table_is_a_passage(search_docs: Tool) -> None:
    assert found(search_docs, "basalt") == "stone.md, line 11 (Stone):\n| basalt | roads |"


def test_the_names_of_columns_are_no_passage(search_docs: Tool) -> None:
    assert "kind" not in found(search_docs, "kind of stone", most=8).partition("\n")[2]


def test_words_of_a_heading_find_what_stands_below_it(search_docs: Tool) -> None:
    assert "- a list" in found(search_docs, "stone", most=8)


def test_nothing_found_is_said_with_the_words_that_were_looked_for(search_docs: Tool) -> None:
    assert found(search_docs, "What about the xyzzy?") == (
        "Nothing in the documentation speaks of xyzzy."
    )


@pytest.mark.parametrize("words", ["", "?!", "what is the"])
def test_words_that_tell_nothing_are_refused(search_docs: Tool, words: str) -> None:
    with pytest.raises(ValueError, match="at least one word"):
        found(search_docs, words)


@pytest.mark.parametrize(("most", "shown"), [(-1, 1), (0, 1), (2, 2), (100, 3)])
def test_as_many_passages_are_shown_as_are_asked_for_within_reason(
    search_docs: Tool, most: int, shown: int
) -> None:
    assert found(search_docs, "apples", most).count("line ") == shown
