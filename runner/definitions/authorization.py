"""The operator's policies: a ceiling that no agent can lift."""

from runner.definitions.config_loader import LoadedConfig
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
