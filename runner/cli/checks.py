"""What was looked at beyond the files, and whether it is as it should be."""

from dataclasses import dataclass
from enum import StrEnum

from rich.text import Text

from runner.cli.console import STYLES
from runner.cli.text import one_line
from runner.core.jsonvalue import JsonObject


class CheckStatus(StrEnum):
    """What a check found."""

    OK = "ok"  #: As it should be.
    WARNING = "warning"  #: Works, but perhaps not as meant.
    FAILED = "failed"  #: Does not work.


_MARKS = {CheckStatus.OK: "✓", CheckStatus.WARNING: "!", CheckStatus.FAILED: "✗"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that was looked at."""

    #: What: `database`, `broker`, `client anthropic`, …
    name: str
    status: CheckStatus
    message: str

    @property
    def failed(self) -> bool:
        return self.status is CheckStatus.FAILED

    def line(self, *, width: int = 0) -> Text:
        """Show it on one line, its name at least *width* wide."""
        text = Text().append(f"{_MARKS[self.status]} ", STYLES[self.status])
        return text.append(f"{one_line(self.name):<{width}}  {one_line(self.message)}")

    def to_json(self) -> JsonObject:
        return {"name": self.name, "status": self.status.value, "message": self.message}
