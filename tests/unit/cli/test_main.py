from importlib.metadata import version

import pytest

from runner.cli.commands import COMMANDS
from runner.cli.main import load, main

#: Commands that make something, and groups.
WRITING = {"policy", "new", "schema", "worker", "db", "config"}


def test_the_help_lists_every_command_with_its_summary(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--help"])

    out = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert code == 0
    for name, listed in COMMANDS.items():
        assert name in out
        assert listed.summary in out


@pytest.mark.parametrize("name", COMMANDS)
def test_a_listed_command_is_there_and_says_the_same_of_itself(name: str) -> None:
    command = load(name)

    assert (command.help or "").splitlines()[0] == COMMANDS[name].summary


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    code = main([name, "--help"])

    assert code == 0
    assert f"runner {name}" in capsys.readouterr().out


@pytest.mark.parametrize(
    "name", [*sorted(COMMANDS.keys() - WRITING), "config show", "policy explain"]
)
def test_a_command_that_shows_something_has_json_for_programs(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*name.split(), "--help"])

    assert "--json" in capsys.readouterr().out


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["--version"])

    assert code == 0
    assert capsys.readouterr().out == f"runner {version('agent-runner')}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        pytest.param(["vaildate"], "Did you mean 'validate'?", id="misspelt-command"),
        pytest.param(["--nope"], "no such option: --nope (see `runner --help`)", id="option"),
        pytest.param(["show"], "missing argument 'TURN' (see `runner show --help`)", id="argument"),
        pytest.param(["ps", "--limit", "0"], "`runner ps --help`", id="out-of-range"),
        pytest.param(["config", "nope"], "`runner config --help`", id="command-of-a-group"),
    ],
)
def test_misuse_is_one_sentence_that_names_the_help(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(arguments)

    out, err = capsys.readouterr()
    assert (code, out) == (2, "")
    assert said in err
    assert err.startswith("error: ")
    assert err.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["config"], ["new"], ["db"]], ids=str)
def test_without_a_command_the_help_is_shown(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(arguments)

    out, err = capsys.readouterr()
    assert (code, err) == (2, "")
    assert "Usage:" in out
