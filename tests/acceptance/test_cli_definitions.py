"""The commands about files: validate, agents, config, schema, new."""

from pathlib import Path

import pytest

from tests.program import Program

MISTAKEN = """\
name: mistaken
descripton: Has a misspelt key.
tools: [nothing]
"""
TOOL = """\
kind: tool
name: note
description: Notes something.
python: notes:note
"""
MODULE = """\
from pathlib import Path

Path(__file__).with_name("imported").touch()


def note(text: str) -> str:
    return text
"""


def test_a_project_without_mistakes_is_summed_up_in_a_line(program: Program) -> None:
    done = program.run("validate")

    assert (done.code, done.out, done.err) == (0, "1 agent, no tools, no problems\n", "")


def test_every_mistake_is_printed_with_its_place_and_a_hint(program: Program) -> None:
    program.write("agents/mistaken.yaml", MISTAKEN)

    done = program.run("validate")

    lines = done.out.splitlines()
    assert done.code == 1
    assert lines[0].startswith("agents/mistaken.yaml:2:1: error: ")
    assert lines[1:3] == ["    descripton: Has a misspelt key.", "    ^"]
    assert "description" in lines[3]
    assert any(line.startswith("agents/mistaken.yaml:3:9: error: ") for line in lines)
    assert lines[-1] == "2 errors; free of errors: 1 agent, no tools"


@pytest.mark.parametrize("arguments", [["--json"], ["--format", "json"]], ids=str)
def test_programs_get_the_same_mistakes(program: Program, arguments: list[str]) -> None:
    program.write("agents/mistaken.yaml", MISTAKEN)

    done = program.run("validate", *arguments)

    assert done.code == 1
    assert done.document["agents"] == 1
    assert [(one["path"], one["line"], one["code"]) for one in done.document["problems"]] == [
        ("agents/mistaken.yaml", 2, "unknown-key"),
        ("agents/mistaken.yaml", 3, "unknown-tool"),
    ]


def test_github_gets_annotations(program: Program) -> None:
    program.write("agents/mistaken.yaml", MISTAKEN)

    done = program.run("validate", "--format", "github")

    first = done.out.splitlines()[0]
    assert done.code == 1
    assert first.startswith("::error file=agents/mistaken.yaml,line=2,col=1,title=unknown-key::")


def test_a_mistake_in_the_config_is_a_problem_too(program: Program) -> None:
    program.write("config.yaml", "agents_dri: agents\n")

    done = program.run("validate")

    assert done.code == 1
    assert done.out.startswith("config.yaml:1:1: error: ")


def test_a_config_that_is_named_and_not_there_is_an_error(program: Program) -> None:
    done = program.run_apart("--config", "nope.yaml", "validate")

    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: there is no config file ")


def test_a_mistake_in_a_script_is_a_problem_at_its_line(program: Program) -> None:
    program.write("script.yaml", "- agent: hello\n  anwsers: [{text: Hi.}]\n")

    done = program.run("validate")

    assert done.code == 1
    assert done.out.startswith("script.yaml:2:3: error: unknown key 'anwsers'")
    assert "did you mean 'answers'?" in done.out


def test_functions_are_imported_only_on_request(program: Program) -> None:
    program.write("agents/note.yaml", TOOL)
    program.write("python/notes.py", MODULE)
    trace = program.root / "python" / "imported"

    assert program.run("validate").code == 0
    assert not trace.exists()
    assert program.run("validate", "--import").code == 0
    assert trace.exists()


def test_a_function_that_is_not_there_is_a_problem_at_its_tool(program: Program) -> None:
    program.write("agents/note.yaml", TOOL)

    done = program.run("validate", "--import")

    assert done.code == 1
    first, *rest = done.out.splitlines()
    assert first.startswith("agents/note.yaml:4:9: error: tool 'note' ")
    assert first.endswith("[import-failed]")
    assert rest[:2] == ["    python: notes:note", "            ^"]


def test_a_tool_written_in_an_agent_is_imported_too(program: Program) -> None:
    inline = TOOL.replace("kind: tool\n", "").replace("\n", ", ").strip(", ")
    program.write(
        "agents/writer.yaml",
        f"description: Writes.\nmodel: default\ntools: [{{{inline}}}, reader]\n",
    )

    program.write("agents/reader.yaml", "kind: tool\nbuiltin: read_file\n")

    done = program.run("validate", "--import", "--json")

    (problem,) = done.document["problems"]
    assert (problem["path"], problem["line"], problem["code"]) == (
        *("agents/writer.yaml", 3),
        "import-failed",
    )
    assert problem["source_line"][problem["column"] - 1 :].startswith("notes:note")


def test_services_are_tried_only_on_request(program: Program) -> None:
    program.run("validate")
    assert not (program.root / "runner.db").exists()

    done = program.run("validate", "--check", "--json")

    assert done.code == 0
    assert {one["name"]: one["status"] for one in done.document["checks"]} == {
        "database": "ok",
        "broker": "ok",
        "client anthropic": "warning",
        "client offline": "ok",
    }


@pytest.mark.parametrize("form", ["text", "github"])
def test_a_service_that_does_not_answer_fails_the_check(program: Program, form: str) -> None:
    program.configure("database: {url: postgresql://127.0.0.1:1/none}\n")

    done = program.run("validate", "--check", "--format", form)

    assert done.code == 1
    assert {"text": "✗ database", "github": "::error title=database::"}[form] in done.out


def test_agents_are_listed_with_what_they_use(program: Program) -> None:
    program.write("agents/note.yaml", TOOL)
    program.write("python/notes.py", MODULE)
    program.write(
        "agents/writer.yaml",
        'description: "Writes [b]things[/b]."\nmodel: offline/other\ntools: [note]\n',
    )

    done = program.run("agents")

    assert done.code == 0
    assert [line.split(maxsplit=3) for line in done.out.splitlines()] == [
        ["NAME", "MODEL", "TOOLS", "DESCRIPTION"],
        ["hello", "default", "-", "Greets whoever writes."],
        ["writer", "offline/other", "note", "Writes [b]things[/b]."],
    ]


def test_programs_get_the_agents(program: Program) -> None:
    (agent,) = program.run("agents", "--json").document

    assert agent["name"] == "hello"
    assert agent["model"] == {"alias": "default", "client": "offline", "model": "scripted-1"}
    assert agent["tools"] == []


def test_without_agents_it_is_said_how_to_begin(program: Program) -> None:
    (program.root / "agents" / "hello.yaml").unlink()

    done = program.run("agents")

    assert (done.code, done.out) == (
        0,
        "there are no agents yet; write one with `runner new agent NAME`\n",
    )


def test_an_empty_project_says_where_it_looked(program: Program) -> None:
    (program.root / "agents" / "hello.yaml").unlink()

    validated, ran = program.run("validate"), program.run("run", "hello", "hi")

    assert validated.code == 0
    assert str(program.root / "agents") in validated.out
    assert "runner new agent" in validated.out
    assert ran.code == 1
    assert str(program.root / "agents") in ran.err


def test_agents_with_mistakes_are_not_listed(program: Program) -> None:
    program.write("agents/mistaken.yaml", MISTAKEN)

    done = program.run("agents")

    assert (done.code, done.out) == (1, "")
    assert "2 problems" in done.err


CONFIG_WITH_SECRETS = """\
database: {url: "postgresql://ada:swordfish@db.example/runner"}
clients:
  anthropic: {type: anthropic, api_key: sk-swordfish, max_attempts: 2}
"""


def test_the_config_is_shown_as_far_as_the_file_goes(program: Program) -> None:
    program.write("config.yaml", CONFIG_WITH_SECRETS)

    done = program.run("config", "show", "--origins")

    rows = [line.split() for line in done.out.splitlines()]
    assert done.code == 0
    assert rows[0] == ["KEY", "VALUE", "FROM"]
    assert rows[1] == ["database.url", "postgresql://ada:***@db.example/runner", "config.yaml:1"]
    assert ["clients.anthropic.api_key", "***", "config.yaml:3"] in rows
    assert "worker.lease" not in done.out


def test_no_secret_is_shown_whatever_is_asked_for(program: Program) -> None:
    program.write("config.yaml", CONFIG_WITH_SECRETS)

    for arguments in ([], ["--resolved"], ["--resolved", "--origins"], ["--resolved", "--json"]):
        done = program.run("config", "show", *arguments)
        assert done.code == 0
        assert "swordfish" not in done.out


def test_all_that_is_in_force_is_shown_with_where_it_comes_from(program: Program) -> None:
    program.write("config.yaml", CONFIG_WITH_SECRETS)

    shown = program.run("config", "show", "--resolved", "--origins", "--json").document

    assert shown["path"] == str(program.root / "config.yaml")
    assert shown["values"]["worker.threads"] == 8
    assert shown["origins"]["worker.threads"] == "default"
    assert shown["values"]["clients.anthropic.max_attempts"] == 2
    assert shown["origins"]["models.fast.model"] == "embedded default"


def test_a_config_with_mistakes_is_shown_and_fails(program: Program) -> None:
    program.configure("worker: {threads: many}\n")

    done = program.run("config", "show", "--resolved")

    assert done.code == 1
    assert "worker.threads" in done.out
    assert "runner validate" in done.err


def test_without_a_config_file_it_is_said_so(program: Program) -> None:
    (program.root / "config.yaml").unlink()

    done = program.run_apart("config", "show")

    assert done.code == 0
    assert done.out == "there is no config file; see what is in force with --resolved\n"


def test_the_schemas_are_written_where_definitions_look_for_them(program: Program) -> None:
    done = program.run("schema")

    written = sorted((program.root / "schemas").iterdir())
    assert done.code == 0
    assert [path.name for path in written] == [
        "agent.schema.json",
        "config.schema.json",
        "context.schema.json",
        "definition.schema.json",
        "policy.schema.json",
        "skill.schema.json",
        "tool.schema.json",
    ]
    assert sorted(done.out.splitlines()) == sorted(f"wrote {path}" for path in written)


def test_the_schemas_can_be_written_elsewhere(program: Program, tmp_path: Path) -> None:
    done = program.run("schema", "--folder", str(tmp_path / "else" / "where"))

    assert done.code == 0
    assert (tmp_path / "else" / "where" / "agent.schema.json").is_file()


def test_a_new_agent_works_at_once(program: Program) -> None:
    made = program.run("new", "agent", "editor")

    assert made.code == 0
    assert made.out.startswith("wrote agents/editor.yaml\n")
    assert program.run("validate").out == "2 agents, no tools, no problems\n"
    assert program.run("preview", "editor", "Write.").code == 0


def test_a_new_tool_works_at_once(program: Program) -> None:
    made = program.run("new", "tool", "save-text")

    assert made.code == 0
    assert "wrote agents/save-text.yaml\n" in made.out
    assert "wrote python/save_text.py\n" in made.out
    assert program.run("validate", "--import").out == "1 agent, 1 tool, no problems\n"


def test_a_new_tool_without_python_says_how_to_have_it(program: Program) -> None:
    program.write("config.yaml", "agents_dir: agents\n")

    made = program.run("new", "tool", "reader")

    assert made.code == 0
    assert "python_modules: [agents/python]" in made.out
    assert program.run("validate").out == "1 agent, 1 tool, no problems\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["agent", "hello"], "exists already", id="that-exists"),
        pytest.param(["agent", "../up"], "is not a name", id="that-leaves-the-folder"),
        pytest.param(["tool", "UPPER"], "is not a name", id="that-has-no-name"),
    ],
)
def test_nothing_is_written_over_or_outside(
    program: Program, arguments: list[str], said: str
) -> None:
    before = {path: path.read_bytes() for path in program.root.rglob("*") if path.is_file()}

    done = program.run("new", *arguments)

    assert done.code == 2
    assert said in done.err
    assert before == {path: path.read_bytes() for path in before}
    assert len(before) == sum(path.is_file() for path in program.root.rglob("*"))


def test_a_new_skill_is_read_and_counted(program: Program) -> None:
    made = program.run("new", "skill", "house-style")
    program.write(
        "agents/writer.yaml",
        "name: writer\ndescription: Writes.\nskills: [house-style]\navailable_skills: [plain]\n",
    )
    program.write(
        "agents/plain.yaml", "kind: skill\nname: plain\ndescription: Plain.\ncontent: Be plain.\n"
    )

    assert made.code == 0
    assert made.out.startswith("wrote agents/skills/house-style/SKILL.md\n")
    assert program.run("validate").out == "2 agents, no tools, 2 skills, no problems\n"
    assert program.run("validate", "--json").document["skills"] == 2
    writer = next(a for a in program.run("agents", "--json").document if a["name"] == "writer")
    assert (writer["skills"], writer["available_skills"]) == (["house-style"], ["plain"])


def test_the_functions_of_tools_in_skills_are_imported(program: Program) -> None:
    program.write(
        "agents/carving.yaml",
        "kind: skill\nname: carving\ndescription: c\ncontent: d\n"
        "tools: [{name: carve, python: 'python:carve'}]\n",
    )
    program.write(
        "agents/carver.yaml",
        "skills: [{name: b, description: c, content: d,"
        " tools: [{name: e, python: 'python:no'}]}]\n",
    )
    program.write("python/python.py", "")

    done = program.run("validate", "--import")

    assert done.code == 1
    assert "agents/carving.yaml:5:31" in done.out
    assert "agents/carver.yaml:1:74" in done.out
