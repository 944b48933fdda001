import subprocess
import sys
from pathlib import Path

import pytest

from runner.clients.factory import build_client
from runner.core.errors import ConfigError
from runner.definitions.config import AnthropicClient, ScriptedClient
from runner.definitions.secret import Secret

LOADED_BY_A_SCRIPTED_CLIENT = """
import sys
from pathlib import Path
from runner.clients.factory import build_client
from runner.definitions.config import ScriptedClient
build_client("offline", ScriptedClient(type="scripted"), root=Path())
print("anthropic" in sys.modules)
"""


def test_each_definition_becomes_a_client_of_its_kind(tmp_path: Path) -> None:
    claude = AnthropicClient(type="anthropic", api_key=Secret("key"), max_attempts=7)

    assert build_client("claude", claude, root=tmp_path).max_attempts == 7
    assert build_client("offline", ScriptedClient(type="scripted"), root=tmp_path).max_attempts == 4


def test_a_wrong_script_is_told_with_the_client_it_belongs_to(tmp_path: Path) -> None:
    definition = ScriptedClient(type="scripted", scripts=("gone.yaml",))

    with pytest.raises(ConfigError, match=r"client 'offline': cannot read script 'gone\.yaml'"):
        build_client("offline", definition, root=tmp_path)


def test_the_sdk_is_not_loaded_for_a_client_that_does_not_need_it() -> None:
    program = [sys.executable, "-c", LOADED_BY_A_SCRIPTED_CLIENT]

    loaded = subprocess.run(program, capture_output=True, text=True, check=True)

    assert loaded.stdout == "False\n"
