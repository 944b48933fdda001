"""What the files of a scripted client may say."""

import re
from typing import Annotated, Literal

from pydantic import Field

from runner.definitions.base import Items, StrictModel
from runner.definitions.scalars import Count, Duration, JsonObject, Name, Prose, ToolName


class ScriptedCall(StrictModel):
    """A tool call; texts in its arguments may quote the conversation."""

    name: ToolName
    arguments: JsonObject = Field(default_factory=dict)


class ScriptedError(StrictModel):
    """How an attempt at this answer fails."""

    kind: Literal["unavailable", "transport", "rejected", "too_long", "access"]
    #: The delay that the provider is said to ask for.
    retry_after: Duration | None = None
    #: After so many failures in one process the answer is given; without it, never.
    times: Count | None = None


class ScriptedUsage(StrictModel):
    """Tokens to report in place of an estimate."""

    input_tokens: Annotated[int, Field(ge=0)] = 0
    output_tokens: Annotated[int, Field(ge=0)] = 0
    cache_read_tokens: Annotated[int, Field(ge=0)] = 0
    cache_write_tokens: Annotated[int, Field(ge=0)] = 0
    thinking_tokens: Annotated[int, Field(ge=0)] = 0


class ScriptedAnswer(StrictModel):
    """One response: what the model thinks, says and calls, in this order."""

    thinking: Prose | None = None
    #: May quote the conversation, as in `{task}` and `{last_result.key}`.
    text: Prose | None = None
    tool_calls: Items[ScriptedCall] = ()
    #: How long the model takes before it says anything.
    delay: Duration | None = None
    #: Why it stops; left out, because of its tool calls or because it has said all.
    stop: Literal["end", "tool_calls", "pause", "max_tokens", "context_full", "refusal"] | None = (
        None
    )
    error: ScriptedError | None = None
    usage: ScriptedUsage | None = None


class ScriptEntry(StrictModel):
    """The answers to one turn of an agent, step by step; the last one serves all further steps."""

    agent: Name
    #: A regular expression that is found in what the turn was asked; left out, all turns match.
    when: Prose | None = None
    #: The tool whose result was the latest when it was asked; left out, any or none.
    after: ToolName | None = None
    answers: Items[ScriptedAnswer]

    def matches(self, agent: str, task: str, after: str | None = None) -> bool:
        """Say whether this is for *agent*, asked for *task* after a result of the tool *after*."""
        return (
            agent == self.agent
            and (self.when is None or bool(re.search(self.when, task)))
            and self.after in {None, after}
        )
