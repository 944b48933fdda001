"""From whatever went wrong to one sentence and an exit code."""

import sys
from collections.abc import Callable
from typing import Final

import typer

from runner.cli.text import folded, one_line
from runner.core.errors import Interruption, NotPermitted, RunnerError, UsageError

FAILED: Final = 1
MISUSED: Final = 2
DENIED: Final = 3
INTERRUPTED: Final = 130

_CODES: Final = {UsageError: MISUSED, NotPermitted: DENIED}


def exit_code_of(command: Callable[[], object], *, debug: bool) -> int:
    """
    Run *command* and return its exit code; an error becomes a sentence on standard error.

    With *debug* errors pass through, for their traceback.
    """
    try:
        code = command()
    except typer.TyperException as error:
        complain(_misuse(error))
        return error.exit_code
    except typer.Abort:
        return INTERRUPTED
    except (Exception, Interruption) as error:
        if debug:
            raise
        complain(sentence(error))
        return _CODES.get(type(error), FAILED)
    return code if isinstance(code, int) else 0


def complain(message: str) -> None:
    """Print *message* as an error, on one line."""
    if message:
        print(folded(f"error: {one_line(message)}", sys.stderr), file=sys.stderr)


def sentence(error: BaseException) -> str:
    """Say what went wrong, for people."""
    match error:
        case RunnerError() | Interruption() | TimeoutError():
            return str(error)
        case OSError(strerror=str(reason), filename=str(path)):
            return f"{path}: {reason[:1].lower()}{reason[1:]}"
        case _:
            return (
                f"{type(error).__name__}: {error}; this is a mistake in the runner: "
                "run again with RUNNER_DEBUG=1 for the traceback"
            )


def _misuse(error: typer.TyperException) -> str:
    """Word a complaint of Typer's like ours; it is empty where the help was shown instead."""
    message = error.format_message().rstrip(".").replace("Value error, ", "")
    command = getattr(getattr(error, "ctx", None), "command_path", None)
    hint = f" (see `{command} --help`)" if message and command else ""
    return f"{message[:1].lower()}{message[1:]}{hint}"
