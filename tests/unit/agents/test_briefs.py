import pytest

from runner.core.jsonvalue import JsonObject
from runner.core.tooling import Tool
from tests.example_project import ExampleProject, call

BRIEF: JsonObject = {
    "title": "Weekly  sync",
    "date": "2026-03-02",
    "summary": "The release moves.",
    "decisions": ["Release 4.2 moves\nto 12 March."],
    "actions": [
        {"owner": "Ana", "what": "Tell the customers", "due": "2026-03-03"},
        {"owner": "Bela", "what": "Rebuild the index"},
    ],
}


@pytest.fixture
def save_brief(example: ExampleProject) -> Tool:
    return example.tool("briefer", "save_brief")


def test_a_brief_is_saved_as_it_is_told(example: ExampleProject, save_brief: Tool) -> None:
    saved = call(save_brief, BRIEF)

    assert (saved["decisions"], saved["actions"]) == (1, 2)
    assert (example.root / str(saved["path"])).read_text("utf-8") == saved["text"]
    assert saved["text"] == (
        "# Weekly sync, 2026-03-02\n"
        "\n"
        "The release moves.\n"
        "\n"
        "## Decisions\n"
        "\n"
        "- Release 4.2 moves to 12 March.\n"
        "\n"
        "## Actions\n"
        "\n"
        "- **Ana** by 2026-03-03: Tell the customers\n"
        "- **Bela**: Rebuild the index\n"
    )


def test_a_brief_without_decisions_and_actions_has_no_empty_sections(save_brief: Tool) -> None:
    saved = call(save_brief, {**BRIEF, "decisions": [], "actions": []})

    assert saved["text"] == "# Weekly sync, 2026-03-02\n\nThe release moves.\n"


def test_a_call_that_is_run_again_leaves_one_file(
    example: ExampleProject, save_brief: Tool
) -> None:
    first = call(save_brief, BRIEF)
    again = call(save_brief, BRIEF)

    assert again == first
    assert len(list((example.root / "out" / "briefs").iterdir())) == 1


def test_two_briefs_of_one_name_have_two_files(save_brief: Tool) -> None:
    first = call(save_brief, BRIEF, key="turn_1:call_1")
    other = call(save_brief, BRIEF, key="turn_2:call_1")

    assert first["path"] != other["path"]


@pytest.mark.parametrize("title", ["../../etc/passwd", "/root", "会議", "", "x" * 300])
def test_no_title_leads_out_of_the_folder(
    example: ExampleProject, save_brief: Tool, title: str
) -> None:
    saved = call(save_brief, {**BRIEF, "title": title})

    path = example.root / str(saved["path"])
    assert path.resolve().parent == example.root.resolve() / "out" / "briefs"


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        pytest.param({"summary": " \n"}, "summary is empty", id="no-summary"),
        pytest.param({"summary": "x" * 801}, "801 characters", id="long-summary"),
        pytest.param({"decisions": ["Yes.", " "]}, "decision is empty", id="empty-decision"),
        pytest.param({"actions": [{"owner": " ", "what": "Go"}]}, "lacks its owner", id="no-owner"),
        pytest.param({"actions": [{"owner": "Ana", "what": ""}]}, "lacks its owner", id="nothing"),
    ],
)
def test_a_brief_that_says_too_little_or_too_much_is_refused(
    example: ExampleProject, save_brief: Tool, wrong: JsonObject, complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint):
        call(save_brief, {**BRIEF, **wrong})

    assert not (example.root / "out").exists()


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"date": "yesterday"}, id="no-date"),
        pytest.param({"actions": [{"owner": "Ana"}]}, id="half-an-action"),
        pytest.param({"decisions": "Yes."}, id="no-list"),
        pytest.param({"folder": "elsewhere"}, id="unknown-argument"),
    ],
)
def test_arguments_of_another_form_never_reach_the_function(
    save_brief: Tool, wrong: JsonObject
) -> None:
    assert save_brief.complaints({**BRIEF, **wrong})


def test_the_model_is_told_of_everything_but_the_context(save_brief: Tool) -> None:
    properties = save_brief.spec.parameters["properties"]

    assert isinstance(properties, dict)
    assert set(properties) == set(BRIEF)
    assert save_brief.spec.description == "Save the brief of a meeting. Saving it ends the task."
