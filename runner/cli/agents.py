"""`runner agents`: list the agents."""

from typing import Final

import typer

from runner.cli.console import console, print_json, print_table
from runner.cli.opening import open_runner
from runner.cli.options import AsJson
from runner.cli.shapes import agent_json
from runner.definitions.snapshot import ResolvedAgent

app = typer.Typer(add_completion=False)

_COLUMNS: Final = ("NAME", "MODEL", "TOOLS", "DESCRIPTION")


@app.command()
def agents(ctx: typer.Context, as_json: AsJson = False) -> None:
    """List the agents."""
    with open_runner(ctx) as runner:
        found = tuple(runner.agents().values())
    if as_json:
        print_json([agent_json(agent) for agent in found])
    elif found:
        rows = [(agent.name, _model(agent), _tools(agent), agent.description) for agent in found]
        print_table(console(), _COLUMNS, rows, wraps=("TOOLS", "DESCRIPTION"))
    else:
        print("there are no agents yet; write one with `runner new agent NAME`")


def _model(agent: ResolvedAgent) -> str:
    return agent.model.alias or f"{agent.model.client}/{agent.model.model}"


def _tools(agent: ResolvedAgent) -> str:
    return ", ".join(tool.name for tool in agent.tools) or "-"
