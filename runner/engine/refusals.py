"""Why a tool call is not made: unknown tool, ruled out by skills, invalid, or over a limit."""

from collections.abc import Mapping

from runner.core.ids import ExecutionId
from runner.core.records import ToolExecution, Turn
from runner.core.states import ExecutionStatus
from runner.core.tooling import Carrier
from runner.engine.skills import loaded_skills, skill_objection
from runner.runtime.agent import Agent
from runner.tools.results import invalid_arguments, over_limit, unknown_tool

#: Executions that never counted against a limit.
_UNCOUNTED = {ExecutionStatus.PLANNED, ExecutionStatus.REFUSED, ExecutionStatus.SKIPPED}


def refusal(
    run: ToolExecution,
    agent: Agent,
    turn: Turn,
    executions: Mapping[ExecutionId, ToolExecution],
) -> str | None:
    """
    Say why *run* may not be made, in words for the model, or None.

    A call that could not have been made anyway is refused before limits are looked at, so that it
    counts against none.
    """
    tool = agent.tools.get(run.tool)
    if tool is None:
        loaded = loaded_skills(agent, executions.values())
        return unknown_tool(run.tool, sorted(agent.tool_names(loaded)))
    forbidden = skill_objection(run, agent, executions.values())
    if forbidden:
        return forbidden
    complaints = tool.complaints(run.arguments)
    if complaints:
        return invalid_arguments(run.tool, complaints)
    return _over_limit(run, agent, turn, executions, tool.rules.carrier)


def _over_limit(
    run: ToolExecution,
    agent: Agent,
    turn: Turn,
    executions: Mapping[ExecutionId, ToolExecution],
    carrier: Carrier,
) -> str | None:
    limits = agent.definition.limits
    tree = turn.place.limits
    if carrier is Carrier.SUB_AGENT and turn.place.depth >= tree.max_depth:
        return over_limit("limits.max_depth", tree.max_depth)
    if turn.tool_executions >= limits.max_tool_executions:
        return over_limit("limits.max_tool_executions", limits.max_tool_executions)
    allowed = limits.max_tool_executions_by_name.get(run.tool)
    if allowed is not None and _used(run.tool, executions) >= allowed:
        return over_limit(f"limits.max_tool_executions_by_name.{run.tool}", allowed)
    return None


def _used(tool: str, executions: Mapping[ExecutionId, ToolExecution]) -> int:
    return sum(run.tool == tool and run.status not in _UNCOUNTED for run in executions.values())
