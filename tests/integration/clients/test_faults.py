from datetime import timedelta
from threading import Event, Thread

import pytest

from runner.core.errors import (
    CallCancelled,
    Interruption,
    ModelAccessDenied,
    ModelError,
    ModelRejected,
    ModelTransport,
    ModelUnavailable,
    PromptTooLong,
)
from runner.core.messages import Text, ToolCall
from runner.core.model import Delta, StopReason, TextDelta
from runner.tools.cancel import CancelFlag
from tests.fakes.transcript import Transcript
from tests.integration.clients.claude import KEY, ask, claude, watch
from tests.servers.messages_api import messages_api
from tests.servers.replies import (
    Answer,
    BreakOff,
    Cut,
    EndEarly,
    Raw,
    Refusal,
    Reply,
    Stall,
    say,
    text,
    tool_use,
)

REQUEST = Transcript().user("Go.").request()
SHORT = timedelta(seconds=1)
PATIENCE = 60


def broken(fault: Cut | EndEarly | BreakOff | Stall) -> Reply:
    return Reply(content=[text("This is half an answer.")], fault=fault)


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        pytest.param(
            Refusal(status=400, type="invalid_request_error"), ModelRejected, "400", id="invalid"
        ),
        pytest.param(
            Refusal(status=401, type="authentication_error"), ModelAccessDenied, "401", id="no-key"
        ),
        pytest.param(
            Refusal(status=403, type="permission_error"), ModelAccessDenied, "403", id="forbidden"
        ),
        pytest.param(
            Refusal(status=404, type="not_found_error"), ModelRejected, "404", id="no-model"
        ),
        pytest.param(
            Refusal(status=413, type="request_too_large"), PromptTooLong, "413", id="too-large"
        ),
        pytest.param(
            Refusal(
                status=400,
                type="invalid_request_error",
                message="prompt is too long: 1000001 tokens > 1000000 maximum",
            ),
            PromptTooLong,
            "prompt is too long",
            id="too-long",
        ),
        pytest.param(
            Refusal(status=429, type="rate_limit_error", code="enforced_spend_limit_reached"),
            ModelRejected,
            "429",
            id="spent",
        ),
        pytest.param(Refusal(status=500, type="api_error"), ModelUnavailable, "500", id="broken"),
        pytest.param(
            Refusal(status=529, type="overloaded_error"), ModelUnavailable, "529", id="overloaded"
        ),
        pytest.param(
            Raw(status=502, body=b"<html>", content_type="text/html"),
            ModelUnavailable,
            "502",
            id="a-proxys-page",
        ),
        pytest.param(
            Raw(status=500, body=b'{"error": {"type": {}, "message": 7, "details": []}}'),
            ModelUnavailable,
            "500",
            id="an-odd-error",
        ),
        pytest.param(Raw(status=307, body=b""), ModelRejected, "307", id="moved"),
        pytest.param(
            Raw(body=b'{"type": "message", "content": []}'),
            ModelTransport,
            "not a stream",
            id="json-for-a-stream",
        ),
        pytest.param(
            Raw(body=b"<html>", content_type="text/html"),
            ModelTransport,
            "not a stream",
            id="a-page-for-a-stream",
        ),
        pytest.param(
            Raw(body=b"event: message_start\ndata: {\n\n", content_type="text/event-stream"),
            ModelTransport,
            "was cut",
            id="a-broken-event",
        ),
        pytest.param(
            Raw(body=b"event: x\ndata: %s\n\n" % (b"[" * 100_000)),
            ModelTransport,
            "was cut",
            id="an-event-without-a-bottom",
        ),
        pytest.param(
            Raw(body=b"event: x\ndata: [1]\n\nevent: y\n\n", content_type="text/event-stream"),
            ModelTransport,
            "not a stream",
            id="events-of-nothing",
        ),
        pytest.param(broken(BreakOff(0)), ModelUnavailable, "overloaded_error", id="off-at-once"),
        pytest.param(broken(BreakOff(6)), ModelUnavailable, "Overloaded", id="off-in-the-middle"),
        pytest.param(
            broken(BreakOff(4, "invalid_request_error", "No.")), ModelRejected, "No", id="off-late"
        ),
        pytest.param(broken(Cut(0)), ModelTransport, "was cut", id="cut-at-once"),
        pytest.param(broken(Cut(5)), ModelTransport, "was cut", id="cut-in-the-middle"),
        pytest.param(broken(EndEarly(0)), ModelTransport, "not a stream", id="ended-at-once"),
        pytest.param(broken(EndEarly(4)), ModelTransport, "whole", id="ended-in-the-middle"),
        pytest.param(broken(EndEarly(8)), ModelTransport, "whole", id="ended-before-its-end"),
        pytest.param(
            Reply(content=[text("x")], stop_reason=None), ModelTransport, "whole", id="no-reason"
        ),
        pytest.param(
            Reply(content=[tool_use("read_file", json='{"a')], stop_reason="tool_use"),
            ModelTransport,
            "not a JSON object",
            id="half-a-call",
        ),
        pytest.param(
            Reply(content=[text("x")], stop_reason="compaction"),
            ModelRejected,
            "unknown reason",
            id="an-unknown-reason",
        ),
    ],
)
def test_each_fault_is_one_kind_of_error_after_one_request(
    answer: Answer, kind: type[ModelError], said: str
) -> None:
    with messages_api([answer]) as server:
        with pytest.raises(ModelError) as caught:
            ask(claude(server), REQUEST)

        assert type(caught.value) is kind
        assert said in str(caught.value)
        assert KEY not in f"{caught.value!r} {caught.value.__cause__!r}"
        assert len(server.requests) == 1


def test_a_refusal_carries_the_delay_and_the_request_id() -> None:
    refusal = Refusal(status=429, type="rate_limit_error", headers={"retry-after": "3600"})
    with messages_api([refusal]) as server:
        with pytest.raises(ModelUnavailable) as caught:
            ask(claude(server), REQUEST)

        assert (caught.value.retry_after, caught.value.request_id) == (3600, "req_000001")
        assert len(server.requests) == 1


def test_a_redirection_is_not_followed_so_that_the_key_goes_nowhere_else() -> None:
    with messages_api([say("Hi.")]) as elsewhere:
        moved = Refusal(
            status=307, type="moved", headers={"location": f"{elsewhere.url}/v1/messages"}
        )
        with messages_api([moved]) as server, pytest.raises(ModelRejected, match="307"):
            ask(claude(server), REQUEST)

        assert elsewhere.requests == []


def test_a_key_that_the_provider_repeats_is_in_no_error() -> None:
    refusal = Refusal(status=401, type="authentication_error", message=f"wrong key: {KEY}")
    with messages_api([refusal]) as server, pytest.raises(ModelAccessDenied) as caught:
        ask(claude(server), REQUEST)

    assert "wrong key: ***" in str(caught.value)
    assert KEY not in f"{caught.value!r} {caught.value.__cause__!r}"


def test_a_provider_that_is_not_there_cannot_be_reached() -> None:
    with messages_api([]) as server:
        nobody = claude(server)

    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        ask(nobody, REQUEST)


@pytest.mark.parametrize("after", [None, 0, 3])
def test_a_provider_that_says_nothing_is_given_up(after: int | None) -> None:
    with messages_api([broken(Stall(after))]) as server:
        with pytest.raises(ModelTransport, match="said nothing for 1 seconds"):
            ask(claude(server, stall_timeout=SHORT), REQUEST)

        assert server.hung_up.wait(PATIENCE)


@pytest.mark.parametrize("after", [None, 3])
def test_a_call_takes_no_longer_than_it_may(after: int | None) -> None:
    with messages_api([broken(Stall(after))]) as server:
        with pytest.raises(ModelTransport, match="took longer than 1 seconds"):
            ask(claude(server, timeout=SHORT), REQUEST)

        assert server.hung_up.wait(PATIENCE)


@pytest.mark.parametrize("after", [None, 0, 3])
def test_cancelling_wakes_a_call_that_waits_and_closes_its_connection(after: int | None) -> None:
    cancelled, ended = CancelFlag(), Event()
    errors = list[ModelError]()

    def call(client_url: str) -> None:
        try:
            claude(client_url).complete(REQUEST, lambda _delta: None, cancelled)
        except ModelError as error:
            errors.append(error)
        ended.set()

    with messages_api([broken(Stall(after))]) as server:
        Thread(target=call, args=[server.url], daemon=True).start()
        assert server.stalled.wait(PATIENCE)
        cancelled.set()

        assert ended.wait(PATIENCE / 2)
        assert server.hung_up.wait(PATIENCE)
        assert [type(error) for error in errors] == [CallCancelled]


def test_a_call_after_another_is_ended_just_as_well() -> None:
    cancelled = CancelFlag()

    def cancel_once_it_waits(stalled: Event) -> None:
        stalled.wait(PATIENCE)
        cancelled.set()

    with messages_api([say("Hi."), broken(Stall(None))]) as server:
        client = claude(server)
        ask(client, REQUEST)
        Thread(target=cancel_once_it_waits, args=[server.stalled], daemon=True).start()
        with pytest.raises(CallCancelled):
            client.complete(REQUEST, lambda _delta: None, cancelled)

        assert server.hung_up.wait(PATIENCE)


def test_a_call_that_is_cancelled_beforehand_is_not_made() -> None:
    cancelled = CancelFlag()
    cancelled.set()
    with messages_api([say("Hi.")]) as server:
        with pytest.raises(CallCancelled):
            claude(server).complete(REQUEST, lambda _delta: None, cancelled)

        assert server.requests == []


def test_a_call_that_is_cancelled_while_it_streams_gives_nothing() -> None:
    cancelled = CancelFlag()
    with messages_api([Reply(content=[text("word " * 50)])]) as server:
        with pytest.raises(CallCancelled):
            claude(server).complete(REQUEST, lambda _delta: cancelled.set(), cancelled)

        assert len(server.requests) == 1


def test_what_a_listener_raises_ends_the_call_as_it_is() -> None:
    def lose_the_claim(_delta: Delta) -> None:
        raise Interruption

    with messages_api([broken(Stall(4))]) as server:
        with pytest.raises(Interruption):
            claude(server).complete(REQUEST, lose_the_claim, CancelFlag())

        assert server.hung_up.wait(PATIENCE)


def test_a_failure_of_a_listener_is_not_taken_for_the_providers() -> None:
    def fail(_delta: Delta) -> None:
        raise ValueError("a listener's own")

    with messages_api([say("Hi.")]) as server, pytest.raises(ValueError, match="a listener's own"):
        claude(server).complete(REQUEST, fail, CancelFlag())


@pytest.mark.parametrize(
    ("reply", "stop_reason"),
    [
        (Reply(content=[]), StopReason.END),
        (
            Reply(content=[tool_use("read_file", json='{"path": "/e')], stop_reason="max_tokens"),
            StopReason.MAX_TOKENS,
        ),
        (
            Reply(content=[text("I")], stop_reason="model_context_window_exceeded"),
            StopReason.CONTEXT_FULL,
        ),
        (Reply(content=[text("Wait")], stop_reason="pause_turn"), StopReason.PAUSE),
    ],
)
def test_an_answer_that_is_no_answer_is_an_outcome_of_its_own(
    reply: Reply, stop_reason: StopReason
) -> None:
    with messages_api([reply]) as server:
        assert ask(claude(server), REQUEST).stop_reason is stop_reason


def test_a_refusal_says_why() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "Not this."}
    reply = Reply(content=[text("Well")], stop_reason="refusal", stop_details=details)
    with messages_api([reply]) as server:
        response = ask(claude(server), REQUEST)

    assert (response.stop_reason, response.explanation) == (StopReason.REFUSAL, "Not this.")


def test_after_a_fault_the_next_attempt_answers_whole_and_once() -> None:
    with messages_api([broken(Cut(4)), broken(BreakOff(5)), say("A whole answer.")]) as server:
        client = claude(server)
        for kind in (ModelTransport, ModelUnavailable):
            with pytest.raises(kind):
                ask(client, REQUEST)
        response, seen = watch(client, REQUEST)

        assert response.parts == (Text(text="A whole answer."),)
        assert "".join(d.text for d in seen if isinstance(d, TextDelta)) == "A whole answer."
        assert len({request.raw for request in server.requests}) == 1


def test_a_broken_history_is_not_sent() -> None:
    call = ToolCall(call_id="toolu_1", name="read_file", arguments={})
    request = Transcript().user("Go.").assistant(call).notice("No result.").request()
    with messages_api([]) as server:
        with pytest.raises(ModelRejected, match="'toolu_1' has no result"):
            ask(claude(server), request)

        assert server.requests == []


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("", "has no key: set ANTHROPIC_API_KEY, or clients.claude.api_key in the config"),
        (" \n", "has no key"),
        ("sk-\u2019", "holds characters that no key has"),
        ("sk-1\nsk-2", "holds characters that no key has"),
    ],
)
def test_without_a_proper_key_nothing_is_sent(key: str, said: str) -> None:
    with messages_api([]) as server:
        client = claude(server, key=key)
        with pytest.raises(ModelAccessDenied, match=said):
            ask(client, REQUEST)

        assert client.render(REQUEST).body["model"] == REQUEST.model
        assert server.requests == []
