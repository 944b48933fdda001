from pydantic_core import ErrorDetails

from runner.definitions import config, scalars
from runner.definitions.codes import Code
from runner.definitions.complaints import complaint
from runner.definitions.nodes import Scalar

NODE = Scalar(1, 1, 1, 8, "hunter2", "hunter2")


def test_an_error_of_an_unforeseen_type_is_told_without_its_text() -> None:
    error = ErrorDetails(type="odd", loc=("a",), msg="hunter2 is odd", input="hunter2")

    told = complaint(error, NODE, ())

    assert (told.code, told.message) == (Code.BAD_VALUE, "this value is not allowed here")


def test_every_pattern_has_its_words() -> None:
    patterns = {
        value
        for module in (scalars, config)
        for name, value in vars(module).items()
        if name.endswith("_PATTERN")
    }

    assert patterns - set(scalars.PATTERNS) == {scalars.DURATION_PATTERN}


def test_an_empty_text_is_told_without_counting() -> None:
    error = ErrorDetails(
        type="string_too_short", loc=("a",), msg="", input="", ctx={"min_length": 1}
    )

    assert complaint(error, NODE, ()).message == "expected some text"
