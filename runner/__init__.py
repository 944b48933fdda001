"""Run LLM agents that are declared in YAML, durably."""

from importlib import import_module

#: Where each public name lives; looked up on first use, so that importing `runner` stays cheap.
_HOMES = {
    "ContributorContext": "runner.core.contributing",
    "Conversation": "runner.bootstrap.conversation",
    "Given": "runner.bootstrap.given",
    "Runner": "runner.bootstrap.runner",
    "Subject": "runner.core.contributing",
    "ToolContext": "runner.core.tooling",
}

__all__ = ["ContributorContext", "Conversation", "Given", "Runner", "Subject", "ToolContext"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'runner' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
