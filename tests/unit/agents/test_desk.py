import fcntl
import json
from collections.abc import Callable
from dataclasses import replace
from threading import Barrier, Thread

import pytest

from runner.core.jsonvalue import JsonObject
from runner.tools.plain import plain
from tests.acceptance.desk import Desk, make_accounts
from tests.example_project import ExampleProject
from tests.fakes.tools import tool_context

REFUND: JsonObject = {"order": "D-1050", "amount": 12.5, "reason": " One was\n missing. "}
LETTER: JsonObject = {"subject": "Your  order", "text": " Dear Ms Brandt, …\n"}

Call = Callable[..., JsonObject]


@pytest.fixture
def desk(example: ExampleProject) -> Desk:
    make_accounts(example)
    return Desk(example=example)


@pytest.fixture
def call(desk: Desk) -> Call:
    """Calls a tool of the desk, for an account."""
    tools = {name: desk.example.tool("support", name) for name in ("refund", "mail_customer")}

    def call(
        name: str, arguments: JsonObject, *, key: str = "turn_1:call_1", account: object = 7
    ) -> JsonObject:
        assert not tools[name].complaints(arguments)
        given: JsonObject = {} if account is None else {"account": plain(account, max_values=9)}
        context = replace(tool_context(), idempotency_key=key, context=given)
        result = plain(tools[name].invoke(arguments, context), max_values=9)
        assert isinstance(result, dict)
        return result

    return call


def test_a_refund_is_a_line_of_the_ledger(desk: Desk, call: Call) -> None:
    receipt = call("refund", REFUND)

    assert receipt == {"receipt": receipt["receipt"], "order": "D-1050", "amount": "12.50"}
    assert desk.ledger == [
        {
            "key": "turn_1:call_1",
            "receipt": receipt["receipt"],
            "account": 7,
            "order": "D-1050",
            "amount": "12.50",
            "reason": "One was missing.",
        }
    ]


def test_the_same_call_pays_once_and_another_pays_again(desk: Desk, call: Call) -> None:
    first, again = call("refund", REFUND), call("refund", REFUND)
    other = call("refund", REFUND, key="turn_1:call_2")

    assert first == again != other
    assert len(desk.ledger) == 2


def test_calls_at_the_same_moment_pay_no_more_than_was_paid(desk: Desk, call: Call) -> None:
    start, refused = Barrier(6), list[str]()

    def pay(number: int) -> None:
        start.wait()
        try:
            call("refund", REFUND, key=f"turn_{number}:call_1")
        except ValueError as error:
            refused.append(str(error))

    threads = [Thread(target=pay, args=(number,)) for number in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert len(desk.ledger) == 2
    assert refused == ["25.00 was paid for D-1050 and 25.00 came back already"] * 4


def test_who_pays_waits_for_whoever_holds_the_ledger(desk: Desk, call: Call) -> None:
    paid = Thread(target=call, args=("refund", REFUND))
    folder = desk.example.root / "out/desk"
    with (folder / "ledger.jsonl").open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        paid.start()
        paid.join(0.3)
        while_held = desk.ledger
    paid.join()

    assert (while_held, len(desk.ledger)) == ([], 1)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"amount": 0}, r"up to 25\.00"),
        ({"amount": -1}, r"up to 25\.00"),
        ({"amount": 1.005}, r"up to 25\.00"),
        ({"amount": 25.01}, r"up to 25\.00"),
        ({"amount": 1e300}, r"up to 25\.00"),
        ({"order": "D-1061"}, "no order 'D-1061'"),
        ({"order": "' OR 1 --"}, "no order"),
    ],
)
def test_what_cannot_be_paid_back_is_refused(
    desk: Desk, call: Call, wrong: JsonObject, complaint: str
) -> None:
    with pytest.raises((LookupError, ValueError), match=complaint):
        call("refund", {**REFUND, **wrong})

    assert desk.ledger == []


@pytest.mark.parametrize("account", [None, "7", 99])
@pytest.mark.parametrize(("name", "arguments"), [("refund", REFUND), ("mail_customer", LETTER)])
def test_without_an_account_nothing_is_done(
    desk: Desk, call: Call, account: object, name: str, arguments: JsonObject
) -> None:
    with pytest.raises(LookupError):
        call(name, arguments, account=account)

    assert (desk.ledger, desk.letters) == ([], [])


def test_a_letter_goes_to_whom_the_account_belongs_once(desk: Desk, call: Call) -> None:
    sent = [call("mail_customer", LETTER, account=8) for _ in range(2)]

    assert sent[0] == sent[1]
    assert sent[0]["to"] == "t.lind@customer.example"
    assert desk.letters == [
        "To: t.lind@customer.example\nSubject: Your order\n\nDear Ms Brandt, …\n"
    ]


@pytest.mark.parametrize("wrong", [{"subject": " \n"}, {"text": " "}])
def test_an_empty_letter_is_not_sent(desk: Desk, call: Call, wrong: JsonObject) -> None:
    with pytest.raises(ValueError, match="empty"):
        call("mail_customer", {**LETTER, **wrong})

    assert desk.letters == []


def test_a_letter_promises_only_money_that_was_paid_to_the_account(desk: Desk, call: Call) -> None:
    receipt = call("refund", REFUND)["receipt"]

    call("mail_customer", {**LETTER, "receipt": receipt})
    with pytest.raises(LookupError, match="do not write of money"):
        call("mail_customer", {**LETTER, "receipt": receipt}, account=8)
    with pytest.raises(LookupError, match="'R-0'"):
        call("mail_customer", {**LETTER, "receipt": "R-0"})

    assert len(desk.letters) == 1
    assert json.dumps(receipt).startswith('"R-')
