"""`runner run`: run a task here and show it as it happens."""

from typing import Annotated

import typer

from runner.cli.asker import looking
from runner.cli.foreground import in_foreground
from runner.cli.live import view_for
from runner.cli.notices import offline_notice
from runner.cli.opening import open_runner
from runner.cli.options import (
    AgentName,
    AsJson,
    Context,
    Input,
    Principal,
    SubjectOption,
    read_given,
    read_json,
)

app = typer.Typer(add_completion=False)


@app.command()
def run(  # noqa: PLR0913, PLR0917 - one parameter for each option
    ctx: typer.Context,
    agent: AgentName,
    task: Annotated[str, typer.Argument(metavar="TASK", help="What to do.")] = "",
    input_json: Input = None,
    context_json: Context = None,
    subject_json: SubjectOption = None,
    as_json: AsJson = False,
    principal: Principal = None,
) -> int:
    """
    Run a task here and show it as it happens.

    Progress goes to standard error and the result to standard output. With --json everything is
    printed as one JSON document a line, the last of them the turn. A failed turn exits with 1.
    Ctrl-c hands the turn to the workers, with everything it has done so far.
    """
    input_data = read_json("--input", input_json)
    given = read_given(context_json, subject_json)
    view = view_for(as_json=as_json)
    with open_runner(ctx, observer=view, principal=principal) as runner:
        view.look_up_in(runner)
        notice = offline_notice(runner, agent)
        if notice:
            view.notice(notice)
        with view.working():
            tree = in_foreground(
                runner,
                lambda: runner.run(agent, task, input=input_data, given=given),
                look=looking(runner, view),
            )
        return view.outcome(tree)
