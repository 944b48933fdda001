"""What in a config refers to definitions, checked when these have been read."""

from runner.definitions.config_loader import LoadedConfig
from runner.definitions.problem import Problem
from runner.definitions.skill_references import check_entries
from runner.definitions.surroundings import Surroundings


def references_of_config(loaded: LoadedConfig, surroundings: Surroundings) -> tuple[Problem, ...]:
    """Tell what in a config refers to definitions that are not there."""
    if loaded.document is None or "skills" in loaded.unsure:
        return ()
    skills = loaded.config.skills
    found = check_entries(skills, loaded.document, surroundings, ("skills",), seen=set())
    return loaded.show(found)
