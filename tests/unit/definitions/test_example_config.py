import re
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

import runner
from runner.definitions.agent import Limits
from runner.definitions.config import (
    AgentDefaults,
    AnthropicClient,
    BrokerConfig,
    Config,
    DatabaseConfig,
    ModelConfig,
    OutboundConfig,
    ScriptedClient,
    WorkerConfig,
)
from runner.definitions.config_loader import LoadedConfig, load_config
from runner.definitions.price import Price
from tests.unit.definitions.projects import write

EXAMPLE = (Path(str(runner.__file__)).parent.parent / "config.example.yaml").read_text()
#: What stands commented out because leaving it out means something else than any value.
OPTIONAL = re.compile(r"^( *)# ([a-z_]+: .+)$", re.MULTILINE)
COMPLETE = OPTIONAL.sub(r"\1\2", EXAMPLE)
PLACES: dict[str, type[BaseModel]] = {
    "": Config,
    "database": DatabaseConfig,
    "broker": BrokerConfig,
    "outbound": OutboundConfig,
    "worker": WorkerConfig,
    "clients.anthropic": AnthropicClient,
    "clients.offline": ScriptedClient,
    "models.default": ModelConfig,
    "models.default.price": Price,
    "defaults": AgentDefaults,
    "defaults.limits": Limits,
}


@pytest.fixture
def example(tmp_path: Path) -> LoadedConfig:
    files = {"config.yaml": EXAMPLE, "agents/python/a.py": "", "agents/_offline/a.yaml": ""}
    write(tmp_path, files)
    return load_config(None, environ={}, cwd=tmp_path)


def test_the_example_is_valid(example: LoadedConfig) -> None:
    assert example.problems == ()


def test_the_example_says_what_is_in_force_without_it(
    example: LoadedConfig, tmp_path_factory: pytest.TempPathFactory
) -> None:
    without = load_config(None, environ={}, cwd=tmp_path_factory.mktemp("empty")).resolved()
    shown = example.resolved()

    clients, defaults, databases = shown["clients"], shown["defaults"], shown.pop("databases")
    assert isinstance(clients, dict)
    assert isinstance(defaults, dict)
    assert isinstance(databases, dict)
    assert list(databases) == ["accounts"]
    assert shown.pop("python_modules") == ["agents/python"]
    assert clients["offline"] == {"type": "scripted", "scripts": ["agents/_offline/*.yaml"]}
    assert defaults.pop("limits") == {
        "max_iterations": 25,
        "timeout": "1h",
        "max_tool_executions": 100,
        "max_tool_executions_by_name": {},
        "max_depth": 3,
        "max_children": 50,
        "max_fan_out": 10,
        "max_hops": 20,
    }
    clients["offline"] = {"type": "scripted", "scripts": []}
    ours = {"databases", "python_modules"}
    assert shown == {key: value for key, value in without.items() if key not in ours}


def test_the_example_is_valid_with_all_that_is_commented_out(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"config.yaml": COMPLETE, "agents/python/a.py": "", "agents/_offline/a.yaml": "[]"},
    )

    assert load_config(None, environ={}, cwd=tmp_path).problems == ()


@pytest.mark.parametrize("place", PLACES)
def test_the_example_has_every_key_at_its_place(place: str) -> None:
    section = yaml.safe_load(COMPLETE)
    for key in place.split(".") if place else ():
        section = section[key]

    assert set(section) == set(PLACES[place].model_fields)


def test_the_example_explains_its_keys_before_it_shows_them() -> None:
    """A comment stands above each key, or above the keys of its group, which follow at once."""
    unexplained = re.findall(r"(?:\n\n|\n *[a-z_]+:\n) *([a-z_]+): \S", EXAMPLE)

    assert unexplained == []
