"""How many definitions there are."""

from runner.cli.text import count
from runner.definitions.registry import Registry


def counts(registry: Registry) -> str:
    """Say how many agents and tools there are, and how many of the others where there are some."""
    others = (
        (registry.skills, "skill", "skills"),
        (registry.policies, "policy", "policies"),
        (registry.contexts, "contributor", "contributors"),
    )
    return ", ".join(
        (
            count(len(registry.agents), "agent"),
            count(len(registry.tools), "tool"),
            *(count(len(there), one, plural=many) for there, one, many in others if there),
        )
    )
