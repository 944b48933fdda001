"""The request to a model: a pure function of a definition snapshot and a transcript."""

from collections.abc import Sequence

from runner.core.messages import Message, Role
from runner.core.model import ModelRequest
from runner.core.records import TurnKind
from runner.runtime.agent import Agent


def build_request(
    agent: Agent, kind: TurnKind, messages: Sequence[Message], *, loaded: Sequence[str] = ()
) -> ModelRequest:
    """
    Ask *agent*'s model to continue *messages*.

    The tools of the skills that the turn has loaded follow behind the agent's own. They are part of
    what thinking is bound to, so thinking from before is left out then.
    """
    definition = agent.definition
    prompt = agent.prompt(kind)
    return ModelRequest(
        agent=definition.name,
        model=definition.model.model,
        system=prompt.text,
        messages=messages,
        max_tokens=definition.model.max_tokens,
        tools=agent.tool_specs(loaded),
        thinking=agent.thinking,
        output_schema=definition.output_schema,
        prefix=agent.prefix(kind, loaded),
    )


def context_has_changed(messages: Sequence[Message], context: str) -> bool:
    """Tell whether *context* differs from what the model was last told of it."""
    last = next((m for m in reversed(messages) if m.role is Role.CONTEXT), None)
    return bool(context) and (last is None or last.text != context)
