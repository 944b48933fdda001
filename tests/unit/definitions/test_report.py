import json

from runner.definitions.codes import Code
from runner.definitions.problem import Location, Problem, Severity
from runner.definitions.report import as_github, as_json, as_text, summary

PROBLEM = Problem(
    path="agents/a.yaml",
    line=3,
    column=5,
    code=Code.UNKNOWN_KEY,
    message="unknown key 'tols'",
    source_line="    tols: []",
    hint="did you mean 'tools'?",
    related=(Location(path="agents/b.yaml", line=1, column=2),),
)
WARNING = Problem(
    path="b.yaml",
    line=1,
    column=1,
    code=Code.EMPTY_FILE,
    message="50% of,\nit: all",
    severity=Severity.WARNING,
)


def test_people_see_the_line_with_a_caret_and_a_hint() -> None:
    assert list(as_text([PROBLEM, WARNING])) == [
        "agents/a.yaml:3:5: error: unknown key 'tols' [unknown-key]",
        "        tols: []",
        "        ^",
        "    see agents/b.yaml:1:2",
        "    did you mean 'tools'?",
        "b.yaml:1:1: warning: 50% of,\nit: all [empty-file]",
    ]


def test_the_caret_stands_below_its_character() -> None:
    line = "\t日本: x\x07"
    problem = Problem(
        path="a", line=1, column=6, code=Code.BAD_VALUE, message="m", source_line=line
    )

    shown = list(as_text([problem]))

    assert shown[1] == "    \t日本: x\N{REPLACEMENT CHARACTER}"
    assert shown[2] == "    \t      ^"


def test_a_line_that_was_cut_before_the_column_is_not_shown() -> None:
    problem = Problem(
        path="a", line=1, column=999, code=Code.BAD_VALUE, message="m", source_line="short"
    )

    assert len(list(as_text([problem]))) == 1


def test_programs_see_the_same_facts() -> None:
    first, second = json.loads(as_json([PROBLEM, WARNING]))

    assert first == {
        "path": "agents/a.yaml",
        "line": 3,
        "column": 5,
        "code": "unknown-key",
        "severity": "error",
        "message": "unknown key 'tols'",
        "hint": "did you mean 'tools'?",
        "source_line": "    tols: []",
        "related": [{"path": "agents/b.yaml", "line": 1, "column": 2}],
    }
    assert second["hint"] is None


def test_github_annotations_are_escaped() -> None:
    problem = Problem(path="a,b:c%.yaml", line=1, column=2, code=Code.BAD_VALUE, message="m")

    lines = list(as_github([PROBLEM, WARNING, problem]))

    assert lines == [
        (
            "::error file=agents/a.yaml,line=3,col=5,title=unknown-key"
            "::unknown key 'tols'; did you mean 'tools'?"
        ),
        "::warning file=b.yaml,line=1,col=1,title=empty-file::50%25 of,%0Ait: all",
        "::error file=a%2Cb%3Ac%25.yaml,line=1,col=2,title=bad-value::m",
    ]


def test_a_summary_counts() -> None:
    assert summary([]) == "no problems"
    assert summary([PROBLEM]) == "1 error"
    assert summary([PROBLEM, PROBLEM, WARNING]) == "2 errors and 1 warning"
