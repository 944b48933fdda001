import pytest
import typer

from runner.cli.failures import exit_code_of
from runner.core.errors import ClaimLost, NotFound, StoreUnavailable, UsageError


def raising(error: BaseException) -> object:
    raise error


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        pytest.param(NotFound("there is no turn 'x'"), 1, "there is no turn 'x'", id="not-found"),
        pytest.param(UsageError("the task is empty"), 2, "the task is empty", id="usage"),
        pytest.param(StoreUnavailable("no\nanswer"), 1, "no answer", id="several-lines"),
        pytest.param(ClaimLost("the claim is lost"), 1, "the claim is lost", id="interruption"),
        pytest.param(TimeoutError("it took too long"), 1, "it took too long", id="time-out"),
        pytest.param(
            PermissionError(13, "Permission denied", "a/b"),
            1,
            "a/b: permission denied",
            id="file",
        ),
        pytest.param(typer.BadParameter("no such\x1b[31m"), 2, "no such", id="misuse"),
    ],
)
def test_an_error_is_one_sentence_and_an_exit_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = exit_code_of(lambda: raising(error), debug=False)

    out, err = capsys.readouterr()
    assert found == code
    assert out == ""
    assert err.startswith("error: ")
    assert said in err
    assert err.count("\n") == 1
    assert "\x1b" not in err


def test_a_bug_is_a_sentence_that_says_how_to_see_the_traceback(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = exit_code_of(lambda: raising(ZeroDivisionError("x")), debug=False)

    assert found == 1
    assert capsys.readouterr().err == (
        "error: ZeroDivisionError: x; this is a mistake in the runner: "
        "run again with RUNNER_DEBUG=1 for the traceback\n"
    )


def test_with_debug_an_error_keeps_its_traceback() -> None:
    with pytest.raises(NotFound):
        exit_code_of(lambda: raising(NotFound("x")), debug=True)


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (1, 1), (130, 130)])
def test_what_a_command_returns_is_the_exit_code(result: object, code: int) -> None:
    assert exit_code_of(lambda: result, debug=False) == code


def test_an_aborted_prompt_is_an_interruption() -> None:
    assert exit_code_of(lambda: raising(typer.Abort()), debug=False) == 130
