"""The store: the roles that other parts know it by, over one database."""

from dataclasses import dataclass
from typing import Self

from runner.store.answering import SqlApprovals
from runner.store.audit import SqlAudit
from runner.store.controls import SqlControls
from runner.store.database import Database
from runner.store.deliveries import SqlDeliveries
from runner.store.intake import SqlIntake
from runner.store.journal import SqlJournal
from runner.store.sweeps import SqlSweeps
from runner.store.views import SqlViews


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """All that can be done with one database."""

    database: Database
    intake: SqlIntake
    journal: SqlJournal
    sweeps: SqlSweeps
    controls: SqlControls
    deliveries: SqlDeliveries
    approvals: SqlApprovals
    views: SqlViews
    audit: SqlAudit

    @classmethod
    def over(cls, database: Database) -> Self:
        sweeps = SqlSweeps(database)
        return cls(
            database=database,
            intake=SqlIntake(database),
            journal=SqlJournal(database),
            sweeps=sweeps,
            controls=SqlControls(database),
            deliveries=SqlDeliveries(database),
            approvals=SqlApprovals(database),
            views=SqlViews(database),
            audit=SqlAudit(database, sweeps),
        )

    def close(self) -> None:
        self.database.close()
