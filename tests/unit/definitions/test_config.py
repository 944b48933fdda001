import json
from datetime import timedelta
from pathlib import Path

import pytest

from runner.core.errors import ConfigError
from runner.definitions.codes import Code
from runner.definitions.config import AnthropicClient, ScriptedClient
from runner.definitions.config_loader import load_config
from tests.unit.definitions.projects import configured, only, told, write


def test_without_a_file_the_embedded_default_is_in_force(tmp_path: Path) -> None:
    loaded = load_config(None, environ={}, cwd=tmp_path)

    config = loaded.config
    assert (loaded.path, loaded.root, loaded.problems) == (None, tmp_path.resolve(), ())
    assert config.agents_dir == "agents"
    assert config.database.url.reveal() == "sqlite:///runner.db"
    assert config.broker.url.reveal() == "memory://"
    assert config.worker.lease == timedelta(minutes=1)
    assert set(config.clients) == {"anthropic", "offline"}
    assert config.models["default"].model == "claude-sonnet-5-5"
    assert config.models["fast"].model == "claude-haiku-5-5"
    assert config.python_modules == ()


def test_the_key_of_the_embedded_client_comes_from_its_variable(tmp_path: Path) -> None:
    loaded = load_config(None, environ={"ANTHROPIC_API_KEY": "sk-1"}, cwd=tmp_path)

    client = loaded.config.clients["anthropic"]
    assert isinstance(client, AnthropicClient)
    assert client.api_key.reveal() == "sk-1"
    assert loaded.origins["clients.anthropic.api_key"] == "embedded default (ANTHROPIC_API_KEY)"
    assert "sk-1" not in json.dumps(loaded.resolved())


def test_the_named_file_comes_before_the_variable_and_the_current_folder(tmp_path: Path) -> None:
    for name in ("config.yaml", "by_variable.yaml", "sub/by_name.yaml"):
        write(tmp_path, {name: f"broker: {{queue: {Path(name).stem}}}\n"})
    environ = {"RUNNER_CONFIG": "by_variable.yaml"}

    found = [
        load_config(Path("sub/by_name.yaml"), environ=environ, cwd=tmp_path),
        load_config(None, environ=environ, cwd=tmp_path),
        load_config(None, environ={}, cwd=tmp_path),
    ]

    assert [loaded.config.broker.queue for loaded in found] == ["by_name", "by_variable", "config"]
    assert [loaded.root for loaded in found] == [tmp_path / "sub", tmp_path, tmp_path]


def test_a_named_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config file '.*nope\.yaml'"):
        load_config(Path("nope.yaml"), environ={}, cwd=tmp_path)
    with pytest.raises(ConfigError, match="named by RUNNER_CONFIG"):
        load_config(None, environ={"RUNNER_CONFIG": "nope.yaml"}, cwd=tmp_path)


def test_what_a_file_declares_adds_to_the_embedded_default_or_replaces_it(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path,
        "clients:\n"
        "  offline: {type: scripted, scripts: ['*.yaml']}\n"
        "  other: {type: anthropic, api_key: x, timeout: 5s}\n"
        "models:\n"
        "  slow: {client: other, model: claude-opus-5-5, max_tokens: 5, thinking: adaptive}\n",
    )

    clients = loaded.config.clients
    assert loaded.problems == ()
    assert set(clients) == {"anthropic", "offline", "other"}
    assert clients["offline"] == ScriptedClient(type="scripted", scripts=("*.yaml",))
    assert set(loaded.config.models) == {"default", "fast", "slow"}


def test_a_replaced_client_no_longer_needs_its_variable(tmp_path: Path) -> None:
    loaded = configured(tmp_path, "clients: {anthropic: {type: scripted}}\n")

    assert loaded.uses == ()


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    loaded = configured(tmp_path, "# nothing yet\n")

    assert loaded.problems == ()
    assert set(loaded.config.models) == {"default", "fast"}


def test_origins_say_where_each_value_comes_from(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path,
        "database:\n  url: ${DATABASE_URL}\nworker: {threads: 3}\n",
        {"DATABASE_URL": "postgresql://app:hunter2@db/app"},
    )

    origins = loaded.origins
    assert origins["database.url"] == "config.yaml:2 (DATABASE_URL)"
    assert origins["worker.threads"] == "config.yaml:3"
    assert origins["worker.lease"] == "default"
    assert origins["models.fast.model"] == "embedded default"
    assert loaded.resolved()["database"] == {
        "url": "postgresql://app:***@db/app",
        "pool_size": 5,
        "pool_timeout": "30s",
        "busy_timeout": "15s",
    }


def test_numbers_and_switches_may_come_from_variables(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path,
        "database: {pool_size: '${POOL:-7}'}\nworker: {threads: $THREADS, lease: '${LEASE}'}\n"
        "models: {m: {client: offline, model: x, max_tokens: '${MAX}'}}\n".replace(
            "$THREADS", "'${THREADS}'"
        ),
        {"THREADS": "12", "LEASE": "90s", "MAX": "many"},
    )

    assert loaded.config.database.pool_size == 7
    assert loaded.config.worker.threads == 12
    assert loaded.config.worker.lease == timedelta(seconds=90)
    problem = only(loaded.problems)
    assert (problem.line, problem.code) == (3, Code.WRONG_TYPE)
    assert "many" not in problem.message


def test_a_number_from_a_variable_is_held_to_its_bounds(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path, "worker: {threads: '${A}', processes: '${B}'}\n", {"A": "0", "B": "9" * 99}
    )

    assert told(loaded.problems) == [
        "config.yaml:1:19 bad-value",
        "config.yaml:1:38 wrong-type",
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("agent_dir: agents\n", "1:1 unknown-key", id="an unknown key"),
        pytest.param("worker:\n  thread: 3\n", "2:3 unknown-key", id="a key one level down"),
        pytest.param("worker:\n", "1:1 null-value", id="a key without a value"),
        pytest.param("worker: []\n", "1:9 wrong-type", id="a list for a mapping"),
        pytest.param("worker: {threads: '3'}\n", "1:19 wrong-type", id="a quoted number"),
        pytest.param("worker: {lease: 30}\n", "1:17 bad-duration", id="a bare duration"),
        pytest.param("worker: {threads: 0}\n", "1:19 bad-value", id="too small"),
        pytest.param("worker: {threads: 999}\n", "1:19 bad-value", id="too large"),
        pytest.param("broker: {queue: A B}\n", "1:17 bad-name", id="a bad name"),
        pytest.param("broker: {queue: 9a}\n", "1:17 bad-name", id="a queue that starts with 9"),
        pytest.param("broker: {url: 'kafka://x'}\n", "1:15 bad-url", id="an unknown broker"),
        pytest.param("database: {url: 'mysql://x'}\n", "1:17 bad-url", id="an unknown database"),
        pytest.param("database: {url: runner.db}\n", "1:17 bad-url", id="no URL"),
        pytest.param("database: {url: 'postgresql://h:pw/x'}\n", "1:17 bad-url", id="no port"),
        pytest.param("database: {url: 'postgresql://h:99999'}\n", "1:17 bad-url", id="a port"),
        pytest.param("database: {url: 'postgresql://u:p@w@h/x'}\n", "1:17 bad-url", id="an @"),
        pytest.param("agents_dir: ../up\n", "1:13 path-outside", id="a folder outside"),
        pytest.param("agents_dir: nope\n", "1:13 missing-file", id="a folder that is not there"),
        pytest.param("python_modules: [a/b]\n", "1:18 missing-file", id="no module folder"),
        pytest.param("python_modules: ['a b']\n", "1:18 bad-value", id="no module"),
        pytest.param("clients: {x: {type: oops}}\n", "1:21 bad-value", id="no client type"),
        pytest.param("clients: {x: {typ: scripted}}\n", "1:15 unknown-key", id="a misspelt type"),
        pytest.param("clients: {x: {scripts: []}}\n", "1:14 missing-key", id="no type"),
        pytest.param("clients: {x: 3}\n", "1:14 wrong-type", id="no client at all"),
        pytest.param("clients: {X: {type: scripted}}\n", "1:11 bad-name", id="a bad client name"),
        pytest.param("clients: {x: {type: anthropic}}\n", "1:14 missing-key", id="no key"),
        pytest.param(
            "clients: {x: {type: scripted, scripts: [no.yaml]}}\n",
            "1:41 missing-file",
            id="a script that is not there",
        ),
        pytest.param(
            "clients: {x: {type: anthropic, api_key: x, without_key: y}}\n",
            "1:57 unknown-client",
            id="no client to fall back to",
        ),
        pytest.param(
            "clients: {x: {type: anthropic, api_key: x, without_key: x}}\n",
            "1:57 client-loop",
            id="a client that falls back to itself",
        ),
        pytest.param(
            "clients: {x: {type: anthropic, api_key: x, base_url: 'http://u:p@h'}}\n",
            "1:54 bad-url",
            id="a user in an address",
        ),
        pytest.param(
            "models: {m: {client: anthropc, model: x}}\n", "1:22 unknown-client", id="no client"
        ),
        pytest.param(
            "models: {m: {client: offline, model: x, max_tokens: 2000,"
            " thinking: {budget: 2000}}}\n",
            "1:78 bad-value",
            id="a budget that leaves no answer",
        ),
        pytest.param("defaults: {model: nope}\n", "1:19 unknown-model", id="no default model"),
        pytest.param("defaults: {model: a/b}\n", "1:19 unknown-client", id="no such client"),
        pytest.param("defaults: {thinking: {budget: 5}}\n", "1:31 bad-value", id="a small budget"),
        pytest.param("defaults: {thinking: on}\n", "1:22 bad-value", id="no such thinking"),
        pytest.param("defaults: {thinking: true}\n", "1:22 wrong-type", id="a switch"),
        pytest.param("broker: {url: '${NOPE}'}\n", "1:15 missing-variable", id="an unset variable"),
        pytest.param("[1]\n", "1:1 wrong-type", id="a list"),
        pytest.param("a: [\n", "1:5 invalid-syntax", id="no YAML"),
        pytest.param("worker: {threads: 2}\n---\na: 1\n", "3:1 invalid-syntax", id="two documents"),
    ],
)
def test_each_mistake_is_one_problem_at_its_place(text: str, place: str, tmp_path: Path) -> None:
    (tmp_path / "agents").mkdir()

    loaded = configured(tmp_path, text)

    assert told(loaded.problems) == [f"config.yaml:{place}"]
    assert not loaded.is_sound


def test_what_is_right_beside_a_mistake_stays_in_force(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path, "worker: {threads: many, lease: 90s}\ndatabse: {pool_size: 9}\nbroker: 3\n"
    )

    assert loaded.config.worker.lease == timedelta(seconds=90)
    assert loaded.config.worker.threads == 8
    assert loaded.config.database.pool_size == 9
    assert loaded.unsure == {"worker", "databse", "broker"}


def test_a_file_that_cannot_be_read_leaves_all_in_doubt(tmp_path: Path) -> None:
    loaded = configured(tmp_path, "a: [\n")

    assert "models" in loaded.unsure
    assert loaded.config.models["default"].client == "anthropic"


def test_a_file_that_is_no_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"config.yaml": "a: 1"})
    (tmp_path / "config.yaml").chmod(0)
    (tmp_path / "big.yaml").symlink_to("/proc/self/mem")

    with pytest.raises(ConfigError, match="cannot be used"):
        load_config(Path("big.yaml"), environ={}, cwd=tmp_path)


SECRETS = """\
clients:
  a: {type: anthropic, api_key: [hunter2-list], timout: 3s}
  b: {type: anthropic, api_kee: hunter2-misspelt}
  c: {type: anthropic, api_key: hunter2-right, max_attempts: none}
  d: hunter2-bare
  e: {type: oops, api_key: hunter2-oops}
  f: {type: anthropic, api_key: 12345678}
  g:
    type: anthropic
    api_key: |
      hunter2-first
      hunter2-second
    timeout: 5
database:
  url: "${DATABASE_URL}"
  pass: hunter2-unknown
broker: {url: "kafka://u:hunter2-url@x", queue: A B}
unknown: {list: [hunter2-deep]}
"""


def test_no_problem_shows_a_secret(tmp_path: Path) -> None:
    loaded = configured(tmp_path, SECRETS, {"DATABASE_URL": "hunter2-from-variable"})

    told_of_it = json.dumps([problem.to_json() for problem in loaded.problems])
    assert len(loaded.problems) >= 10
    assert "hunter2" not in told_of_it
    assert "12345678" not in told_of_it
    assert "hunter2" not in json.dumps(loaded.resolved())
    assert "hunter2" not in repr(loaded)


def test_a_masked_line_keeps_its_columns(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path, "clients: {a: {type: anthropic, api_key: hunter2, max_attempts: x}}"
    )

    problem = only(loaded.problems)
    assert problem.source_line[problem.column - 1 :] == "x}}"
    assert "api_key: *******," in problem.source_line


@pytest.mark.parametrize(
    "text", ["api_key: 'hunter2\n", "a:\n  - k: hunter2: x\n", "hunter2: {\n", "x: @hunter2\n"]
)
def test_a_syntax_error_shows_no_value(text: str, tmp_path: Path) -> None:
    (problem, *_) = configured(tmp_path, text).problems

    assert "hunter2" not in problem.source_line.partition(":")[2]


def test_a_loop_of_clients_is_told_at_each_of_them(tmp_path: Path) -> None:
    loaded = configured(
        tmp_path,
        "clients:\n"
        "  a: {type: anthropic, api_key: '', without_key: b}\n"
        "  b: {type: anthropic, api_key: '', without_key: a}\n"
        "  c: {type: anthropic, api_key: '', without_key: a}\n",
    )

    assert told(loaded.problems) == [
        "config.yaml:2:50 client-loop",
        "config.yaml:3:50 client-loop",
    ]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://",
        "postgresql:///name?host=/run/postgresql&password=a@b",
        "postgresql://user:p%40w@[::1]:5432/name",
        "postgresql+psycopg://user:p/w@host/name",
        "sqlite:////srv/a@b:c@d.db",
    ],
)
def test_a_database_may_have_any_address_that_has_one_meaning(url: str, tmp_path: Path) -> None:
    loaded = configured(tmp_path, f"database: {{url: '{url}'}}\n")

    assert (loaded.problems, loaded.config.database.url.reveal()) == ((), url)
