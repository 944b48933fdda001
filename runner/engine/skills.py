"""The skills of a turn under way, as its stored executions tell of them."""

from collections.abc import Iterable

from runner.core.records import ToolExecution
from runner.core.states import ExecutionStatus
from runner.definitions.skill import LOAD_SKILL, READ_SKILL_FILE
from runner.runtime.agent import Agent
from runner.runtime.skills import file_objection, objection


def loaded_skills(agent: Agent, executions: Iterable[ToolExecution]) -> tuple[str, ...]:
    """
    Return the skills that a turn has loaded, in the order it did.

    It is read off the turn's own executions and nothing else, so that it is the same wherever the
    turn goes on, and over when the turn is.
    """
    available = {skill.name for skill in agent.definition.available_skills}
    named = (
        str(run.arguments.get("name"))
        for run in executions
        if run.tool == LOAD_SKILL and run.status is ExecutionStatus.COMPLETED
    )
    return tuple(dict.fromkeys(name for name in named if name in available))


def skill_objection(
    run: ToolExecution, agent: Agent, executions: Iterable[ToolExecution]
) -> str | None:
    """Say why the agent's skills forbid a call, in words for the model, or None."""
    loaded = loaded_skills(agent, executions)
    if run.tool == READ_SKILL_FILE:
        return file_objection(agent.definition, loaded, run.arguments.get("skill"))
    return objection(agent.definition, loaded, run.tool)
