"""Pays customers back and writes to them, for the agent `support`."""

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import TextIO, TypedDict

from runner import ToolContext

PROJECT = Path(__file__).resolve().parents[2]
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """A line of the ledger."""

    #: The call that it was paid for.
    key: str
    receipt: str
    account: int
    order: str
    amount: str
    reason: str


class Receipt(TypedDict):
    """What was paid back."""

    receipt: str
    order: str
    amount: str


class Letter(TypedDict):
    """What was sent to whom."""

    to: str
    subject: str
    path: str


def refund(order: str, amount: float, reason: str, context: ToolContext) -> Receipt:
    """
    Pay money back for an order of the account.

    Args:
        order: The order's number, such as D-1042.
        amount: How much, at most what was paid for the order.
        reason: Why, in one sentence for whoever has to agree.
        context: Whose account it is, and which call this is.

    Raises:
        LookupError: The account has no such order.
        ValueError: The amount is not one that can be paid back.
    """
    account, exact = _account(context), Decimal(str(amount))
    paid = _paid(account, order)
    if not 0 < exact <= paid or exact != exact.quantize(CENT):
        raise ValueError(f"give an amount up to {paid}, with two decimals at most, not {amount}")
    with _ledger() as file:
        refunds = _read(file)
        made = next((each for each in refunds if each.key == context.idempotency_key), None)
        if made is None:
            back = sum((Decimal(each.amount) for each in refunds if each.order == order), Decimal())
            if back + exact > paid:
                raise ValueError(f"{paid} was paid for {order} and {back:.2f} came back already")
            made = Refund(
                key=context.idempotency_key,
                receipt=f"R-{_short(context.idempotency_key)}",
                account=account,
                order=order,
                amount=f"{exact:.2f}",
                reason=" ".join(reason.split()),
            )
            _append(file, made)
    return Receipt(receipt=made.receipt, order=made.order, amount=made.amount)


def mail_customer(
    subject: str, text: str, context: ToolContext, receipt: str | None = None
) -> Letter:
    """
    Write to the customer whose account it is.

    Args:
        subject: The letter's subject, on one line.
        text: The letter, from the greeting to the close.
        context: Whose account it is, and which call this is.
        receipt: The receipt of the refund that the letter speaks of, if it speaks of one.

    Raises:
        LookupError: There is no such account or receipt.
        ValueError: The letter is empty.
    """
    account = _account(context)
    line, body = " ".join(subject.split()), text.strip()
    if not line or not body:
        raise ValueError("the subject or the text is empty")
    if receipt is not None and not _is_receipt(receipt, account):
        raise LookupError(
            f"there is no receipt {receipt!r}; do not write of money that was not paid"
        )
    to = _address(account)
    # Named for the call: whoever makes it again sends the same letter, not a second one.
    path = _folder() / "letters" / f"{_short(context.idempotency_key)}.md"
    _write(path, f"To: {to}\nSubject: {line}\n\n{body}\n")
    return Letter(to=to, subject=line, path=str(path))


def _account(context: ToolContext) -> int:
    """Whose account it is says the application, never the model."""
    match context.context.get("account"):
        case int(account):
            return account
        case _:
            raise LookupError("this turn is about no account")


def _paid(account: int, order: str) -> Decimal:
    row = _one("SELECT paid FROM orders WHERE account = ? AND number = ?", account, order)
    if row is None:
        raise LookupError(f"account {account} has no order {order!r}")
    return Decimal(row)


def _address(account: int) -> str:
    address = _one("SELECT email FROM accounts WHERE number = ?", account)
    if address is None:
        raise LookupError(f"there is no account {account}")
    return address


def _one(statement: str, *parameters: int | str) -> str | None:
    file = (_folder() / "accounts.db").as_uri()
    with closing(sqlite3.connect(f"{file}?mode=ro", uri=True)) as connection:
        row = connection.execute(statement, parameters).fetchone()
    return None if row is None else str(row[0])


def _folder() -> Path:
    return PROJECT / (os.environ.get("DESK_FOLDER") or "out/desk")


@contextmanager
def _ledger() -> Iterator[TextIO]:
    """Hold the ledger, so that between a look into it and a new line nobody else writes one."""
    path = _folder() / "ledger.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


def _read(file: TextIO) -> list[Refund]:
    file.seek(0)
    return [Refund(**json.loads(line)) for line in file]


def _append(file: TextIO, made: Refund) -> None:
    file.write(json.dumps(asdict(made)) + "\n")
    file.flush()
    os.fsync(file.fileno())


def _is_receipt(receipt: str, account: int) -> bool:
    with _ledger() as file:
        return any((each.receipt, each.account) == (receipt, account) for each in _read(file))


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:8]


def _write(path: Path, text: str) -> None:
    """Write the whole file or none of it, whenever the process may die."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(text, "utf-8")
    unfinished.replace(path)
