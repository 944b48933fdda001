"""What every kind of tool takes from its definition alike."""

from runner.core.tooling import Recovery, ToolRules
from runner.definitions.tool import CommonToolKeys


def rules_of(definition: CommonToolKeys) -> ToolRules:
    terminal = definition.terminal
    return ToolRules(
        recovery=Recovery(definition.recovery),
        terminal=terminal is not False,
        terminal_message=terminal if isinstance(terminal, str) else None,
        timeout=definition.timeout.total_seconds(),
        max_result_chars=definition.max_result_chars,
    )
