"""Values that a database might change, and times, alike on every database."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Connection, literal, select, text

from runner.core.jsonvalue import JsonObject
from runner.core.messages import Message, Role, Text, ToolCall, ToolResult
from runner.core.records import NewEvent, TurnError
from runner.store.clock import db_now, db_now_plus, seconds_until
from runner.store.database import Database, open_database
from runner.store.schema import upgrade_schema
from runner.store.store import Store
from runner.store.types import Instant
from tests.integration.store.builders import (
    LEASE,
    TIMEOUT,
    add,
    claim,
    execution,
    message,
    new_turn,
    step,
)

HOSTILE: JsonObject = {
    "nul\x00": "a\x00b",
    "surrogate": "\ud800 alone",
    "numbers": [float("nan"), float("inf"), 10**40, 1.5],
    "bytes": b"\xff",
    "emoji": "🌱",
}
STORED: JsonObject = {
    "nul�": "a�b",
    "surrogate": "� alone",
    "numbers": ["nan", "inf", hex(10**40), 1.5],
    "bytes": "�",
    "emoji": "🌱",
}


def test_what_no_database_can_hold_is_stored_alike_on_all(store: Store) -> None:
    new = replace(
        new_turn(text="a\x00b"),
        context=HOSTILE,
        metadata=HOSTILE,
        principal=HOSTILE,
        agent="\ud800",
    )
    add(store)
    store.intake.add(new)
    claimed = claim(store, store.views.turn(new.id))
    run = replace(execution(claimed.turn, 1), call_id="c\x00", tool="t\ud800", arguments=HOSTILE)
    call = ToolCall(call_id="c\x00", name="t\ud800", arguments=HOSTILE)
    answer: Message = replace(
        message(claimed.turn, new.conversation_id), seq=2, role=Role.ASSISTANT, parts=(call,)
    )
    result = replace(
        message(claimed.turn, new.conversation_id),
        seq=3,
        role=Role.TOOL,
        parts=(ToolResult(call_id="c\x00", name="t\ud800", content=HOSTILE),),
        execution_id=run.id,
    )
    write = step(claimed, planned=[run])
    error = TurnError(code="c", message="m\x00", details=HOSTILE)
    write = replace(
        write,
        turn=replace(write.turn, result="r\x00", output_data=HOSTILE, error=error),
        messages=[answer, result],
        events=[NewEvent(kind="k\x00", body=HOSTILE)],
    )

    store.journal.commit(write)

    turn = store.views.turn(new.id)
    assert (turn.context, turn.metadata, turn.principal, turn.agent) == (*[STORED] * 3, "�")
    assert (turn.result, turn.output_data) == ("r�", STORED)
    assert turn.error == TurnError(code="c", message="m�", details=STORED)
    [stored] = store.journal.executions(new.id)
    assert (stored.call_id, stored.tool, stored.arguments) == ("c�", "t�", STORED)
    trigger, first, second = store.journal.transcript(new.conversation_id)
    assert trigger.parts == (Text(text="a�b"),)
    assert first.parts == (ToolCall(call_id="c�", name="t�", arguments=STORED),)
    assert second.parts == (ToolResult(call_id="c�", name="t�", content=STORED),)
    event = store.views.events(new.id)[-1]
    assert (event.kind, event.body) == ("k�", STORED)


@pytest.mark.parametrize(
    "instant",
    [
        pytest.param(datetime(2026, 11, 30, 7, 0, 0, 123456, tzinfo=UTC), id="to-the-microsecond"),
        pytest.param(datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC), id="before-1970"),
        pytest.param(None, id="none"),
    ],
)
def test_an_instant_comes_back_as_it_was(database: Database, instant: datetime | None) -> None:
    def there_and_back(connection: Connection) -> datetime | None:
        return connection.execute(select(literal(instant, Instant()))).scalar_one()

    assert database.read(there_and_back) == instant


def test_the_database_tells_the_time(database: Database) -> None:
    hour = timedelta(hours=1)

    def read(connection: Connection) -> tuple[datetime, datetime, float]:
        later = db_now_plus(hour)
        row = connection.execute(select(db_now(), later, seconds_until(later))).one()
        return row[0], row[1], row[2]

    now, later, seconds = database.read(read)

    assert later - now == pytest.approx(hour, abs=timedelta(seconds=1))
    assert seconds == pytest.approx(3600, abs=1)


@pytest.fixture
def elsewhere(empty_postgres_url: str) -> Iterator[Store]:
    """A store whose database lives in another time zone, with summer time."""
    database = open_database(empty_postgres_url)
    upgrade_schema(database)
    name = str(database.engine.url.database)

    def move(connection: Connection) -> None:
        connection.execute(text(f"ALTER DATABASE {name} SET timezone = 'America/New_York'"))
        connection.execute(text(f"ALTER DATABASE {name} SET datestyle = 'SQL, DMY'"))

    database.write(move)
    database.close()
    yield Store.over(database)
    database.close()


def test_the_time_zone_of_the_database_does_not_matter(elsewhere: Store) -> None:
    turn = add(elsewhere, timeout=timedelta(days=365))
    claimed = claim(elsewhere, turn)

    assert claimed.turn.created_at is not None
    assert claimed.turn.created_at.tzinfo is UTC
    assert claimed.turn.deadline_at is not None
    length = claimed.turn.deadline_at - claimed.turn.created_at
    assert length == pytest.approx(timedelta(days=365), abs=timedelta(minutes=1))
    assert claimed.seconds_left == pytest.approx(365 * 86400, abs=60)
    assert list(elsewhere.journal.renew([claimed.claim], lease=LEASE)) == [claimed.claim]
    assert list(elsewhere.sweeps.release_expired(limit=1)) == []
    assert add(elsewhere, timeout=TIMEOUT).status == "pending"
