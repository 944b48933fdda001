"""Text that came, wholly or in part, from the environment."""

from typing import Self


class Interpolated(str):
    """
    A text with its variables put in.

    Attributes:
        reference: The text as it was written, with everything but its variables replaced by
            stars: what may be shown of it when it is a secret.
        variables: The names of its variables.
        template: The text as it was written.
    """

    __slots__ = ("reference", "template", "variables")

    reference: str
    variables: tuple[str, ...]
    template: str

    @classmethod
    def of(cls, value: str, *, reference: str, variables: tuple[str, ...], template: str) -> Self:
        text = cls(value)
        text.reference = reference
        text.variables = variables
        text.template = template
        return text
