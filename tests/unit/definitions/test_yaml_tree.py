import pytest

from runner.definitions.codes import Code
from runner.definitions.nodes import Mapping, Scalar, Sequence, child, plain, scalars
from runner.definitions.yaml_tree import MAX_DEPTH, MAX_NODES, Parsed, parse


def read(text: str | bytes) -> Parsed:
    return parse(text if isinstance(text, bytes) else text.encode(), "a.yaml")


def test_every_key_and_value_knows_its_place() -> None:
    root = read("first: 1\nsecond:\n  - one\n  - {inner: two}\n").documents[0]

    assert isinstance(root, Mapping)
    entry = root.entries["second"]
    assert (entry.key.line, entry.key.column) == (2, 1)
    items = entry.value
    assert isinstance(items, Sequence)
    inner = items.items[1]
    assert isinstance(inner, Mapping)
    value = inner.entries["inner"].value
    assert (value.line, value.column) == (4, 13)


def test_nodes_turn_into_plain_values() -> None:
    root = read("a: [1, 'x', null, {b: true}]").documents[0]

    assert plain(root) == {"a": [1, "x", None, {"b": True}]}
    assert [scalar.text for scalar in scalars(root)] == ["1", "x", "null", "true"]


def test_what_is_not_there_has_no_child() -> None:
    root = read("a: [1]").documents[0]
    items = child(root, "a")

    assert child(root, "b") is None
    assert items is not None
    assert child(items, 1) is None
    assert child(items, "x") is None


def test_quoted_and_tagged_text_stays_text() -> None:
    root = read("""a: "1"\nb: '~'\nc: !!str 5\nd: ! true\ne: !!int 7\nf: !!seq [1]\n""").documents[
        0
    ]

    assert plain(root) == {"a": "1", "b": "~", "c": "5", "d": "true", "e": 7, "f": [1]}


def test_an_alias_stands_for_what_it_names() -> None:
    root = read("a: &x {b: 1}\nc: *x\n&k d: 1\n*k : 2\n")

    assert plain(root.documents[0]) == {"a": {"b": 1}, "c": {"b": 1}, "d": 1}
    assert [problem.code for problem in root.problems] == [Code.DUPLICATE_KEY]


def test_several_documents_are_kept_and_empty_ones_are_not() -> None:
    parsed = read("---\n---\na: 1\n---\n# nothing\n---\nb: 2\n")

    assert [plain(node) for node in parsed.documents] == [{"a": 1}, {"b": 2}]


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    parsed = read("\ufeffa: 1\r\nb: 2\r\n")

    root = parsed.documents[0]
    assert plain(root) == {"a": 1, "b": 2}
    assert isinstance(root, Mapping)
    assert (root.entries["b"].key.line, root.entries["b"].key.column) == (2, 1)


def test_json_with_tabs_between_its_tokens_is_read() -> None:
    assert plain(read('{"a":\t1,\n\t"b": [1,\n\t\t2]\n}').documents[0]) == {"a": 1, "b": [1, 2]}


def test_a_duplicate_key_names_both_places() -> None:
    problem = read("a: 1\nb:\n  c: 1\n  c: 2\n").problems[0]

    assert (problem.line, problem.column, problem.code) == (4, 3, Code.DUPLICATE_KEY)
    assert [(place.line, place.column) for place in problem.related] == [(3, 3)]
    assert "line 3" in problem.message


@pytest.mark.parametrize(
    ("text", "place", "code"),
    [
        pytest.param("a: [1\nb: 2", (2, 2), Code.INVALID_SYNTAX, id="an open bracket"),
        pytest.param("a: 'x\nb: 1\n", (1, 4), Code.INVALID_SYNTAX, id="an open quote"),
        pytest.param("a: b: c", (1, 5), Code.INVALID_SYNTAX, id="a colon in a text"),
        pytest.param("a: @x", (1, 4), Code.INVALID_SYNTAX, id="a reserved character"),
        pytest.param("a:\n\tb: 1\n", (2, 1), Code.TAB_INDENTATION, id="a tab as indentation"),
        pytest.param("a: |\n\tb\n", (2, 1), Code.TAB_INDENTATION, id="a tab in a block of text"),
        pytest.param("a: &x [1, *x]", (1, 11), Code.RECURSIVE_ALIAS, id="a recursive alias"),
        pytest.param("a: *x", (1, 4), Code.UNKNOWN_ALIAS, id="an alias of nothing"),
        pytest.param("&x a: 1\n---\nb: *x", (3, 4), Code.UNKNOWN_ALIAS, id="a far anchor"),
        pytest.param("a: !env X", (1, 4), Code.UNKNOWN_TAG, id="a tag of one's own"),
        pytest.param("a: !!python/name:os.system x", (1, 4), Code.UNKNOWN_TAG, id="python"),
        pytest.param("a: !set {b: 1}", (1, 4), Code.UNKNOWN_TAG, id="a tag on a mapping"),
        pytest.param("a: !!int x", (1, 4), Code.WRONG_TYPE, id="a tag that does not fit"),
        pytest.param("[a]: 1", (1, 1), Code.COMPLEX_KEY, id="a list as a key"),
        pytest.param("a: .nan", (1, 4), Code.BAD_NUMBER, id="no number"),
        pytest.param(b"a: 1\nb: \xff", (2, 4), Code.NOT_TEXT, id="not UTF-8"),
        pytest.param("a: 1\nb: \0", (2, 4), Code.NOT_TEXT, id="a NUL"),
        pytest.param("a: \x1b", (1, 4), Code.NOT_TEXT, id="a control character"),
        pytest.param("a: 1".encode("utf-16"), (1, 1), Code.NOT_TEXT, id="UTF-16"),
        pytest.param("x" * 1_000_001, (1, 1), Code.FILE_TOO_LARGE, id="too large"),
        pytest.param(b"x" * 1_000_000 + b"\xc3", (1, 1), Code.FILE_TOO_LARGE, id="cut apart"),
        pytest.param("[" * 200, (1, MAX_DEPTH + 1), Code.TOO_DEEP, id="too deep"),
        pytest.param("[" * 100_000, (1, 1001), Code.INVALID_SYNTAX, id="deeper than libyaml"),
        pytest.param("- " * 400_000, (1, 2 * MAX_DEPTH + 1), Code.TOO_DEEP, id="deep blocks"),
    ],
)
def test_what_cannot_be_read_is_one_problem_at_its_place(
    text: str | bytes, place: tuple[int, int], code: Code
) -> None:
    problems = read(text).problems

    assert [(problem.line, problem.column, problem.code) for problem in problems] == [
        (*place, code)
    ]


def test_a_syntax_error_comes_with_a_hint() -> None:
    assert "quotes" in read("a: b: c").problems[0].hint


@pytest.mark.parametrize("text", ["a: b\n c: d\n", "a:\n  b: c\n    d-e: |\n      f\n"])
def test_a_key_that_stands_too_far_to_the_right_is_told_where_to_start(text: str) -> None:
    assert "same column" in read(text).problems[0].hint


def test_a_text_that_is_not_indented_is_told_at_its_line() -> None:
    problem = read("a: |\nnot indented\nb: c\n").problems[0]

    assert (problem.line, problem.column) == (2, 1)
    assert "indented" in problem.hint


def test_an_alias_bomb_ends_before_it_grows() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 30)]

    parsed = read("\n".join(lines))

    assert [problem.code for problem in parsed.problems] == [Code.TOO_MANY_VALUES]
    assert parsed.documents == ()


def test_aliases_may_be_used_up_to_the_cap() -> None:
    uses = (MAX_NODES - 200) // 101
    values = ", ".join(["x"] * 100)

    fits = read(f"a: &a [{values}]\nb: [{', '.join(['*a'] * (uses - 1))}]")
    too_many = read(f"a: &a [{values}]\nb: [{', '.join(['*a'] * (uses + 2))}]")

    assert fits.problems == ()
    assert [problem.code for problem in too_many.problems] == [Code.TOO_MANY_VALUES]


def test_an_alias_counts_for_the_depth_of_what_it_stands_for() -> None:
    inside = MAX_DEPTH - 5
    text = f"a: &a {{b: [[[1]]]}}\nc: {'[' * inside}*a{']' * inside}"

    assert [problem.code for problem in read(text).problems] == [Code.TOO_DEEP]


def test_a_place_after_the_last_line_is_moved_to_its_end() -> None:
    problem = read("a: {b: 1\n").problems[0]

    assert (problem.line, problem.column) == (1, 9)


def test_a_scalar_knows_where_it_ends() -> None:
    node = child(read("a: 'x y'\n").documents[0], "a")

    assert isinstance(node, Scalar)
    assert (node.end_line, node.end_column) == (1, 9)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("a: !has(b)", "put a text that begins with ! in quotes"), ("a: !set {b: 1}", "")],
)
def test_a_text_that_was_read_as_a_tag_has_a_hint(text: str, hint: str) -> None:
    assert [problem.hint for problem in read(text).problems] == [hint]
