"""How many definitions there are."""

from runner.cli.text import count
from runner.definitions.registry import Registry


def counts(registry: Registry) -> str:
    """Say how many definitions there are; of most kinds only where there are some."""
    counted = [count(len(registry.agents), "agent"), count(len(registry.tools), "tool")]
    others = {
        "skill": len(registry.skills),
        "policy": len(registry.policies),
        "contributor": len(registry.contexts),
    }
    counted += [_count(number, kind) for kind, number in others.items() if number]
    return ", ".join(counted)


def _count(number: int, kind: str) -> str:
    return f"{number} policies" if kind == "policy" and number > 1 else count(number, kind)
