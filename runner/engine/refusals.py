"""Why a tool call is not made: not there, ruled out, invalid, not approved, or over a limit."""

from collections.abc import Mapping

from runner.core.approvals import Answer, Approval
from runner.core.ids import ExecutionId
from runner.core.records import ToolExecution, Turn
from runner.core.states import ExecutionStatus
from runner.core.tooling import Carrier
from runner.engine.skills import loaded_skills, skill_objection
from runner.runtime.agent import Agent
from runner.tools import results

#: Executions that never counted against a limit.
_UNCOUNTED = {
    ExecutionStatus.PLANNED,
    ExecutionStatus.ASKING,
    ExecutionStatus.REFUSED,
    ExecutionStatus.SKIPPED,
}


def improper(
    run: ToolExecution, agent: Agent, executions: Mapping[ExecutionId, ToolExecution]
) -> str | None:
    """Say why *run* could not be made whoever allowed it, in words for the model, or None."""
    tool = agent.tools.get(run.tool)
    if tool is None:
        loaded = loaded_skills(agent, executions.values())
        return results.unknown_tool(run.tool, sorted(agent.tool_names(loaded)))
    forbidden = skill_objection(run, agent, executions.values())
    if forbidden:
        return forbidden
    complaints = tool.complaints(run.arguments)
    return results.invalid_arguments(run.tool, complaints) if complaints else None


def unapproved(approval: Approval | None) -> str | None:
    """Say that the people who were asked did not agree, or None."""
    if approval is None:
        return None
    match approval.answer:
        case Answer.DENIED:
            return results.disapproved(approval.answer_reason)
        case Answer.EXPIRED:
            return results.UNANSWERED
        case Answer.WITHDRAWN:
            return results.WITHDRAWN
        case _:
            return None


def over_limit(
    run: ToolExecution,
    agent: Agent,
    turn: Turn,
    executions: Mapping[ExecutionId, ToolExecution],
) -> str | None:
    """Say which limit leaves no room for *run*, or None."""
    limits = agent.definition.limits
    tree = turn.place.limits
    tool = agent.tools.get(run.tool)
    is_child = tool is not None and tool.rules.carrier is Carrier.SUB_AGENT
    if is_child and turn.place.depth >= tree.max_depth:
        return results.over_limit("limits.max_depth", tree.max_depth)
    if turn.tool_executions >= limits.max_tool_executions:
        return results.over_limit("limits.max_tool_executions", limits.max_tool_executions)
    allowed = limits.max_tool_executions_by_name.get(run.tool)
    if allowed is not None and _used(run.tool, executions) >= allowed:
        return results.over_limit(f"limits.max_tool_executions_by_name.{run.tool}", allowed)
    return None


def _used(tool: str, executions: Mapping[ExecutionId, ToolExecution]) -> int:
    return sum(run.tool == tool and run.status not in _UNCOUNTED for run in executions.values())
