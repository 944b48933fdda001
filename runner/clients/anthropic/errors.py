"""Which of our errors a failure of the provider is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final, Self

from anthropic import APIStatusError

from runner.core.errors import (
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.jsonvalue import JsonObject, storable_text

_ACCESS: Final = frozenset({401, 402, 403})
_ACCESS_TYPES: Final = frozenset({"authentication_error", "billing_error", "permission_error"})
_PASSING: Final = frozenset({408, 409, 429})
_LASTING_TYPES: Final = frozenset({"invalid_request_error", "not_found_error"})
_TOO_LARGE: Final = 413
_SERVER_ERRORS: Final = 500
_OK: Final = 200
#: Only more money or another month helps, whatever the status says.
_SPENT_CODES: Final = frozenset(
    {
        "contract_spend_limit_reached",
        "enforced_spend_limit_reached",
        "linked_organization_spend_limit_reached",
    }
)
#: The one failure without a type or code of its own.
_TOO_LONG: Final = re.compile(
    r"prompt is too long|exceeds? (?:the )?(?:model'?s? )?context (?:limit|window)", re.IGNORECASE
)
_MAX_MESSAGE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the provider said of a request that failed, before or in its stream."""

    status: int
    type: str | None = None
    code: str | None = None
    message: str = ""
    request_id: str | None = None
    retry_after: float | None = None
    #: What the provider itself advises, where it does.
    should_retry: bool | None = None

    @classmethod
    def of_status_error(cls, error: APIStatusError) -> Self:
        headers = error.response.headers
        return cls(
            status=error.status_code,
            type=_text(error.type),
            code=_text(error.error_code),
            message=_text(error.api_message) or "",
            request_id=error.request_id,
            retry_after=retry_after(headers),
            should_retry={"true": True, "false": False}.get(headers.get("x-should-retry", "")),
        )

    @classmethod
    def of_event(cls, event: JsonObject, request_id: str | None) -> Self:
        """Read an error that came in a stream, after its status was already fine."""
        error = event.get("error")
        fields = error if isinstance(error, Mapping) else {}
        details = fields.get("details")
        code = details.get("error_code") if isinstance(details, Mapping) else None
        return cls(
            status=_OK,
            type=_text(fields.get("type")),
            code=_text(code),
            message=_text(fields.get("message")) or "",
            request_id=_text(event.get("request_id")) or request_id,
        )


def translate(failure: Failure, *, secret: str) -> ModelError:
    """Return the error to raise; *secret* is kept out of its message."""
    message, request_id = _message(failure, secret), failure.request_id
    if _is_too_long(failure):
        return PromptTooLong(message, request_id=request_id)
    if failure.status in _ACCESS or failure.type in _ACCESS_TYPES:
        return ModelAccessDenied(message, request_id=request_id)
    if _may_pass(failure):
        return ModelUnavailable(message, retry_after=failure.retry_after, request_id=request_id)
    return ModelRejected(message, request_id=request_id)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds the provider asks to wait, given in any of the ways it may ask."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None:
        return seconds
    due, sent = _date(text), _date(headers.get("date"))
    return (due - sent).total_seconds() if due and sent else None


def _is_too_long(failure: Failure) -> bool:
    if failure.status == _TOO_LARGE or failure.type == "request_too_large":
        return True
    return failure.type == "invalid_request_error" and bool(_TOO_LONG.search(failure.message))


def _may_pass(failure: Failure) -> bool:
    if failure.code in _SPENT_CODES:
        return False
    if failure.should_retry is not None:
        return failure.should_retry
    if failure.status in _PASSING or failure.status >= _SERVER_ERRORS:
        return True
    return failure.status == _OK and failure.type not in _LASTING_TYPES


def _message(failure: Failure, secret: str) -> str:
    said = failure.message or "it gave no reason"
    if secret:
        said = said.replace(secret, "***")
    said = storable_text(" ".join(said.split()))[:_MAX_MESSAGE].rstrip(".")
    kind = failure.type or "error"
    if failure.status == _OK:
        return f"the provider broke off its answer with {kind!r}: {said}"
    return f"the provider answered {failure.status} ({kind}): {said}"


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        return None


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return date.replace(tzinfo=UTC) if date and date.tzinfo is None else date
