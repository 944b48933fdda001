"""What turns took together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Self

from runner.core.cost import Cost
from runner.core.model import Usage
from runner.core.records import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """The sums over some turns."""

    turns: int
    iterations: int
    tool_executions: int
    usage: Usage
    cost: Cost

    @classmethod
    def of(cls, turns: Sequence[Turn]) -> Self:
        return cls(
            turns=len(turns),
            iterations=sum(turn.iterations for turn in turns),
            tool_executions=sum(turn.tool_executions for turn in turns),
            usage=reduce(add, (turn.usage for turn in turns), Usage()),
            cost=reduce(add, (turn.cost for turn in turns), Cost()),
        )

    @property
    def prompt_tokens(self) -> int:
        """All that was read, from the cache or not."""
        usage = self.usage
        return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.usage.output_tokens
