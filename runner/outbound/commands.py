"""Programs run without a shell, in a process group that does not outlive its limit."""

import os
import selectors
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Final, Self

from runner.core.errors import OutboundError, OutboundRefused
from runner.outbound.limit import Limit

_CHUNK: Final = 65_536


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What to run."""

    #: The program and its arguments, each as it is: nothing takes them apart.
    argv: Sequence[str]
    cwd: Path
    #: All the variables that the program sees.
    env: Mapping[str, str] = field(default_factory=dict)
    #: What it can read.
    stdin: str = ""
    #: The most it may write, to its output and its error output together.
    max_bytes: int = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """A program that ended by itself."""

    #: Negative: the number of the signal that ended it.
    exit_code: int
    output: str
    errors: str


def run_command(command: Command, *, limit: Limit) -> Finished:
    """
    Run a program to its end.

    When it ends, when the limit is reached and when it writes too much, everything in its process
    group is killed, so that nothing it started in there stays behind.

    Raises:
        OutboundRefused: It wrote more than it may.
        OutboundTimeout: The time is up.
        OutboundCancelled: Nobody wants it any more.
        OutboundError: It cannot be started.
    """
    limit.check()
    with tempfile.TemporaryFile() as given:
        given.write(command.stdin.encode(errors="replace"))
        given.seek(0)
        process = _start(command, given)
    try:
        output, errors = _collect(process, command.max_bytes, limit)
    finally:
        _kill_group(process)
        process.wait()
    return Finished(exit_code=process.returncode, output=output, errors=errors)


def _start(command: Command, stdin: IO[bytes]) -> subprocess.Popen[bytes]:
    program = command.argv[0]
    try:
        return subprocess.Popen(  # noqa: S603 - a list that a definition wrote, and no shell
            list(command.argv),
            cwd=command.cwd,
            env=dict(command.env),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise OutboundError(f"there is no program {program!r}") from error
    except (OSError, ValueError) as error:
        raise OutboundError(f"the program {program!r} cannot be started") from error


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    # The leader has not been reaped yet, so that its number is still the group's alone.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _collect(process: subprocess.Popen[bytes], max_bytes: int, limit: Limit) -> tuple[str, str]:
    """Return what a program wrote to its output and its error output until it ended."""
    output, errors = bytearray(), bytearray()
    with process.stdout or nullcontext(), process.stderr or nullcontext(), _Bell() as bell:
        bell.listen(process.stdout, output)
        bell.listen(process.stderr, errors)
        with _told_of_end(process, bell), limit.ending(bell.ring):
            while not bell.has_ended:
                limit.check()
                bell.wait(limit.left)
                _check_size(output, errors, max_bytes)
            _kill_group(process)
            # What is in the pipes now is all that there will be.
            while bell.wait(0):
                limit.check()
                _check_size(output, errors, max_bytes)
    return output.decode(errors="replace"), errors.decode(errors="replace")


@contextmanager
def _told_of_end(process: subprocess.Popen[bytes], bell: "_Bell") -> Iterator[None]:
    """Ring when a program has ended; it has, with its whole group, once the block is left."""

    def wait() -> None:
        # Without reaping it: its number must not become another's while its group is killed.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        bell.has_ended = True
        bell.ring()

    end = Thread(target=wait, name="command", daemon=True)
    end.start()
    try:
        yield
    finally:
        _kill_group(process)
        end.join()


def _check_size(output: bytearray, errors: bytearray, max_bytes: int) -> None:
    if len(output) + len(errors) > max_bytes:
        raise OutboundRefused(f"it wrote more than the {max_bytes:,} bytes it may")


class _Bell:
    """Wakes whoever waits for one of several pipes, when there is something or when it rings."""

    def __init__(self) -> None:
        self.has_ended = False
        self._selector = selectors.DefaultSelector()
        self._rung, self._ringer = socket.socketpair()

    def __enter__(self) -> Self:
        self._rung.settimeout(0)
        self._ringer.settimeout(0)
        self._selector.register(self._rung, selectors.EVENT_READ)
        return self

    def __exit__(self, *_: object) -> None:
        self._selector.close()
        self._rung.close()
        # A closed socket has no number that could be another's when it rings late.
        self._ringer.close()

    def listen(self, pipe: IO[bytes] | None, into: bytearray) -> None:
        if pipe is not None:
            os.set_blocking(pipe.fileno(), False)
            self._selector.register(pipe, selectors.EVENT_READ, into)

    def ring(self) -> None:
        with suppress(OSError):
            self._ringer.send(b"!")

    def wait(self, seconds: float) -> bool:
        """Take what there is, after waiting for it; return whether there was anything."""
        came = False
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._rung.recv(_CHUNK)
                continue
            data = os.read(key.fd, _CHUNK)
            came = came or bool(data)
            key.data.extend(data)
            if not data:
                self._selector.unregister(key.fileobj)
        return came
