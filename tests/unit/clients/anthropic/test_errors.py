from typing import Any

import pytest

from runner.clients.anthropic.errors import Failure, retry_after, translate
from runner.core.errors import (
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelUnavailable,
    PromptTooLong,
)

SENT = "Mon, 30 Nov 2026 07:00:00 GMT"


def failure(status: int, kind: str | None = None, **fields: Any) -> Failure:  # noqa: ANN401 - JSON
    return Failure(status=status, type=kind, **fields)


def error(failure: Failure) -> ModelError:
    return translate(failure, secret="sk-1")


@pytest.mark.parametrize(
    ("failed", "kind"),
    [
        pytest.param(failure(400, "invalid_request_error"), ModelRejected, id="invalid"),
        pytest.param(failure(404, "not_found_error"), ModelRejected, id="no-such-model"),
        pytest.param(failure(422), ModelRejected, id="unprocessable"),
        pytest.param(failure(302), ModelRejected, id="moved"),
        pytest.param(failure(401, "authentication_error"), ModelAccessDenied, id="wrong-key"),
        pytest.param(failure(402, "billing_error"), ModelAccessDenied, id="not-paid"),
        pytest.param(failure(403, "permission_error"), ModelAccessDenied, id="not-allowed"),
        pytest.param(failure(408), ModelUnavailable, id="too-slow"),
        pytest.param(failure(409), ModelUnavailable, id="in-conflict"),
        pytest.param(failure(429, "rate_limit_error"), ModelUnavailable, id="too-fast"),
        pytest.param(failure(500, "api_error"), ModelUnavailable, id="broken"),
        pytest.param(failure(502), ModelUnavailable, id="a-proxys-page"),
        pytest.param(failure(529, "overloaded_error"), ModelUnavailable, id="overloaded"),
        pytest.param(failure(413, "request_too_large"), PromptTooLong, id="too-large"),
        pytest.param(
            failure(400, "invalid_request_error", message="prompt is too long: 9 tokens > 7"),
            PromptTooLong,
            id="too-long",
        ),
        pytest.param(
            failure(
                400,
                "invalid_request_error",
                message="input length and `max_tokens` exceed context limit: 1 + 2 > 2",
            ),
            PromptTooLong,
            id="too-long-with-its-answer",
        ),
        pytest.param(
            failure(429, "rate_limit_error", code="enforced_spend_limit_reached"),
            ModelRejected,
            id="money-spent",
        ),
        pytest.param(failure(500, should_retry=False), ModelRejected, id="told-not-to-retry"),
        pytest.param(failure(400, should_retry=True), ModelUnavailable, id="told-to-retry"),
        pytest.param(failure(200, "overloaded_error"), ModelUnavailable, id="broken-off"),
        pytest.param(failure(200, "some_new_error"), ModelUnavailable, id="broken-off-somehow"),
        pytest.param(failure(200, None), ModelUnavailable, id="broken-off-without-a-word"),
        pytest.param(failure(200, "invalid_request_error"), ModelRejected, id="late-refusal"),
        pytest.param(failure(200, "permission_error"), ModelAccessDenied, id="late-denial"),
    ],
)
def test_each_failure_is_one_kind(failed: Failure, kind: type[ModelError]) -> None:
    assert type(error(failed)) is kind


def test_the_providers_delay_and_request_id_are_passed_on() -> None:
    unavailable = error(failure(429, retry_after=12.5, request_id="req_9"))

    assert isinstance(unavailable, ModelUnavailable)
    assert (unavailable.retry_after, unavailable.request_id) == (12.5, "req_9")


@pytest.mark.parametrize(
    ("failed", "message"),
    [
        (
            failure(500, "api_error", message="Internal\n error."),
            "the provider answered 500 (api_error): Internal error",
        ),
        (failure(502), "the provider answered 502 (error): it gave no reason"),
        (
            failure(200, "overloaded_error", message="Overloaded"),
            "the provider broke off its answer with 'overloaded_error': Overloaded",
        ),
        (
            failure(401, "authentication_error", message="invalid key sk-1!"),
            "the provider answered 401 (authentication_error): invalid key ***!",
        ),
    ],
)
def test_the_message_says_what_the_provider_said(failed: Failure, message: str) -> None:
    assert str(error(failed)) == message


def test_without_a_secret_nothing_is_hidden() -> None:
    assert "(told): broken" in str(translate(failure(500, "told", message="broken"), secret=""))


def test_a_long_message_is_cut() -> None:
    assert len(str(error(failure(500, message="x" * 10_000)))) < 600


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (
            {
                "type": "error",
                "error": {
                    "type": "rate_limit_error",
                    "message": "Slow.",
                    "details": {"error_code": "enforced_spend_limit_reached"},
                },
                "request_id": "req_own",
            },
            Failure(
                status=200,
                type="rate_limit_error",
                code="enforced_spend_limit_reached",
                message="Slow.",
                request_id="req_own",
            ),
        ),
        ({"type": "error", "error": "gone"}, Failure(status=200, request_id="req_1")),
    ],
)
def test_an_error_in_the_stream_is_read_as_far_as_it_can_be(event: Any, expected: Failure) -> None:  # noqa: ANN401 - JSON
    assert Failure.of_event(event, "req_1") == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="not-asked-for"),
        pytest.param({"retry-after": "30"}, 30.0, id="seconds"),
        pytest.param({"retry-after": "0.5"}, 0.5, id="parts-of-a-second"),
        pytest.param({"retry-after-ms": "250", "retry-after": "1"}, 0.25, id="milliseconds"),
        pytest.param(
            {"retry-after": "Mon, 30 Nov 2026 07:01:30 GMT", "date": SENT}, 90.0, id="a-date"
        ),
        pytest.param(
            {"retry-after": "Mon, 30 Nov 2026 07:01:30 -0000", "date": SENT},
            90.0,
            id="a-date-without-a-zone",
        ),
        pytest.param({"retry-after": SENT}, None, id="a-date-without-one-to-compare"),
        pytest.param({"retry-after": "soon", "date": SENT}, None, id="nonsense"),
    ],
)
def test_a_delay_is_read_in_every_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
