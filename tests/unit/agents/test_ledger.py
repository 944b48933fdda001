import csv
from collections.abc import Mapping, Sequence
from itertools import count

import pytest

from runner.core.jsonvalue import JsonObject, JsonValue
from tests.example_project import REPOSITORY, ExampleProject, call

DATA = REPOSITORY / "agents" / "data"
FINDING: Mapping[str, JsonValue] = {
    "record": "E-011",
    "rule": "receipt missing",
    "explanation": "31.50, and no receipt\nis named.",
}


def rows(name: str) -> Sequence[Mapping[str, str]]:
    with (DATA / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def note(example: ExampleProject, finding: Mapping[str, JsonValue], *, key: str) -> JsonObject:
    return call(example.tool("auditor", "note_finding"), finding, key=key)


def report(example: ExampleProject, *, key: str = "turn_1:call_9") -> JsonObject:
    return call(example.tool("auditor", "report_findings"), {}, key=key)


def test_the_pages_together_are_the_ledger(example: ExampleProject) -> None:
    ledger_page = example.tool("auditor", "ledger_page")
    read: list[JsonValue] = []
    for number in count(1):
        page = call(ledger_page, {"page": number})
        records = page["records"]
        assert isinstance(records, list)
        read += records
        if number == page["pages"]:
            break

    assert read == rows("ledger.csv")


@pytest.mark.parametrize("page", [0, -1, 6])
def test_a_page_that_is_not_there_is_an_error_that_says_how_many_there_are(
    example: ExampleProject, page: int
) -> None:
    with pytest.raises(LookupError, match="the ledger has 5"):
        call(example.tool("auditor", "ledger_page"), {"page": page})


def test_receipts_come_in_the_order_they_are_asked_for(example: ExampleProject) -> None:
    found = call(example.tool("auditor", "look_up_receipts"), {"receipts": ["R-103", "R-101"]})

    by_number = {row["receipt"]: row for row in rows("receipts.csv")}
    assert found["result"] == [by_number["R-103"], by_number["R-101"]]


def test_a_receipt_that_does_not_exist_is_named(example: ExampleProject) -> None:
    with pytest.raises(LookupError, match=r"no receipt R-999, R-0$"):
        call(example.tool("auditor", "look_up_receipts"), {"receipts": ["R-101", "R-999", "R-0"]})


@pytest.mark.parametrize("number", [0, 11])
def test_no_receipts_and_too_many_are_refused(example: ExampleProject, number: int) -> None:
    with pytest.raises(ValueError, match="1 to 10 receipts"):
        call(example.tool("auditor", "look_up_receipts"), {"receipts": ["R-101"] * number})


def test_a_finding_takes_its_amount_from_the_ledger(example: ExampleProject) -> None:
    noted = note(example, FINDING, key="turn_1:call_1")

    assert noted == {"record": "E-011", "amount": "31.50", "findings_so_far": 1}


def test_the_report_has_what_was_noted(example: ExampleProject) -> None:
    other = {"record": "E-009", "rule": "over the limit", "explanation": "212.00 for a night."}
    note(example, FINDING, key="turn_1:call_1")
    note(example, other, key="turn_1:call_2")

    found = report(example)

    assert (found["records"], found["findings"], found["amount"]) == (40, 2, "243.50")
    assert str(found["table"]).splitlines()[2:] == [
        "| E-011 | 31.50 | receipt missing | 31.50, and no receipt is named. |",
        "| E-009 | 212.00 | over the limit | 212.00 for a night. |",
    ]
    assert (example.root / str(found["path"])).is_file()


def test_a_record_that_breaks_two_rules_counts_once_in_the_amount(example: ExampleProject) -> None:
    note(example, FINDING, key="turn_1:call_1")
    note(example, {**FINDING, "rule": "private"}, key="turn_1:call_2")

    found = report(example)

    assert (found["findings"], found["amount"]) == (2, "31.50")


def test_a_call_that_is_run_again_is_one_finding(example: ExampleProject) -> None:
    note(example, FINDING, key="turn_1:call_1")
    again = note(example, FINDING, key="turn_1:call_1")

    assert again["findings_so_far"] == 1
    assert report(example)["findings"] == 1


def test_audits_do_not_mix(example: ExampleProject) -> None:
    note(example, FINDING, key="turn_1:call_1")

    found = report(example, key="turn_2:call_1")

    assert (found["findings"], found["amount"]) == (0, "0.00")


def test_a_finding_is_about_a_record_of_the_ledger(example: ExampleProject) -> None:
    with pytest.raises(LookupError, match="no record 'E-999'"):
        note(example, {**FINDING, "record": "E-999"}, key="turn_1:call_1")


def test_a_finding_is_explained(example: ExampleProject) -> None:
    with pytest.raises(ValueError, match="explanation is empty"):
        note(example, {**FINDING, "explanation": " "}, key="turn_1:call_1")


def test_only_the_rules_that_exist_can_be_broken(example: ExampleProject) -> None:
    note_finding = example.tool("auditor", "note_finding")

    assert note_finding.complaints({**FINDING, "rule": "untidy"})
