"""`runner new`: write a new definition to start from."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from runner.cli.reading import read_config
from runner.cli.text import plain
from runner.definitions.config import Config
from runner.definitions.scaffold import (
    new_agent,
    new_context,
    new_policy,
    new_skill,
    new_tool,
    write_new,
)

app = typer.Typer(add_completion=False, no_args_is_help=True)

NewName: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="Its name.")]


@app.callback()
def new() -> None:
    """Write a new definition to start from."""


@app.command("agent")
def agent(ctx: typer.Context, name: NewName) -> None:
    """Write a new agent; nothing that exists is overwritten."""
    _write(ctx, lambda root, config: new_agent(name, root=root, config=config))
    print(f"say in it what {name} has to do, then: runner validate && runner run {name} TASK")


@app.command("tool")
def tool(ctx: typer.Context, name: NewName) -> None:
    """
    Write a new tool; nothing that exists is overwritten.

    It is written in Python where the config lists a folder of the project under python_modules,
    and is a built-in tool otherwise.
    """
    config = _write(ctx, lambda root, config: new_tool(name, root=root, config=config))
    print(f"list it under the tools of an agent: tools: [{name}]")
    if not config.python_modules:
        print("for a tool in Python, list a folder in the config: python_modules: [agents/python]")


@app.command("context")
def context(ctx: typer.Context, name: NewName) -> None:
    """
    Write a new contributor; nothing that exists is overwritten.

    It is a function in Python where the config lists a folder of the project under python_modules,
    and a text otherwise.
    """
    _write(ctx, lambda root, config: new_context(name, root=root, config=config))
    print(f"list it in an agent, or in the config for all: context: [{name}]")
    print("see what it tells: runner preview AGENT TASK")


@app.command("policy")
def policy(ctx: typer.Context, name: NewName) -> None:
    """Write a new policy; nothing that exists is overwritten."""
    _write(ctx, lambda root, config: new_policy(name, root=root, config=config))
    print(f"list it under the policies of an agent: policies: [{name}]")
    print(f"or, for everyone, in the config: authorization: [{name}]")
    print("then: runner validate && runner policy explain --agent AGENT --tool TOOL")


@app.command("skill")
def skill(ctx: typer.Context, name: NewName) -> None:
    """Write a new skill, a folder with a SKILL.md; nothing that exists is overwritten."""
    _write(ctx, lambda root, config: new_skill(name, root=root, config=config))
    print(f"list it under the skills of an agent, or what it can load: available_skills: [{name}]")


def _write(ctx: typer.Context, files: Callable[[Path, Config], Mapping[Path, str]]) -> Config:
    loaded = read_config(ctx)
    new_files = files(loaded.root, loaded.config)
    write_new(new_files)
    for path in new_files:
        print(f"wrote {plain(str(path.relative_to(loaded.root)))}")
    return loaded.config
