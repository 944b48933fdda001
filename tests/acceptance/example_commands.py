"""Commands run in a copy of the project that comes with the runner."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from runner import Runner
from tests.example_project import ExampleProject

PROGRAM = Path(sys.executable).parent / "runner"


def environ_of(example: ExampleProject, **more: str) -> Mapping[str, str]:
    """The environment of a command: this one, without what would lead elsewhere."""
    elsewhere = {"ANTHROPIC_API_KEY", "RUNNER_CONFIG", "RUNNER_DATABASE_URL", "RUNNER_BROKER_URL"}
    kept = {name: value for name, value in os.environ.items() if name not in elsewhere}
    return {**kept, "RUNNER_CONFIG": str(example.config), **more}


def command(
    example: ExampleProject, *words: str, said: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        words,
        cwd=example.root,
        env=environ_of(example, **more),
        input=said,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@contextmanager
def worker(example: ExampleProject, *options: str) -> Iterator[None]:
    """Keep a worker running, once it has said that it is."""
    with subprocess.Popen(
        [PROGRAM, "worker", *options],
        cwd=example.root,
        env=environ_of(example),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout
        assert process.stdout.readline().startswith("worker:")
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(60)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)


def with_claude(example: ExampleProject, url: str) -> Runner:
    """Open the project as with a key, only that the provider is somewhere else."""
    config = example.config.read_text("utf-8").replace(
        "clients:\n",
        "clients:\n"
        "  anthropic:\n"
        "    type: anthropic\n"
        "    api_key: ${ANTHROPIC_API_KEY:-}\n"
        "    without_key: offline\n"
        f"    base_url: {url}\n",
    )
    example.config.write_text(config)
    return Runner(example.config, environ={"ANTHROPIC_API_KEY": "a key"})
