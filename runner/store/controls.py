"""How people take hold of turns."""

from runner.core.coordination import Input, Reach, Receipts
from runner.core.ids import TurnId
from runner.store.cancelling import Cancelling
from runner.store.database import Database
from runner.store.ending import startable
from runner.store.halting import Pausing, Resuming
from runner.store.steering import steer


class SqlControls:
    """The controls over a database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def cancel(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Cancel a turn, and with cascade everything below it.

        Of a cancel and a step that is being written, one comes first: the step is kept, or finds
        its claim gone. What a step launches at the same moment is seen, because the turns below
        are looked for again once their parents are locked.
        """
        cancelling = Cancelling(turn_id, reach)
        receipts = self._database.write(cancelling)
        freed = startable(self._database, cancelling.conversations)
        return Receipts(turns=receipts.turns, wake=tuple(dict.fromkeys((*receipts.wake, *freed))))

    def pause(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Pause a turn: a running one at its next boundary, any other at once.

        A claim at the same moment comes first, and the turn is running then, or finds it paused.
        """
        return self._database.write(Pausing(turn_id, reach))

    def resume(self, turn_id: TurnId, *, reach: Reach) -> Receipts:
        """
        Let paused and stale turns go on from where they were, and take back what was requested.

        Of two that resume the same turn, the second finds it no longer paused.
        """
        return self._database.write(Resuming(turn_id, reach))

    def steer(self, turn_id: TurnId, *, key: str, text: str) -> Input:
        """
        Queue an input for a turn that has not ended; the same key and text is the same input.

        Inputs and steps lock the turn's row, so a step that ends the turn either takes an input
        into account or leaves it an ended turn.
        """
        return steer(self._database, turn_id, key=key, text=text)
