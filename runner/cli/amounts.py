"""How many definitions there are."""

from runner.cli.text import count
from runner.definitions.registry import Registry


def counts(registry: Registry) -> str:
    """Say how many definitions there are; skills only where there are some."""
    counted = [count(len(registry.agents), "agent"), count(len(registry.tools), "tool")]
    if registry.skills:
        counted.append(count(len(registry.skills), "skill"))
    return ", ".join(counted)
