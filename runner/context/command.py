"""Contributors that are what a program writes."""

from dataclasses import dataclass

from runner.context.rendering import render
from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.core.errors import OutboundError, OutboundRefused
from runner.definitions.context import CommandContext
from runner.definitions.placeholders import Deferred, Placeholder, pieces
from runner.outbound.commands import Command, run_command
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True)
class CommandSource:
    """A program, run whenever it is asked for."""

    definition: CommandContext
    surroundings: Surroundings

    def read(self, context: ContributorContext, limit: Limit) -> str:
        definition = self.definition
        stdin = definition.stdin
        command = Command(
            argv=[self._argument(template, context) for template in definition.command],
            cwd=self.surroundings.root / (definition.cwd or "."),
            env={name: self._text(value, context) for name, value in definition.env.items()},
            stdin="" if stdin is None else self._text(stdin, context),
            max_bytes=definition.max_bytes,
        )
        finished = run_command(command, limit=limit)
        if finished.exit_code:
            raise OutboundError(
                f"the program {command.argv[0]!r} ended with exit code {finished.exit_code}"
            )
        return finished.output

    def _argument(self, template: Deferred, context: ContributorContext) -> str:
        """Write one argument; a value never makes an option of what the definition wrote."""
        text = self._text(template, context)
        begins_with_value = isinstance(next(iter(pieces(str(template))), ""), Placeholder)
        if begins_with_value and text.startswith("-"):
            raise OutboundRefused("an argument would be read as an option")
        return text

    def _text(self, template: Deferred, context: ContributorContext) -> str:
        return render(str(template), context, environ=self.surroundings.environ)


def build(definition: CommandContext, surroundings: Surroundings) -> CommandSource:
    return CommandSource(definition, surroundings)
