"""What is told of a project with mistakes: each once, at its place."""

import json
import os
from pathlib import Path

import pytest

from runner.core.errors import DefinitionError
from runner.definitions.codes import Code
from runner.definitions.report import as_json
from tests.unit.definitions.projects import load, only, told, write
from tests.unit.definitions.texts import AGENT, PYTHON

MISSPELT = {
    "name: a\ndescripton: x\n": "2:1 unknown-key",
    "name: a\nlimits:\n  max_iteration: 3\n": "3:3 unknown-key",
    "name: a\nthinking: {efort: high}\n": "2:12 unknown-key",
    "name: a\nprompt: {mod: full}\n": "2:10 unknown-key",
    "name: a\ntools:\n  - name: b\n    builtn: read_file\n": "4:5 unknown-key",
    "name: a\ntools:\n  - nam: b\n    builtin: read_file\n": "3:5 unknown-key",
    "name: a\ntools:\n  - name: b\n    builtin: read_file\n    max_byte: 3\n": "5:5 unknown-key",
    "kind: tool\nname: a\nbuiltin: read_file\nreadonly: true\n": "4:1 unknown-key",
    "kind: tool\nname: a\nbultin: read_file\n": "3:1 unknown-key",
    "kidn: tool\nname: a\nbuiltin: read_file\n": "1:1 unknown-key",
    "kind: tol\nname: a\nbuiltin: read_file\n": "1:7 unknown-kind",
    "name: a\nprompt: {mode: ful}\n": "2:16 bad-value",
    "name: a\nthinking: adaptiv\n": "2:11 bad-value",
    "kind: tool\nname: a\nbuiltin: read_fle\n": "3:10 bad-value",
    "name: a\nmodel: defalt\n": "2:8 unknown-model",
}


@pytest.mark.parametrize("text", MISSPELT)
def test_a_misspelt_word_is_one_problem_with_the_nearest_right_one(
    text: str, tmp_path: Path
) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": text}).problems)

    assert f"{problem.line}:{problem.column} {problem.code}" == MISSPELT[text]
    assert problem.hint.startswith("did you mean ")
    assert problem.source_line == text.splitlines()[problem.line - 1]


def test_ten_mistakes_in_three_files_are_ten_problems_in_order(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "config.yaml": "worker: {lease: 30}\nmodels: {m: {client: nope, model: x}}\n",
            "agents/b.yaml": "kind: tool\nname: b\nbuiltin: read_file\nroot: /etc\nterminal: '{'\n",
            "agents/a.yaml": "model: nope\n"
            "tools: [nope, b, b, {name: c, builtin: read_file, timout: 3s}]\n"
            "limits: {timeout: soon, max_tool_executions_by_name: {d: 3}}\n"
            "thinking:\n",
        },
    )

    assert told(project.problems) == [
        "agents/a.yaml:2:9 unknown-tool",
        "agents/a.yaml:2:18 duplicate-tool",
        "agents/a.yaml:2:51 unknown-key",
        "agents/a.yaml:3:19 bad-duration",
        "agents/a.yaml:3:55 unknown-tool",
        "agents/a.yaml:4:1 null-value",
        "agents/b.yaml:4:7 path-outside",
        "agents/b.yaml:5:11 bad-template",
        "config.yaml:1:17 bad-duration",
        "config.yaml:2:22 unknown-client",
    ]
    facts = json.loads(as_json(project.problems))
    assert [f"{one['path']}:{one['line']}:{one['column']} {one['code']}" for one in facts] == told(
        project.problems
    )
    assert not project.is_sound


def test_a_project_with_errors_is_refused_in_one_sentence(tmp_path: Path) -> None:
    one = load(tmp_path, {"agents/a.yaml": "nam: a\n"})
    with pytest.raises(
        DefinitionError, match=r"1 problem, first at agents/a.yaml:1:1: .* validate"
    ):
        one.ensure_sound()

    two = load(tmp_path, {"agents/b.yaml": "nam: b\n"})
    with pytest.raises(DefinitionError, match="2 problems"):
        two.ensure_sound()


def test_duplicate_definitions_name_both_files(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": AGENT, "agents/b.yaml": f"# again\n{AGENT}"})

    problem = only(project.problems)
    assert (problem.path, problem.line, problem.code) == (
        "agents/b.yaml",
        2,
        Code.DUPLICATE_DEFINITION,
    )
    assert "agents/a.yaml:1" in problem.message
    assert [str(place) for place in problem.related] == ["agents/a.yaml:1:7"]


@pytest.mark.parametrize(
    ("text", "name"),
    [("name: no\n", "no"), ("name: '0755'\n", "0755"), ("name: 0755\n", "0755")],
)
def test_a_word_keeps_its_text(text: str, name: str, tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": text})

    assert project.problems == ()
    assert list(project.registry.agents) == [name]


@pytest.mark.parametrize("value", ["1.10", "12", "true", "1e3"])
def test_what_is_no_text_asks_for_quotes(value: str, tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": f"description: {value}\n"}).problems)

    assert (problem.code, problem.column) == (Code.WRONG_TYPE, 14)
    assert "quotes" in problem.hint


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("tools: reader\n", "put the value in [ ]", id="a text for a list"),
        pytest.param("tools: [read_file]\n", "builtin: read_file", id="a builtin by its name"),
        pytest.param("tools: [x]\n", "kind: tool", id="an unknown tool"),
        pytest.param("instructions:\n", "give it a value", id="no value"),
    ],
)
def test_a_hint_says_what_to_write(text: str, told: str, tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": text}).problems)

    assert told in problem.hint


def test_a_missing_file_comes_with_the_rule_for_paths(tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": "instructions_file: agents/a.md\n"}).problems)

    assert "start from the folder of the file" in problem.message


def test_a_pattern_for_scripts_that_matches_nothing_is_a_warning(tmp_path: Path) -> None:
    text = "clients: {offline: {type: scripted, scripts: ['no/*.yaml']}}\n"

    project = load(tmp_path, {"config.yaml": text, "agents/a.yaml": "name: a\n"})

    assert told(project.problems) == ["config.yaml:1:47 missing-file"]
    assert project.is_sound


def test_a_number_with_leading_zeros_is_no_number(tmp_path: Path) -> None:
    problem = only(load(tmp_path, {"agents/a.yaml": "limits: {max_iterations: 010}"}).problems)

    assert (problem.code, problem.hint) == (Code.WRONG_TYPE, "a number has no leading zeros")


def test_a_required_key_without_a_value_is_one_problem(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": "kind: tool\nname:\npython:\n"})

    assert told(project.problems) == [
        "agents/a.yaml:2:1 null-value",
        "agents/a.yaml:3:1 null-value",
    ]


def test_all_unset_variables_of_a_project_are_told_together(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "config.yaml": "database: {url: '${A}'}\nbroker: {url: '${B:?where is it}'}\n",
            "agents/a.yaml": "model: ${C}\ntools: ['${D}']\nlimits: {timeout: '${'}\n",
        },
    )

    assert told(project.problems) == [
        "agents/a.yaml:1:8 missing-variable",
        "agents/a.yaml:2:9 missing-variable",
        "agents/a.yaml:3:19 bad-interpolation",
        "config.yaml:1:17 missing-variable",
        "config.yaml:2:15 missing-variable",
    ]


def test_merge_keys_are_told_apart_from_other_unknown_keys(tmp_path: Path) -> None:
    text = "x-limits: &limits {max_iterations: 3}\nlimits: {<<: *limits}\n"

    problem = only(load(tmp_path, {"agents/a.yaml": text}).problems)

    assert (problem.line, problem.code) == (2, Code.UNKNOWN_KEY)
    assert "merge keys" in problem.hint


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        pytest.param("- a\n", ["1:1 wrong-type"], id="a list"),
        pytest.param("just text\n", ["1:1 wrong-type"], id="a text"),
        pytest.param("", ["1:1 empty-file"], id="nothing"),
        pytest.param("# a comment\n", ["1:1 empty-file"], id="a comment"),
        pytest.param("kind: [tool]\n", ["1:7 unknown-kind"], id="a list as kind"),
        pytest.param("kind:\n", ["1:1 null-value"], id="no kind"),
        pytest.param("kind: ghost\n", ["1:7 unknown-kind"], id="a kind that does not exist"),
        pytest.param("name: A b\n", ["1:7 bad-name"], id="a bad name"),
        pytest.param(
            "name: b\nbuiltin: read_file\n", ["1:1 missing-key"], id="a tool without kind"
        ),
        pytest.param("kind: tool\nname: b\n", ["1:1 missing-key"], id="a tool of no kind"),
        pytest.param(
            "kind: tool\nbuiltin: read_file\npython: a:b\n", ["1:1 key-conflict"], id="two kinds"
        ),
        pytest.param("kind: tool\npython: os\n", ["2:9 bad-value"], id="no function"),
        pytest.param("kind: tool\npython: os:system\n", ["2:9 module-not-allowed"], id="os"),
        pytest.param(
            "kind: tool\nbuiltin: read_file\nparameters: {a: string}\n",
            ["3:1 key-conflict"],
            id="parameters of a builtin tool",
        ),
        pytest.param(
            "kind: tool\nbuiltin: read_file\nroot: x\n", ["3:7 missing-file"], id="no root"
        ),
        pytest.param(
            "kind: tool\nbuiltin: read_file\nterminal: '{a.b}'\n", ["3:11 bad-template"], id="a dot"
        ),
        pytest.param("tools: reader\n", ["1:8 wrong-type"], id="a text for a list"),
        pytest.param("tools: [3]\n", ["1:9 wrong-type"], id="a number for a tool"),
        pytest.param("tools: ['a b']\n", ["1:9 bad-name"], id="no tool's name"),
        pytest.param("tools: [{name: b}]\n", ["1:9 missing-key"], id="a tool of no kind, inline"),
        pytest.param(
            "tools: [{name: b, builtin: read_file, root: ../..}]\n",
            ["1:45 path-outside"],
            id="a root outside, inline",
        ),
        pytest.param("input_schema: 3\n", ["1:15 wrong-type"], id="a number for a schema"),
        pytest.param("input_schema: {type: text}\n", ["1:22 bad-schema"], id="no schema"),
        pytest.param("input_schema: no.json\n", ["1:15 missing-file"], id="no schema file"),
        pytest.param("output_schema: {$ref: x}\n", ["1:23 bad-schema"], id="a far reference"),
        pytest.param("thinking: {}\n", ["1:11 missing-key"], id="empty thinking"),
        pytest.param("model: a b\n", ["1:8 bad-value"], id="no model"),
        pytest.param("model: nope/x\n", ["1:8 unknown-client"], id="a model of no client"),
        pytest.param("instructions_file: no.md\n", ["1:20 missing-file"], id="no instructions"),
        pytest.param("instructions_file: /etc/passwd\n", ["1:20 path-outside"], id="absolute"),
        pytest.param("instructions_file: ../../x\n", ["1:20 path-outside"], id="outside"),
        pytest.param("instructions_file: a.yaml\n", ["1:20 recursive-file"], id="itself"),
        pytest.param("instructions_file: .\n", ["1:20 unreadable-file"], id="a folder"),
        pytest.param("instructions: x\ninstructions_file: a.md\n", ["2:1 key-conflict"], id="both"),
    ],
)
def test_each_mistake_is_told_once(text: str, problems: list[str], tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": text})

    assert told(project.problems) == [f"agents/a.yaml:{problem}" for problem in problems]
    assert dict(project.registry.agents) == {}


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ("{city: text}", "3:20"),
        ("{city: {type: text}}", "3:27"),
        ("{type: object, properties: {city: {type: text}}}", "3:54"),
        ("{city: 3}", "3:20"),
    ],
)
def test_a_flaw_in_parameters_is_told_where_it_is_written(
    parameters: str, place: str, tmp_path: Path
) -> None:
    text = f"kind: tool\npython: shop:refund\nparameters: {parameters}\n"

    project = load(tmp_path, {**PYTHON, "agents/a.yaml": text})

    assert told(project.problems) == [f"agents/a.yaml:{place} bad-schema"]


def test_a_mistake_in_a_schema_file_is_told_there(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/a.yaml": "input_schema: _s/a.json\noutput_schema: _s/b.yaml\n",
            "agents/c.yaml": "input_schema: _s/c.yaml\n",
            "agents/_s/a.json": '{\n  "type": "text"\n}',
            "agents/_s/b.yaml": "a: [\n",
            "agents/_s/c.yaml": "- 1\n",
        },
    )

    assert told(project.problems) == [
        "agents/_s/a.json:2:11 bad-schema",
        "agents/_s/b.yaml:1:5 invalid-syntax",
        "agents/c.yaml:1:15 bad-schema",
    ]
    assert project.problems[0].source_line == '  "type": "text"'


def test_links_out_of_the_project_are_told_and_not_read(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(tmp_path, {"secret.yaml": AGENT, "more/a.yaml": AGENT, "project/agents/ok.yaml": AGENT})
    agents = root / "agents"
    (agents / "secret.yaml").symlink_to(tmp_path / "secret.yaml")
    (agents / "more").symlink_to(tmp_path / "more")
    (agents / "notes.txt").symlink_to(tmp_path / "secret.yaml")
    (agents / "gone.yaml").symlink_to("nowhere.yaml")
    (agents / "loop").symlink_to(".")
    (agents / "again.yaml").symlink_to("ok.yaml")

    project = load(root, {})

    assert told(project.problems) == [
        "agents/gone.yaml:1:1 missing-file",
        "agents/more:1:1 path-outside",
        "agents/ok.yaml:1:7 duplicate-definition",
        "agents/secret.yaml:1:1 path-outside",
    ]


def test_what_is_no_regular_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    os.mkfifo(tmp_path / "agents" / "pipe.yaml")

    assert told(load(tmp_path, {}).problems) == ["agents/pipe.yaml:1:1 unreadable-file"]


def test_a_file_name_that_is_no_utf_8_can_be_told(tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/agents/\xff.yaml")).write_text("name: [\n")

    problem = only(load(tmp_path, {}).problems)

    assert problem.path == "agents/\N{REPLACEMENT CHARACTER}.yaml"
    json.dumps(problem.to_json(), ensure_ascii=False).encode()


def test_a_file_named_unlike_a_name_says_so(tmp_path: Path) -> None:
    assert told(load(tmp_path, {"agents/My Agent.yaml": "model: fast\n"}).problems) == [
        "agents/My Agent.yaml:1:1 bad-name"
    ]


def test_of_several_documents_each_needs_its_name(tmp_path: Path) -> None:
    project = load(tmp_path, {"agents/a.yaml": "name: b\n---\nmodel: fast\n"})

    assert told(project.problems) == ["agents/a.yaml:3:1 missing-key"]


def test_references_to_broken_definitions_are_not_told_again(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "agents/a.yaml": "tools: [b, c, d, e]\n",
            "agents/b.yaml": "kind: tool\nbuiltin: oops\n",
            "agents/c.yaml": "kind: tool\nname: d\nbuiltin: [\n",
            "agents/e.yaml": "kind: nope\n",
        },
    )

    assert told(project.problems) == [
        "agents/b.yaml:2:10 bad-value",
        "agents/c.yaml:3:11 invalid-syntax",
        "agents/e.yaml:1:7 unknown-kind",
    ]


def test_doubtful_parts_of_the_config_cause_no_further_problems(tmp_path: Path) -> None:
    project = load(
        tmp_path,
        {
            "config.yaml": "models: {m: 3}\npython_modules: 3\n",
            "agents/a.yaml": "model: m\n",
            "agents/b.yaml": "kind: tool\npython: shop:refund\n",
        },
    )

    assert told(project.problems) == ["config.yaml:1:13 wrong-type", "config.yaml:2:17 wrong-type"]
