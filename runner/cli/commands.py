"""Every command: where it lives, and what it is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A command as `--help` lists it, without its module being loaded."""

    #: The module whose `app` it is.
    module: str
    panel: str
    summary: str


_DEFINITIONS: Final = "Definitions"
_TURNS: Final = "Turns"
_CONTROLS: Final = "Controls"
_OPERATION: Final = "Operation"

COMMANDS: Final[Mapping[str, Listed]] = {
    "new": Listed(
        module="runner.cli.new",
        panel=_DEFINITIONS,
        summary="Write a new definition to start from.",
    ),
    "validate": Listed(
        module="runner.cli.validate",
        panel=_DEFINITIONS,
        summary="Say what is wrong with the project's files, and where.",
    ),
    "agents": Listed(
        module="runner.cli.agents",
        panel=_DEFINITIONS,
        summary="List the agents.",
    ),
    "preview": Listed(
        module="runner.cli.preview",
        panel=_DEFINITIONS,
        summary="Show the exact first request of a turn, without sending or storing it.",
    ),
    "policy": Listed(
        module="runner.cli.policy",
        panel=_DEFINITIONS,
        summary="Say what policies make of an attempt, and why.",
    ),
    "config": Listed(
        module="runner.cli.config",
        panel=_DEFINITIONS,
        summary="Show the config.",
    ),
    "schema": Listed(
        module="runner.cli.schema",
        panel=_DEFINITIONS,
        summary="Write the JSON Schemas with which editors check definitions.",
    ),
    "run": Listed(
        module="runner.cli.run",
        panel=_TURNS,
        summary="Run a task here and show it as it happens.",
    ),
    "chat": Listed(
        module="runner.cli.chat",
        panel=_TURNS,
        summary="Talk with an agent.",
    ),
    "submit": Listed(
        module="runner.cli.submit",
        panel=_TURNS,
        summary="Hand a task or a message to the workers.",
    ),
    "ps": Listed(
        module="runner.cli.ps",
        panel=_TURNS,
        summary="List turns, newest first.",
    ),
    "show": Listed(
        module="runner.cli.show",
        panel=_TURNS,
        summary="Show everything about a turn.",
    ),
    "watch": Listed(
        module="runner.cli.watch",
        panel=_TURNS,
        summary="Follow a turn and all below it until it has ended, whoever runs it.",
    ),
    "messages": Listed(
        module="runner.cli.messages",
        panel=_TURNS,
        summary="Show a conversation.",
    ),
    "send": Listed(
        module="runner.cli.send",
        panel=_TURNS,
        summary="Put a message into a conversation and wake its agent.",
    ),
    "inbox": Listed(
        module="runner.cli.inbox",
        panel=_TURNS,
        summary="Show what was delivered to a conversation, oldest first.",
    ),
    "outbox": Listed(
        module="runner.cli.outbox",
        panel=_TURNS,
        summary="Show what was sent from a conversation, oldest first.",
    ),
    "approvals": Listed(
        module="runner.cli.approvals",
        panel=_CONTROLS,
        summary="List the calls that wait for somebody to approve them.",
    ),
    "approve": Listed(
        module="runner.cli.approve",
        panel=_CONTROLS,
        summary="Let a call be made that a policy wants approved.",
    ),
    "deny": Listed(
        module="runner.cli.deny",
        panel=_CONTROLS,
        summary="Let a call not be made that a policy wants approved.",
    ),
    "steer": Listed(
        module="runner.cli.steer",
        panel=_CONTROLS,
        summary="Give a turn under way new input.",
    ),
    "pause": Listed(
        module="runner.cli.pause",
        panel=_CONTROLS,
        summary="Stop a turn, and everything below it, until it is resumed.",
    ),
    "resume": Listed(
        module="runner.cli.resume",
        panel=_CONTROLS,
        summary="Let a paused or stale turn, and everything below it, go on.",
    ),
    "cancel": Listed(
        module="runner.cli.cancel",
        panel=_CONTROLS,
        summary="End a turn, and everything below it, before it has ended by itself.",
    ),
    "worker": Listed(
        module="runner.cli.worker",
        panel=_OPERATION,
        summary="Work on submitted turns until stopped.",
    ),
    "doctor": Listed(
        module="runner.cli.doctor",
        panel=_OPERATION,
        summary="Say what is missing or does not answer.",
    ),
    "reconcile": Listed(
        module="runner.cli.reconcile",
        panel=_OPERATION,
        summary="Repair what a crash left behind, and wake workers for all that is due.",
    ),
    "db": Listed(
        module="runner.cli.db",
        panel=_OPERATION,
        summary="Look after the database's schema.",
    ),
}
