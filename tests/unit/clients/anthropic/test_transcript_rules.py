from copy import deepcopy
from typing import Any

import pytest

from runner.clients.anthropic.transcript_rules import complaints

Json = Any
TEXT = {"type": "text", "text": "Hi."}
THINKING = {"type": "thinking", "thinking": "", "signature": "s"}
MARK = {"cache_control": {"type": "ephemeral"}}


def use(call_id: str = "toolu_1", **fields: Json) -> Json:
    return {"type": "tool_use", "id": call_id, "name": "save", "input": {}, **fields}


def result(call_id: str = "toolu_1", **fields: Json) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": [TEXT], **fields}


def body(*contents: Json, **fields: Json) -> Json:
    """A body whose messages alternate, beginning with the user's."""
    roles = ["user", "assistant"]
    return {
        "model": "m",
        "max_tokens": 100,
        "tools": [tool()],
        "messages": [
            {"role": roles[n % 2], "content": content} for n, content in enumerate(contents)
        ],
        **fields,
    }


def tool(name: str = "save", **schema: Json) -> Json:
    return {"name": name, "description": "", "input_schema": {"type": "object", **schema}}


@pytest.mark.parametrize(
    "accepted",
    [
        body([TEXT]),
        body([TEXT], [THINKING, TEXT, use(), use("toolu_2")], [result(), result("toolu_2"), TEXT]),
        body([TEXT], [TEXT], [TEXT], [use()], [result(is_error=True)]),
        body([TEXT], [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}]),
        body([TEXT], thinking={"type": "enabled", "budget_tokens": 1024}, max_tokens=1025),
        body([TEXT], [TEXT], [TEXT], tools=[]),
    ],
)
def test_a_request_that_keeps_the_rules_has_no_complaints(accepted: Json) -> None:
    assert complaints(accepted) == ()


@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (body(), "messages: there must be at least one"),
        (body([]), "messages.0: it has no content"),
        (body("Hi."), "messages.0: it has no content"),
        (body([TEXT], [TEXT]), "messages.1: the last message must be the user's"),
        (
            body([TEXT], messages=[{"role": "assistant", "content": [TEXT]}]),
            "messages.0: the first message must be the user's",
        ),
        (
            body([TEXT], messages=[{"role": "tool", "content": [TEXT]}]),
            "messages.0: the role 'tool' is neither 'user' nor 'assistant'",
        ),
        (
            body([{"type": "text", "text": " \n"}]),
            "messages.0.content.0: a text must hold more than white space",
        ),
        (
            body([THINKING, TEXT]),
            "messages.0.content.0: a block of type 'thinking' cannot be in a user message",
        ),
        (
            body([TEXT], [{"type": "document"}], [TEXT]),
            "messages.1.content.0: a block of type 'document' cannot be in an assistant message",
        ),
        (
            body([TEXT], [TEXT, THINKING], [TEXT]),
            "messages.1: thinking cannot be its last block",
        ),
        (
            body([TEXT], [{**THINKING, "signature": ""}, TEXT], [TEXT]),
            "messages.1.content.0: thinking without a signature cannot be sent",
        ),
        (
            body([TEXT], [use(input="")], [result()]),
            "messages.1.content.0: the input of a tool call must be an object",
        ),
        (
            body([TEXT], [use("a b")], [result("a b")]),
            "messages.1: the call 'a b' of 'save' has an unfit id or name",
        ),
        (
            body([TEXT], [use(name="a.b")], [result()]),
            "messages.1: the call 'toolu_1' of 'a.b' has an unfit id or name",
        ),
        (
            body([TEXT], [use()], [result()], [use()], [result()]),
            "messages.3: the id 'toolu_1' was used for an earlier call",
        ),
        (body([TEXT], [use()], [TEXT]), "messages.2: the tool call 'toolu_1' has no result"),
        (body([TEXT], [use()]), "after the last message: the tool call 'toolu_1' has no result"),
        (
            body([TEXT, result()]),
            "messages.0: a result answers 'toolu_1', which the last message lacks",
        ),
        (
            body([TEXT], [use()], [result(), result("other")]),
            "messages.2: a result answers 'other', which the last message lacks",
        ),
        (
            body([TEXT], [use()], [result(), result()]),
            "messages.2: the tool call 'toolu_1' has 2 results",
        ),
        (
            body([TEXT], [use()], [TEXT, result()]),
            "messages.2: tool results must come before anything else",
        ),
        (
            body([TEXT], [use()], [result(is_error=True, content=[{"type": "image"}])]),
            "messages.2.content.0: the result of a failed call may hold only text",
        ),
        (
            body([TEXT], [use()], [result()], tools=[]),
            "tools: the messages hold tool calls, but no tools are declared",
        ),
        (body([TEXT], tools=[tool(), tool()]), "tools: 'save' is declared 2 times"),
        (
            body([TEXT], tools=[tool("a.b")]),
            "tools: the name 'a.b' must be 1 to 128 letters, digits, '_' and '-'",
        ),
        (
            body([TEXT], tools=[tool(type="array")]),
            "tools.0.input_schema: its type must be 'object'",
        ),
        (
            body([TEXT], tools=[tool(anyOf=[])]),
            "tools.0.input_schema: 'anyOf' cannot stand at the top",
        ),
        (
            body([TEXT], tools=[tool(properties={"a b": {}})]),
            "tools.0.input_schema: the property 'a b' must be 1 to 64 of letters, digits, '_.-'",
        ),
        (
            body([{**TEXT, **MARK}] * 5),
            "cache_control: 5 blocks have it, at most 4 may",
        ),
        (
            body([TEXT], [{**THINKING, **MARK}, TEXT], [TEXT]),
            "cache_control: a thinking block cannot have it",
        ),
        (body([TEXT], max_tokens=0), "max_tokens: it must be at least 1"),
        (
            body([TEXT], thinking={"type": "enabled", "budget_tokens": 100}),
            "thinking.budget_tokens: it must be at least 1024 and less than max_tokens",
        ),
        (
            body([TEXT], metadata={"user_id": "u" * 257}),
            "metadata.user_id: it is longer than 256 characters",
        ),
        (
            body([{"type": "text", "text": "\ud800"}]),
            "body: it holds something that JSON in UTF-8 cannot, such as NaN or half a character",
        ),
        (
            body([TEXT], temperature=float("nan")),
            "body: it holds something that JSON in UTF-8 cannot, such as NaN or half a character",
        ),
    ],
)
def test_a_broken_rule_is_named_with_its_place(broken: Json, complaint: str) -> None:
    untouched = deepcopy(broken)

    assert complaint in complaints(broken)
    assert str(broken) == str(untouched)
