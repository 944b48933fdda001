"""Reads a ledger of expenses page by page, and keeps what an audit of it finds."""

import csv
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypeAlias, TypedDict

from runner import ToolContext

PROJECT = Path(__file__).resolve().parents[2]
DATA = PROJECT / "agents" / "data"
AUDITS = PROJECT / "out" / "audits"
PAGE_SIZE = 8
MOST_RECEIPTS = 10

Rule: TypeAlias = Literal[
    "receipt missing", "amount differs", "claimed twice", "over the limit", "private"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One line of the ledger."""

    record: str
    date: str
    person: str
    category: str
    vendor: str
    amount: str
    #: Empty when there is none.
    receipt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What a receipt says."""

    receipt: str
    date: str
    vendor: str
    amount: str
    items: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A record that breaks a rule."""

    record: str
    amount: str
    rule: Rule
    explanation: str


class Page(TypedDict):
    """A piece of the ledger."""

    page: int
    pages: int
    records: list[Record]


class Noted(TypedDict):
    """A finding that has been kept."""

    record: str
    amount: str
    findings_so_far: int


class Report(TypedDict):
    """All that was found."""

    records: int
    findings: int
    amount: str
    table: str
    path: str


def ledger_page(page: int) -> Page:
    """
    Read one page of the ledger.

    Args:
        page: Which one; the first is 1, and the result says how many there are.

    Raises:
        LookupError: There is no such page.
    """
    records = _records()
    pages = -(-len(records) // PAGE_SIZE)
    if not 1 <= page <= pages:
        raise LookupError(f"there is no page {page}; the ledger has {pages}")
    shown = records[(page - 1) * PAGE_SIZE :][:PAGE_SIZE]
    return Page(page=page, pages=pages, records=shown)


def look_up_receipts(receipts: list[str]) -> list[Receipt]:
    """
    Read receipts, in the order they are asked for.

    Args:
        receipts: Their numbers, such as R-101; at most ten at a time.

    Raises:
        LookupError: One of them does not exist.
        ValueError: They are none, or too many.
    """
    if not 1 <= len(receipts) <= MOST_RECEIPTS:
        raise ValueError(f"ask for 1 to {MOST_RECEIPTS} receipts, not {len(receipts)}")
    known = {row["receipt"]: row for row in _rows("receipts.csv")}
    missing = [number for number in receipts if number not in known]
    if missing:
        raise LookupError(f"there is no receipt {', '.join(missing)}")
    return [Receipt(**known[number]) for number in receipts]


def note_finding(record: str, rule: Rule, explanation: str, context: ToolContext) -> Noted:
    """
    Keep a finding for the report.

    Args:
        record: The record it is about, such as E-001.
        rule: The rule that is broken.
        explanation: What shows it, in one sentence with the figures.
        context: Which audit this is.

    Raises:
        LookupError: There is no such record.
        ValueError: The explanation is empty.
    """
    found = next((each for each in _records() if each.record == record), None)
    if found is None:
        raise LookupError(f"there is no record {record!r} in the ledger")
    if not explanation.strip():
        raise ValueError("the explanation is empty; say what shows it")
    finding = Finding(
        record=record, amount=found.amount, rule=rule, explanation=" ".join(explanation.split())
    )
    line = json.dumps({"key": context.idempotency_key, "finding": asdict(finding)})
    path = _path(context)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    return Noted(record=record, amount=found.amount, findings_so_far=len(_findings(path)))


def report_findings(context: ToolContext) -> Report:
    """
    Put together everything that was noted in this audit.

    Args:
        context: Which audit this is.
    """
    path = _path(context)
    findings = _findings(path)
    amounts = {finding.record: Decimal(finding.amount) for finding in findings}
    return Report(
        records=len(_records()),
        findings=len(findings),
        amount=f"{sum(amounts.values(), Decimal()):.2f}",
        table=_table(findings),
        path=path.relative_to(PROJECT).as_posix(),
    )


def _records() -> list[Record]:
    return [Record(**row) for row in _rows("ledger.csv")]


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _path(context: ToolContext) -> Path:
    return AUDITS / f"{context.turn_id}.jsonl"


def _findings(path: Path) -> list[Finding]:
    """Read what was noted; a call that was made twice counts once."""
    if not path.exists():
        return []
    noted = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    by_call = {entry["key"]: Finding(**entry["finding"]) for entry in noted}
    return list(by_call.values())


def _table(findings: Iterable[Finding]) -> str:
    lines = ["| record | amount | rule | what shows it |", "|---|---|---|---|"]
    lines += [
        f"| {each.record} | {each.amount} | {each.rule} | {each.explanation} |" for each in findings
    ]
    return "\n".join(lines)
