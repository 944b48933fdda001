"""Contributors that are a text in a definition."""

from dataclasses import dataclass

from runner.context.blocks import escaped
from runner.context.rendering import render
from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.definitions.context import TextContext
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text; the values in it are data even where the text itself is ours."""

    template: str
    trusted: bool

    def read(self, context: ContributorContext, limit: Limit) -> str:
        del limit
        encode = escaped if self.trusted else str
        return render(self.template, context, environ=None, encode=encode)


def build(definition: TextContext, surroundings: Surroundings) -> TextSource:
    del surroundings
    return TextSource(definition.text, definition.trusted)
