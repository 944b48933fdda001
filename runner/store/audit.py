"""The auditor: reads all that is stored and says which rules it breaks."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Final

from sqlalchemy import func, select, union_all

from runner.core.finding import Finding
from runner.core.ids import TurnId
from runner.core.states import LIVE
from runner.store import audit_approvals, audit_transcripts, audit_trees, audit_turns
from runner.store.audit_rule import Rule
from runner.store.conditions import has_status
from runner.store.database import Database
from runner.store.sweeps import SqlSweeps
from runner.store.tables import TurnRow, WaitRow

RULES: Final[Sequence[Rule]] = (
    *audit_turns.RULES,
    *audit_transcripts.RULES,
    *audit_trees.RULES,
    *audit_approvals.RULES,
)

_in_lanes = (
    select(
        TurnRow.id,
        func.lag(TurnRow.id)
        .over(partition_by=TurnRow.conversation_id, order_by=TurnRow.lane)
        .label("before"),
    )
    .where(has_status(TurnRow.status, *LIVE))
    .subquery("live_lanes")
)
#: What has to end before each turn does.
_SELECT_AHEAD: Final = select(
    union_all(
        select(WaitRow.waiter_id.label("turn"), WaitRow.awaited_id.label("ahead")).where(
            WaitRow.ended_at.is_(None)
        ),
        select(_in_lanes.c.id, _in_lanes.c.before).where(_in_lanes.c.before.is_not(None)),
    ).subquery("ahead")
)


class SqlAudit:
    """
    The audit of a database, while others work on it or afterwards.

    Each rule is one query, however much is stored, so what an audit finds has been so at the
    instant of that query.
    """

    def __init__(self, database: Database, sweeps: SqlSweeps) -> None:
        self._database = database
        self._sweeps = sweeps

    def findings(self, *, limit: int) -> Sequence[Finding]:
        """Return what is wrong, rule by rule, and of each rule *limit* cases at most."""
        return [
            *self._unattended(limit),
            *self._circle(),
            *(finding for rule in RULES for finding in self._broken(rule, limit)),
        ]

    def _broken(self, rule: Rule, limit: int) -> Iterator[Finding]:
        for row in self._database.rows(rule.query.order_by("turn_id").limit(limit)):
            turn_id = row["turn_id"]
            yield Finding(
                rule=rule.name,
                turn_id=None if turn_id is None else TurnId(turn_id),
                message=rule.message.format(**row),
            )

    def _unattended(self, limit: int) -> Iterator[Finding]:
        for turn_id, fault in self._sweeps.unattended(limit=limit):
            yield Finding(rule="unattended", turn_id=turn_id, message=f"the turn is {fault}")

    def _circle(self) -> Iterator[Finding]:
        """Find turns of which none can end before the others, through waits and lanes."""
        ahead = defaultdict[str, set[str]](set)
        for row in self._database.rows(_SELECT_AHEAD):
            ahead[row["turn"]].add(row["ahead"])
        try:
            TopologicalSorter(ahead).prepare()
        except CycleError as error:
            circle = [TurnId(turn_id) for turn_id in error.args[1]]
            message = f"turns wait for one another in a circle: {', '.join(circle)}"
            yield Finding(rule="wait_circle", turn_id=circle[0], message=message)
