"""How a turn ended: its result, or why there is none, and what it took."""

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from runner.cli.console import STYLES, console, print_text
from runner.cli.failures import FAILED, INTERRUPTED, complain
from runner.cli.text import count, one_line, plain, span
from runner.core.records import Turn
from runner.core.states import TurnStatus


def exit_code(turn: Turn) -> int:
    """Return 0 for a completed turn, 130 for one that was handed back, 1 for all others."""
    match turn.status:
        case TurnStatus.COMPLETED:
            return 0
        case TurnStatus.PENDING:
            return INTERRUPTED
        case _:
            return FAILED


def show_outcome(turn: Turn, notes: Console, *, with_result: bool = True) -> None:
    """Print the result on standard output, and everything else on *notes*."""
    match turn.status:
        case TurnStatus.COMPLETED:
            if with_result:
                _show_result(turn.result or "")
        case TurnStatus.PENDING:
            print_text(notes, _interrupted(turn), style="yellow")
        case _:
            complain(reason(turn))
    if with_result:
        print_text(notes, _summary(turn))


def reason(turn: Turn) -> str:
    """Say why a turn has no result."""
    if turn.error is not None:
        return f"turn {turn.id} failed ({turn.error.code}): {turn.error.message}"
    return f"turn {turn.id} is {turn.status.value}"


def _interrupted(turn: Turn) -> str:
    return (
        f"interrupted: {turn.id} keeps its committed steps and waits for a worker to go on; "
        f"start one with `runner worker`, and follow it with `runner watch {turn.id}`"
    )


def consumption(turn: Turn) -> str:
    """Say what a turn took: time, requests, tools, tokens."""
    usage = turn.usage
    prompt = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    cached = f" ({usage.cache_read_tokens:,} from cache)" if usage.cache_read_tokens else ""
    parts = [
        count(turn.iterations, "model request"),
        count(turn.tool_executions, "tool execution"),
        f"{prompt:,} tokens in{cached}, {usage.output_tokens:,} out",
    ]
    if turn.started_at and turn.ended_at:
        parts.insert(0, span(turn.ended_at - turn.started_at))
    return " · ".join(parts)


def _show_result(result: str) -> None:
    out = console()
    if out.is_terminal:
        out.print(
            Panel(Text(plain(result)), title="result", title_align="left", border_style="green")
        )
    else:
        print(plain(result))


def _summary(turn: Turn) -> Text:
    status = turn.status.value
    text = Text().append(status, style=STYLES.get(status, ""))
    return text.append(f" · {consumption(turn)} · {one_line(turn.id)}", style="dim")
