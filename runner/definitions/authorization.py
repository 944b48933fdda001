"""The operator's policies: a ceiling that no agent can lift."""

from runner.definitions.agent import AgentDefinition
from runner.definitions.config_loader import LoadedConfig
from runner.definitions.definition_file import Draft
from runner.definitions.policy_kind import check_entries
from runner.definitions.problem import Problem
from runner.definitions.surroundings import Surroundings


def authorization_problems(loaded: LoadedConfig, surroundings: Surroundings) -> tuple[Problem, ...]:
    """Tell what is wrong with the policies that the config lists."""
    entries = loaded.config.authorization
    if loaded.document is None or not entries:
        return ()
    document = loaded.document
    return document.source.show(
        check_entries(entries, document, surroundings, ("authorization",)), ()
    )


def is_policed(draft: Draft) -> bool:
    """Whether a document is a policy, or an agent that has some, as far as it could be read."""
    definition = draft.reading.definition
    return (
        draft.kind == "policy"
        or "policies" in draft.document.keys
        or (isinstance(definition, AgentDefinition) and _has_policies(definition))
    )


def _has_policies(agent: AgentDefinition) -> bool:
    return bool(agent.policies) or any(
        _has_policies(entry) for entry in agent.sub_agents if not isinstance(entry, str)
    )
