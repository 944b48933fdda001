import json
import os
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from runner.core.clock import SystemClock
from runner.core.errors import OutboundCancelled, OutboundError, OutboundRefused, OutboundTimeout
from runner.core.tooling import Cancellation
from runner.outbound.commands import Command, Finished, run_command
from runner.outbound.limit import Limit
from tests.fakes.cancellation import never
from tests.waiting import until

#: Starts a child that ignores SIGTERM, writes its number, and waits; so does the parent.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = os.fork()
if child == 0:
    time.sleep(60)
print(os.getpid(), child, flush=True)
with open("numbers", "w") as file:
    file.write(f"{os.getpid()} {child}")
WAIT
"""


def run(
    tmp_path: Path,
    *argv: str,
    seconds: float = 20,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    max_bytes: int = 100_000,
    cancelled: Cancellation | None = None,
) -> Finished:
    command = Command(argv=argv, cwd=tmp_path, stdin=stdin, env=env or {}, max_bytes=max_bytes)
    return run_command(command, limit=Limit(seconds, cancelled or never(), SystemClock()))


def python(tmp_path: Path, code: str, *arguments: str, seconds: float = 20) -> Finished:
    return run(tmp_path, sys.executable, "-c", code, *arguments, seconds=seconds)


def is_alive(number: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(number, 0)
        state = Path(f"/proc/{number}/stat")
        return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def numbers(tmp_path: Path) -> list[int]:
    file = tmp_path / "numbers"
    until(lambda: file.exists() and len(file.read_text().split()) == 2, "both numbers")
    return [int(number) for number in file.read_text().split()]


def test_each_argument_arrives_as_it_is(tmp_path: Path) -> None:
    strange = ["a b", "$(touch pwned)", "; touch pwned", "`touch pwned`", "*", "'\"\\", "", "ü\n"]

    finished = python(tmp_path, "import sys, json; print(json.dumps(sys.argv[1:]))", *strange)

    assert json.loads(finished.output) == strange
    assert list(tmp_path.iterdir()) == []


def test_the_program_sees_the_variables_that_were_named_and_no_other(tmp_path: Path) -> None:
    finished = run(tmp_path, "env", env={"ONLY": "this one"})

    assert finished.output.splitlines() == ["ONLY=this one"]


def test_it_reads_what_it_is_given_and_tells_how_it_ended(tmp_path: Path) -> None:
    code = "import sys; print(sys.stdin.read()[::-1]); print('no', file=sys.stderr); sys.exit(3)"

    finished = run(tmp_path, sys.executable, "-c", code, stdin="drawer")

    assert finished == Finished(exit_code=3, output="reward\n", errors="no\n")


def test_it_runs_where_it_is_told_to(tmp_path: Path) -> None:
    assert Path(run(tmp_path, "pwd").output.strip()).samefile(tmp_path)


def test_all_that_was_written_is_read(tmp_path: Path) -> None:
    assert python(tmp_path, "print('x' * 90_000)").output == "x" * 90_000 + "\n"


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_writes_too_much_is_ended(tmp_path: Path, stream: str) -> None:
    code = f"import sys\nwhile True: sys.{stream}.write('x' * 1000)"
    with pytest.raises(OutboundRefused, match="more than the 100,000 bytes"):
        python(tmp_path, code)


def test_a_program_that_forks_and_ignores_sigterm_is_dead_after_its_limit(tmp_path: Path) -> None:
    with pytest.raises(OutboundTimeout):
        python(tmp_path, STUBBORN.replace("WAIT", "time.sleep(60)"), seconds=1.5)

    assert [number for number in numbers(tmp_path) if is_alive(number)] == []


def test_a_program_that_nobody_wants_any_more_is_dead_at_once(tmp_path: Path) -> None:
    flag = never()
    Timer(1, flag.set).start()
    code = STUBBORN.replace("WAIT", "time.sleep(60)")
    began = time.monotonic()

    with pytest.raises(OutboundCancelled):
        run(tmp_path, sys.executable, "-c", code, cancelled=flag)

    assert time.monotonic() - began < 10
    assert [number for number in numbers(tmp_path) if is_alive(number)] == []


def test_what_a_program_leaves_behind_ends_with_it(tmp_path: Path) -> None:
    began = time.monotonic()

    finished = python(tmp_path, STUBBORN.replace("WAIT", "os._exit(0)"))

    parent, child = numbers(tmp_path)
    assert finished.output == f"{parent} {child}\n"
    assert time.monotonic() - began < 10
    until(lambda: not is_alive(child), "the end of the child")


def test_a_program_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    code = "import os, time; os.close(1); os.close(2); time.sleep(0.3); os._exit(4)"

    assert python(tmp_path, code).exit_code == 4


def test_a_signal_that_ended_it_is_told(tmp_path: Path) -> None:
    assert python(tmp_path, "import os; os.kill(os.getpid(), 9)").exit_code == -9


@pytest.mark.parametrize(
    ("program", "reason"), [("no-such-program", "there is no program"), ("/", "cannot be started")]
)
def test_a_program_that_is_none_is_told(tmp_path: Path, program: str, reason: str) -> None:
    with pytest.raises(OutboundError, match=reason):
        run(tmp_path, program)


def test_a_program_is_not_begun_when_it_is_too_late(tmp_path: Path) -> None:
    with pytest.raises(OutboundTimeout):
        run(tmp_path, "touch", "begun", seconds=0)

    assert list(tmp_path.iterdir()) == []
