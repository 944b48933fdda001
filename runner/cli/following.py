"""Following a turn that workers run."""

from runner.bootstrap.runner import Runner
from runner.cli.failures import INTERRUPTED
from runner.cli.live import View
from runner.cli.looks import looks
from runner.core.errors import UsageError
from runner.core.states import TurnStatus


def follow_to_the_end(runner: Runner, view: View, turn_id: str) -> int:
    """
    Show a turn, with all below it, until it has ended and return the exit code.

    Ctrl-c only stops looking.

    Raises:
        NotFound: There is no such turn.
        UsageError: Nobody will run it, because it is not submitted.
    """
    if runner.turn(turn_id).status is TurnStatus.PREPARED:
        raise UsageError(f"{turn_id} is only prepared; submit it: `runner submit --turn {turn_id}`")
    view.look_up_in(runner)
    try:
        view.follow(looks(runner, turn_id))
    except KeyboardInterrupt:
        view.notice(f"the turn goes on; look again with `runner watch {turn_id}`")
        return INTERRUPTED
    return view.outcome(runner.tree(turn_id))
