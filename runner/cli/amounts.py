"""How many definitions there are."""

from runner.cli.text import count
from runner.definitions.registry import Registry


def counts(registry: Registry) -> str:
    """Say how many definitions there are; of most kinds only where there are some."""
    others = {
        count(len(registry.skills), "skill"): registry.skills,
        count(len(registry.policies), "policy", plural="policies"): registry.policies,
        count(len(registry.contexts), "contributor"): registry.contexts,
    }
    counted = [count(len(registry.agents), "agent"), count(len(registry.tools), "tool")]
    return ", ".join([*counted, *(said for said, there in others.items() if there)])
