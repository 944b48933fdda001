"""What became of a control, in words and for programs."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from runner.cli.console import print_json
from runner.cli.shapes import receipts_json
from runner.cli.text import one_line
from runner.core.coordination import Receipt, Receipts, ReceiptState
from runner.core.ids import TurnId
from runner.core.records import Turn

#: Words a receipt, given the turn as it is now.
Wording: TypeAlias = Callable[[Receipt, Turn], str]


def print_receipts(
    receipts: Receipts, tree: Sequence[Turn], wording: Wording, *, as_json: bool
) -> None:
    """
    Print a receipt a line.

    Args:
        receipts: What became of the control.
        tree: The turn it was for and those below it, as they are now and as far as they are shown.
        wording: What to call it.
        as_json: Whether to print the receipts as they are instead.
    """
    if as_json:
        print_json(receipts_json(receipts))
        return
    turns: Mapping[TurnId, Turn] = {turn.id: turn for turn in tree}
    for receipt in receipts.turns:
        turn = turns.get(receipt.turn_id)
        if turn is None:
            print(f"{receipt.turn_id}  {receipt.state.value}")
        else:
            print(f"{turn.id}  {one_line(turn.agent)}  {_worded(receipt, turn, wording)}")


def _worded(receipt: Receipt, turn: Turn, wording: Wording) -> str:
    if receipt.state is ReceiptState.UNCHANGED and receipt.status.is_ended:
        return f"has ended already: {receipt.status.value}"
    return wording(receipt, turn)
