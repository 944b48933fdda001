"""What policies would say to something that nobody attempts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from runner.bootstrap.wiring import Wiring
from runner.core.authorization import Action, AgentRef, Attempt
from runner.core.errors import NotFound, UsageError
from runner.core.jsonvalue import JsonObject
from runner.core.records import TurnKind
from runner.definitions.skill import RESERVED_TOOLS
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import (
    LaunchAgentTool,
    SendMessageTool,
    ToolDefinition,
    WaitForTool,
)
from runner.engine.authority import PolicyAuthority
from runner.policies.explanation import Explanation


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """An attempt that is only thought of."""

    agent: str
    #: The agents of the turns above, the root's first.
    under: Sequence[str] = ()
    tool: str | None = None
    arguments: JsonObject = field(default_factory=dict)
    #: None stands for what calling the tool attempts.
    action: Action | None = None
    principal: JsonObject | None = None
    context: JsonObject = field(default_factory=dict)


def explain(wiring: Wiring, what: WhatIf) -> Sequence[Explanation]:
    """
    Say what the current policies say to an attempt, by each action it would be; nothing is stored.

    Raises:
        NotFound: There is no such agent.
        UsageError: Neither a tool nor an action is named.
        ConfigError: The definitions cannot be used.
    """
    chain = list(_chain(wiring.catalog.definitions(), (*what.under, what.agent)))
    snapshots = {definition.content_hash(): definition for definition in chain}
    lineage = [
        AgentRef(name=definition.name, definition_hash=content_hash)
        for definition, content_hash in ((one, one.content_hash()) for one in chain)
    ]
    authority = PolicyAuthority(
        project=wiring.catalog.in_force,
        snapshot=snapshots.__getitem__,
        function_of=wiring.policy_function,
    )
    return [
        authority.explain(_attempt(what, action, len(chain) - 1), lineage)
        for action in _actions(what, chain[-1])
    ]


def stranger(wiring: Wiring, what: WhatIf) -> str | None:
    """Say that the agent has no such tool, where that is so."""
    if what.tool is None:
        return None
    definition = [*_chain(wiring.catalog.definitions(), (*what.under, what.agent))][-1]
    subs = {sub.name for sub in definition.sub_agents}
    names = {tool.name for tool in _tools(definition)} | subs
    if what.tool in names | RESERVED_TOOLS:
        return None
    has = f"it has {', '.join(sorted(names))}" if names else "it has none"
    return f"the agent {what.agent!r} has no tool {what.tool!r}; {has}"


def _chain(known: Mapping[str, ResolvedAgent], names: Sequence[str]) -> Iterator[ResolvedAgent]:
    inside: Mapping[str, ResolvedAgent | None] = {}
    for name in names:
        definition = known.get(name) or inside.get(name)
        if definition is None:
            where = ", ".join(sorted({*known, *inside}))
            raise NotFound(f"there is no agent {name!r} here; the agents are: {where}")
        yield definition
        inside = {sub.name: sub.definition for sub in definition.sub_agents if sub.definition}


def _attempt(what: WhatIf, action: Action, depth: int) -> Attempt:
    return Attempt(
        action=action,
        agent=what.agent,
        tool=what.tool,
        arguments=what.arguments,
        principal=what.principal,
        turn=_turn(action, depth),
        conversation=_conversation(action, what.agent),
        context=what.context,
    )


def _turn(action: Action, depth: int) -> JsonObject:
    """Make up what policies know of a turn, so that a rule which looks at it can be told."""
    if action is Action.SUBMIT:
        return {"kind": TurnKind.TASK.value}
    is_root = depth == 0
    return {
        "id": "turn_explained",
        "kind": TurnKind.TASK.value,
        "depth": depth,
        "parent_id": None if is_root else "turn_above",
        "root_id": "turn_explained" if is_root else "turn_above",
    }


def _conversation(action: Action, agent: str) -> JsonObject:
    known: JsonObject = {} if action is Action.SUBMIT else {"id": "conv_explained"}
    return {**known, "agent": agent}


def _actions(what: WhatIf, definition: ResolvedAgent) -> Sequence[Action]:
    if what.action is not None:
        return [what.action]
    if what.tool is None:
        raise UsageError("name a tool with --tool, or what is attempted with --action")
    if what.tool in {sub.name for sub in definition.sub_agents}:
        return [Action.LAUNCH_AGENT, Action.WAIT]
    tool = next((one for one in _tools(definition) if one.name == what.tool), None)
    return _actions_of(tool, what.arguments)


def _tools(definition: ResolvedAgent) -> Iterator[ToolDefinition]:
    """Yield the tools of an agent, and those of the skills that it has or can load."""
    yield from definition.tools
    for skill in (*definition.skills, *definition.available_skills):
        yield from skill.tools


def _actions_of(tool: ToolDefinition | None, arguments: JsonObject) -> Sequence[Action]:
    match tool:
        case LaunchAgentTool() if arguments.get("callback"):
            return [Action.LAUNCH_AGENT, Action.CALLBACK]
        case LaunchAgentTool():
            return [Action.LAUNCH_AGENT]
        case WaitForTool():
            return [Action.WAIT]
        case SendMessageTool():
            return [Action.SEND_MESSAGE]
        case _:
            return [Action.TOOL]
