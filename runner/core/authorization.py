"""Who may do what: what is attempted, and what the policies in force say to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from typing import Final, TypeAlias

from runner.core.jsonvalue import JsonObject


class Action(StrEnum):
    """What policies have a say in."""

    TOOL = "tool"  #: Run a tool.
    LAUNCH_AGENT = "launch_agent"  #: Start a child turn, by a sub-agent's call or a tool.
    WAIT = "wait"  #: Wait for other turns, by a sub-agent's call or a tool.
    SEND_MESSAGE = "send_message"  #: Write to a conversation.
    CALLBACK = "callback"  #: Tell a conversation of a turn's end.
    CANCEL = "cancel"  #: Cancel a turn.
    PAUSE = "pause"  #: Pause a turn.
    RESUME = "resume"  #: Let a turn go on.
    STEER = "steer"  #: Give a turn new input.
    APPROVE = "approve"  #: Answer an approval, either way.
    READ_CONTROL = "read_control"  #: Read how turns stand, their inputs, events and approvals.
    READ_MESSAGES = "read_messages"  #: Read what was said in a conversation or delivered to it.
    SUBMIT = "submit"  #: Prepare, submit or run a turn.


class Effect(StrEnum):
    """What is said to an attempt; the later, the stricter."""

    ALLOW = "allow"  #: It is done.
    ASK = "ask"  #: It is done once a person agrees.
    DENY = "deny"  #: It is not done.


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRef:
    """An agent as a turn runs with it: its name and the hash of its definition."""

    name: str
    definition_hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """
    Something that is about to be done, as policies see it.

    Nothing in it but *arguments* was written by a model.
    """

    action: Action
    #: Whose turn acts or, for what people do, is acted on.
    agent: str
    principal: JsonObject | None = None
    #: The tool that was called, sub-agents included; None for what people do.
    tool: str | None = None
    arguments: JsonObject = field(default_factory=dict)
    #: The turn's id, kind, depth, parent_id and root_id, as far as there is one.
    turn: JsonObject = field(default_factory=dict)
    #: The conversation's id and agent, as far as there is one.
    conversation: JsonObject = field(default_factory=dict)
    #: The run's context, as the application gave it.
    context: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the policies in force say to an attempt, and which rule decided."""

    effect: Effect
    #: In words for the model or the person, from the rule or, without one, of our own.
    reason: str = ""
    #: The deciding policy and its rule; None where no rule decided.
    policy: str | None = None
    rule: str | None = None
    #: Where the rule stands, as `file:line`.
    source: str | None = None
    #: Whose layer decided: `operator`, or the name of an agent.
    layer: str | None = None
    #: How long a person has to answer; None takes the operator's default.
    expires: timedelta | None = None


#: What is said where no policy has anything to say.
ALLOWED = Verdict(effect=Effect.ALLOW)

#: The agents whose policies apply to a turn: the root's first, the turn's own last.
Lineage: TypeAlias = Sequence[AgentRef]


def strictest(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the verdict that holds where all of these are said; of equals the first."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.effect], default=ALLOWED)


class Unrestricted:
    """The authority of an application without policies, which trusts whoever uses it."""

    def decide(self, attempt: Attempt, lineage: Lineage) -> Verdict:
        """Allow whatever is attempted."""
        del attempt, lineage
        return ALLOWED


_STRICTNESS: Final = {effect: place for place, effect in enumerate(Effect)}
