"""What became of an answer to an approval."""

from runner.cli.console import print_json
from runner.cli.shapes import approval_json
from runner.cli.text import one_line
from runner.core.approvals import Approval


def print_answered(approval: Approval, *, as_json: bool) -> None:
    """Say what was answered to whom."""
    if as_json:
        print_json(approval_json(approval))
        return
    answer = approval.answer.value if approval.answer else "open"
    print(f"{approval.id}  {answer}: {one_line(approval.question.tool)} in {approval.turn_id}")
