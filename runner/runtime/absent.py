"""What stands in for an agent that cannot be brought to life."""

from collections.abc import Callable

from runner.core.errors import ModelRejected
from runner.core.model import Delta, ModelRequest, ModelResponse, RenderedRequest
from runner.core.tooling import Cancellation
from runner.definitions.snapshot import ResolvedAgent, ResolvedLimits, ResolvedModel
from runner.runtime.agent import Agent


def absent_agent(name: str, content_hash: str) -> Agent:
    """Return an agent that can do nothing, for turns that are only to be let go or ended."""
    return Agent(
        definition=_empty_definition(name),
        content_hash=content_hash,
        client=_NoClient(),
        tools={},
        prompts={},
    )


def _empty_definition(name: str) -> ResolvedAgent:
    return ResolvedAgent(
        name=name,
        description="",
        instructions="",
        system_prompt=None,
        prompt_mode=None,
        model=ResolvedModel(
            alias="none", client="none", model="none", max_tokens=1, context_tokens=1
        ),
        tools=(),
        limits=ResolvedLimits(),
        thinking=None,
        input_schema=None,
        output_schema=None,
    )


class _NoClient:
    """A client that answers nothing."""

    max_attempts = 1

    def complete(
        self, request: ModelRequest, on_delta: Callable[[Delta], None], cancelled: Cancellation
    ) -> ModelResponse:
        del on_delta, cancelled
        raise ModelRejected(f"agent {request.agent!r} has no client")

    def render(self, request: ModelRequest) -> RenderedRequest:
        raise ModelRejected(f"agent {request.agent!r} has no client")
