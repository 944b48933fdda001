"""What ctrl-c does to work that holds no turn at the moment."""

from collections.abc import Callable
from pathlib import Path

import pytest

from runner import Runner
from runner.cli.foreground import in_foreground
from runner.core.records import Turn
from tests.waiting import until


def interrupt_once() -> Callable[[], None]:
    """Make a look during which ctrl-c is pressed the first time."""
    presses = iter([KeyboardInterrupt()])

    def look() -> None:
        for press in presses:
            raise press

    return look


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "hello.yaml").write_text("description: Greets.\nmodel: m\n")
    config = tmp_path / "config.yaml"
    config.write_text("clients: {c: {type: scripted}}\nmodels: {m: {client: c, model: m}}\n")
    return Runner(config, environ={})


def test_a_turn_that_only_waits_is_shown_as_it_is_then(runner: Runner) -> None:
    with runner:
        stored = runner.submit("hello", "Hi.")

        def wait_for_others() -> Turn:
            until(lambda: runner.wiring.heartbeat.is_leaving, "ctrl-c")
            return stored

        (turn,) = in_foreground(runner, wait_for_others, look=interrupt_once())

    assert turn.id == stored.id
