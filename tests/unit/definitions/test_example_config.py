import re
from pathlib import Path

import pytest
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
    ScriptedClient,
    WorkerConfig,
)
from runner.definitions.config_loader import LoadedConfig, load_config
from tests.unit.definitions.projects import write

EXAMPLE = (Path(str(runner.__file__)).parent.parent / "config.example.yaml").read_text()
MODELS: list[type[BaseModel]] = [
    AgentDefaults,
    AnthropicClient,
    BrokerConfig,
    Config,
    DatabaseConfig,
    Limits,
    ModelConfig,
    ScriptedClient,
    WorkerConfig,
]


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

    clients, defaults = shown["clients"], shown["defaults"]
    assert isinstance(clients, dict)
    assert isinstance(defaults, dict)
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
    }
    clients["offline"] = {"type": "scripted", "scripts": []}
    assert shown == {key: value for key, value in without.items() if key != "python_modules"}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_the_example_mentions_every_key(model: type[BaseModel]) -> None:
    missing = [
        key for key in model.model_fields if not re.search(rf"^[ #]*{key}:", EXAMPLE, re.MULTILINE)
    ]

    assert missing == []
