"""How much a model may think before it answers."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field, Tag

from runner.definitions.base import StrictModel
from runner.definitions.variants import TEXT, by_key, tag


class EffortThinking(StrictModel):
    """As much as this effort takes."""

    effort: Literal["low", "medium", "high", "xhigh", "max"]


class BudgetThinking(StrictModel):
    """At most this many tokens."""

    budget: Annotated[int, Field(ge=1024, le=1_000_000)]


#: An effort, a budget in tokens, as much as the model sees fit, or none.
Thinking: TypeAlias = Annotated[
    Annotated[EffortThinking, Tag(tag("effort"))]
    | Annotated[BudgetThinking, Tag(tag("budget"))]
    | Annotated[Literal["adaptive", "off"], Tag(TEXT)],
    by_key("effort", "budget", expected="adaptive, off, {effort: high} or {budget: 4000}"),
]
