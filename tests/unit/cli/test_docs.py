import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperCommand, TyperGroup

from runner.cli.commands import COMMANDS
from runner.cli.main import load
from runner.cli.shapes import agent_json, event_json, message_json, total_json, turn_json
from runner.core.messages import Role
from runner.core.records import Event
from runner.core.states import TurnStatus
from runner.definitions.snapshot import ResolvedAgent, ResolvedLimits, ResolvedModel
from tests.unit.cli.scenes import NOON, TURN, message, turn

TEXT = (Path(__file__).parents[3] / "docs" / "cli.md").read_text("utf-8")
SECTIONS = dict(re.findall(r"^### `runner ([a-z]+)`\n(.*?)(?=^##)", TEXT, re.DOTALL | re.MULTILINE))


def own_options(command: TyperCommand | TyperGroup) -> Iterator[str]:
    for parameter in command.params:
        yield from (option for option in parameter.opts if option.startswith("--"))


def commands() -> Iterator[tuple[str, str, TyperCommand | TyperGroup]]:
    """Every command with the name of its section and the words that call it."""
    for name in COMMANDS:
        command = load(name)
        inner = command.commands if isinstance(command, TyperGroup) else {}
        for word, each in inner.items():
            assert isinstance(each, TyperCommand)
            yield name, f"runner {name} {word}", each
        if not inner:
            yield name, f"runner {name}", command


def test_every_section_is_about_a_command() -> None:
    assert set(SECTIONS) == set(COMMANDS)


@pytest.mark.parametrize(
    ("name", "words", "command"), [pytest.param(*each, id=each[1]) for each in commands()]
)
def test_every_command_is_documented_with_an_example(
    name: str, words: str, command: TyperCommand | TyperGroup
) -> None:
    examples = "".join(re.findall(r"^```sh\n(.*?)^```", SECTIONS[name], re.DOTALL | re.MULTILINE))

    assert words in examples
    for option in own_options(command):
        assert option == "--json" or option in SECTIONS[name], option


def test_every_key_of_the_shapes_is_documented() -> None:
    agent = ResolvedAgent(
        name="hello",
        description="",
        instructions="",
        system_prompt=None,
        prompt_mode=None,
        model=ResolvedModel(
            alias=None, client="offline", model="m", max_tokens=1, context_tokens=1
        ),
        tools=(),
        limits=ResolvedLimits(),
        thinking=None,
        input_schema=None,
        output_schema=None,
    )
    shapes = [
        turn_json(turn(TurnStatus.COMPLETED)),
        message_json(message("msg_1", [], role=Role.USER)),
        event_json(Event(id=1, turn_id=TURN, kind="turn.started", body={}, at=NOON)),
        agent_json(agent),
        total_json([turn(TurnStatus.COMPLETED)]),
    ]

    words = set(re.findall(r"\w+", TEXT[TEXT.index("## JSON") :]))
    for shape in shapes:
        assert shape.keys() <= words
