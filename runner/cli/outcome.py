"""How a turn ended: its result, or why there is none, and what it and those below it took."""

from collections.abc import Sequence

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from runner.cli.console import STYLES, console, print_text
from runner.cli.failures import FAILED, INTERRUPTED, complain
from runner.cli.money import cost_text
from runner.cli.text import count, plain, span
from runner.cli.total import Total
from runner.core.records import Turn
from runner.core.states import TurnStatus


def exit_code(turn: Turn) -> int:
    """Return 0 for a completed turn, 130 for one that goes on elsewhere, 1 for all others."""
    match turn.status:
        case TurnStatus.COMPLETED:
            return 0
        case TurnStatus.PENDING | TurnStatus.RUNNING | TurnStatus.WAITING:
            return INTERRUPTED
        case _:
            return FAILED


def show_outcome(tree: Sequence[Turn], notes: Console, *, with_result: bool = True) -> None:
    """
    Print the result on standard output, and everything else on *notes*.

    Args:
        tree: The turn, and then those below it.
        notes: Where to.
        with_result: Whether the result has not been shown yet.
    """
    turn = tree[0]
    match exit_code(turn):
        case 0:
            if with_result:
                _show_result(turn.result or "")
        case code if code == INTERRUPTED:
            print_text(notes, _interrupted(turn), style="yellow")
        case _:
            complain(reason(turn))
    if with_result:
        print_text(notes, _summary(tree))
    left = sum(not each.status.is_ended for each in tree[1:])
    if turn.status.is_ended and left:
        going_on = f"{count(left, 'turn')} below it {'has' if left == 1 else 'have'} not ended"
        print_text(notes, f"{going_on}; see `runner show {turn.id}`", style="yellow")


def reason(turn: Turn) -> str:
    """Say why a turn has no result."""
    if turn.error is not None:
        return f"turn {turn.id} failed ({turn.error.code}): {turn.error.message}"
    advice = advice_on(turn)
    return f"turn {turn.id} is {turn.status.value}{f'; {advice}' if advice else ''}"


def advice_on(turn: Turn) -> str:
    """Say what a person can do about a turn that nothing else moves on."""
    match turn.status:
        case TurnStatus.PREPARED:
            return f"submit it with `runner submit --turn {turn.id}`"
        case TurnStatus.PAUSED:
            return f"let it go on with `runner resume {turn.id}`"
        case TurnStatus.STALE:
            return (
                "it ran in a process that died; hand it to the workers with "
                f"`runner resume {turn.id}`, or end it with `runner cancel {turn.id}`"
            )
        case _:
            return ""


def consumption(turns: Sequence[Turn]) -> str:
    """Say what turns took together: number, the first one's time, requests, tools, tokens, cost."""
    total = Total.of(turns)
    usage = total.usage
    cached = f" ({usage.cache_read_tokens:,} from cache)" if usage.cache_read_tokens else ""
    parts = [
        count(total.iterations, "model request"),
        count(total.tool_executions, "tool execution"),
        f"{total.prompt_tokens:,} tokens in{cached}, {usage.output_tokens:,} out",
    ]
    if total.tokens:
        parts.append(cost_text(total.cost))
    if len(turns) > 1:
        parts.insert(0, count(len(turns), "turn"))
    first = turns[0]
    if first.started_at and first.ended_at:
        parts.insert(0, span(first.ended_at - first.started_at))
    return " · ".join(parts)


def _interrupted(turn: Turn) -> str:
    return (
        f"interrupted: {turn.id} keeps its committed steps and waits for a worker to go on; "
        f"start one with `runner worker`, and follow it with `runner watch {turn.id}`"
    )


def _show_result(result: str) -> None:
    out = console()
    if out.is_terminal:
        out.print(
            Panel(Text(plain(result)), title="result", title_align="left", border_style="green")
        )
    else:
        print(plain(result))


def _summary(tree: Sequence[Turn]) -> Text:
    status = tree[0].status.value
    text = Text().append(status, style=STYLES[status])
    return text.append(f" · {consumption(tree)} · {tree[0].id}", style="dim")
