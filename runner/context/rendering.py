"""Templates of contributors, with the values of a turn and the variables of the process put in."""

from collections.abc import Callable, Mapping

from runner.core.contributing import ContributorContext
from runner.core.errors import OutboundRefused
from runner.core.jsonvalue import JsonObject, JsonValue, canonical_json
from runner.definitions.interpolation import fill
from runner.definitions.placeholders import Placeholder, pieces


def render(
    template: str,
    context: ContributorContext,
    *,
    environ: Mapping[str, str] | None,
    encode: Callable[[str], str] = str,
) -> str:
    """
    Write a template out.

    Args:
        template: As it was written in a definition.
        context: Where its values come from.
        environ: Where its variables come from; None where `${` is text.
        encode: Makes a value fit to stand where it is put; what the definition says stays as it is.

    Raises:
        OutboundRefused: There is no such value or variable.
    """
    return "".join(
        encode(as_text(value_at(piece, context)))
        if isinstance(piece, Placeholder)
        else _filled(piece, environ)
        for piece in pieces(template)
    )


def render_value(
    template: str, context: ContributorContext, *, environ: Mapping[str, str] | None
) -> JsonValue:
    """
    Write a template out like `render`; one that is a single value keeps its type.

    Raises:
        OutboundRefused: There is no such value or variable.
    """
    match pieces(template):
        case (Placeholder() as only,):
            return value_at(only, context)
        case _:
            return render(template, context, environ=environ)


def render_json(value: JsonValue, context: ContributorContext) -> JsonValue:
    """
    Put values into all texts of a JSON value; `${` is text in there.

    Raises:
        OutboundRefused: There is no such value.
    """
    match value:
        case str():
            return render_value(value, context, environ=None)
        case Mapping():
            return {key: render_json(item, context) for key, item in value.items()}
        case list():
            return [render_json(item, context) for item in value]
        case _:
            return value


def value_at(placeholder: Placeholder, context: ContributorContext) -> JsonValue:
    """
    Look a value up.

    Raises:
        OutboundRefused: There is none, or it is null.
    """
    value: JsonValue = _roots(context)
    for key in placeholder.path:
        value = value.get(key) if isinstance(value, Mapping) else None
    if value is None:
        given = f"--{placeholder.path[0]} gives it"
        raise OutboundRefused(f"the turn has no value {'.'.join(placeholder.path)!r} ({given})")
    return value


def as_text(value: JsonValue) -> str:
    """Write a value as text: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical_json(value)


def _roots(context: ContributorContext) -> JsonObject:
    subject = context.subject
    return {
        "principal": context.principal,
        "subject": None if subject is None else subject.as_json(),
        "context": context.context,
    }


def _filled(text: str, environ: Mapping[str, str] | None) -> str:
    if environ is None:
        return text
    filled = fill(text, environ)
    for flaw in filled.flaws:
        raise OutboundRefused(flaw.message)
    return str(filled.text)
