import json

import pytest

from runner.core.jsonvalue import JsonObject
from tests.example_project import ExampleProject, call

ARTICLE: JsonObject = {"headline": "The  light\nis late", "text": "  It was dark. It was late.\n"}


def save(example: ExampleProject, article: JsonObject = ARTICLE, *, key: str) -> JsonObject:
    return call(example.tool("editor", "save_article"), article, key=key)


def read(example: ExampleProject, path: object) -> JsonObject:
    return call(example.tool("archivist", "read_article"), {"path": str(path)})


def file(example: ExampleProject, path: object, *keywords: str) -> JsonObject:
    arguments: JsonObject = {"path": str(path), "keywords": list(keywords)}
    return call(example.tool("archivist", "file_article"), arguments)


def look_up(example: ExampleProject, path: object) -> JsonObject:
    return call(example.tool("editor", "look_up_card"), {"path": str(path)})


def test_what_was_saved_is_read_again(example: ExampleProject) -> None:
    saved = save(example, key="turn_1:call_1")

    assert saved == {
        "path": saved["path"],
        "headline": "The light is late",
        "words": 6,
        "text": "It was dark. It was late.",
    }
    assert read(example, saved["path"]) == saved
    assert (example.root / str(saved["path"])).read_text("utf-8") == (
        "# The light is late\n\nIt was dark. It was late.\n"
    )


def test_saving_again_in_a_task_replaces_and_another_task_has_its_own(
    example: ExampleProject,
) -> None:
    first = save(example, key="turn_1:call_1")
    again = save(example, {"headline": "Late", "text": "Dark."}, key="turn_1:call_2")
    other = save(example, key="turn_2:call_1")

    assert again["path"] == first["path"] != other["path"]
    assert read(example, first["path"])["headline"] == "Late"
    assert len(list((example.root / "out" / "articles").iterdir())) == 2


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param({"headline": " \n"}, "empty", id="no-headline"),
        pytest.param({"text": " "}, "empty", id="no-text"),
        pytest.param({"text": "so " * 251}, "251 words", id="too-long"),
    ],
)
def test_an_article_that_says_nothing_or_too_much_is_refused(
    example: ExampleProject, wrong: JsonObject, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        save(example, {**ARTICLE, **wrong}, key="turn_1:call_1")

    assert not (example.root / "out").exists()


def test_a_card_says_how_an_article_is_filed(example: ExampleProject) -> None:
    path = save(example, key="turn_1:call_1")["path"]

    card = file(example, path, " North  Mole", "lights")

    assert card["keywords"] == ["north mole", "lights"]
    assert card["headline"] == "The light is late"
    assert look_up(example, path) == card


def test_filing_again_keeps_the_mark_and_changes_the_keywords(example: ExampleProject) -> None:
    path = save(example, key="turn_1:call_1")["path"]

    first = file(example, path, "lights")
    again = file(example, path, "towers")

    assert again["mark"] == first["mark"]
    assert look_up(example, path)["keywords"] == ["towers"]
    assert len(list((example.root / "out" / "articles").glob("*.json"))) == 1


@pytest.mark.parametrize(
    "keywords", [[], ["a", " "], list("abcdef")], ids=["none", "empty", "too-many"]
)
def test_an_article_is_filed_under_one_to_five_keywords(
    example: ExampleProject, keywords: list[str]
) -> None:
    path = save(example, key="turn_1:call_1")["path"]

    with pytest.raises(ValueError, match="1 to 5 keywords"):
        file(example, path, *keywords)


def test_what_is_not_filed_has_no_card(example: ExampleProject) -> None:
    path = save(example, key="turn_1:call_1")["path"]

    with pytest.raises(LookupError, match="is not filed"):
        look_up(example, path)


@pytest.mark.parametrize(
    "path",
    ["out/articles/none.md", "config.yaml", "/etc/passwd", "out/articles/../../README.md", "", "."],
)
def test_nothing_but_an_article_can_be_read_or_filed(example: ExampleProject, path: str) -> None:
    (example.root / "README.md").write_text(json.dumps("secret"))
    save(example, key="turn_1:call_1")

    with pytest.raises(LookupError, match="there is no article"):
        read(example, path)
    with pytest.raises(LookupError, match="there is no article"):
        file(example, path, "lights")
