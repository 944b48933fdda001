import pytest

from runner.definitions.sql_text import is_one, parameters, with_marks

TRICKY = """
SELECT '12:30', "a:b", x::text, $q$ :no ; $q$ /* :no; */ -- :no;
FROM t WHERE id = :id AND at > :since AND id <> :id
"""


def test_only_what_stands_outside_of_quotes_and_comments_is_a_parameter() -> None:
    assert parameters(TRICKY) == ("id", "since")


@pytest.mark.parametrize(
    "statement", ["SELECT 1", "SELECT 1;", " SELECT ';' ; -- done;\n", TRICKY, "SELECT 1 /* ; */;"]
)
def test_one_statement_is_one(statement: str) -> None:
    assert is_one(statement)


@pytest.mark.parametrize(
    "statement", ["", ";", "-- nothing", "SELECT 1; DROP TABLE t", "SELECT 1;;x", "COMMIT;/**/x"]
)
def test_none_or_several_statements_are_not_one(statement: str) -> None:
    assert not is_one(statement)


def test_colons_that_start_no_parameter_are_marked() -> None:
    assert with_marks("SELECT '1:2', :a, b::int, x[1:2]", "!") == (
        "SELECT '1!:2', :a, b!:!:int, x[1!:2]"
    )
