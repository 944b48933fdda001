"""A conversation in the Python API."""

from dataclasses import replace
from datetime import timedelta

from runner.bootstrap.desk import Desk
from runner.bootstrap.given import Given
from runner.core.ids import ConversationId
from runner.core.records import Shared, Turn
from runner.engine.follow import Follower
from runner.engine.intake import Order


class Conversation:
    """
    A durable thread of messages that one agent answers, one turn at a time.

    `say` answers in this thread; `post` and `ask` leave the work to workers.
    """

    def __init__(
        self,
        desk: Desk,
        follower: Follower,
        *,
        agent: str,
        conversation_id: ConversationId | None = None,
        given: Given | None = None,
    ) -> None:
        self._desk = desk
        self._follower = follower
        self._given = given or Given()
        self.agent = agent
        #: None until the first message is stored.
        self.id = conversation_id

    def say(self, text: str, *, given: Given | None = None) -> Turn:
        """
        Answer a message in this thread and return the ended turn, whatever its outcome.

        Raises:
            ConversationBusy: An earlier turn has not ended.
        """
        return self._remember(self._desk.run(self._order(text, given)))

    def post(self, text: str, *, given: Given | None = None) -> Turn:
        """Submit a message; it is answered after everything submitted before it."""
        return self._remember(self._desk.submit(self._order(text, given)))

    def ask(
        self, text: str, *, given: Given | None = None, timeout: timedelta | None = None
    ) -> Turn:
        """
        Submit a message and return its turn once it has ended.

        Raises:
            TimeoutError: It had not ended after *timeout*; it goes on.
        """
        return self._follower.wait(self.post(text, given=given).id, timeout=timeout)

    def _order(self, text: str, given: Given | None) -> Order:
        common = self._given
        given = given or Given()
        return self._desk.message(
            self.agent,
            text,
            replace(
                given,
                principal=given.principal or common.principal,
                metadata={**common.metadata, **given.metadata},
            ),
            conversation_id=self.id,
            shared=Shared(context=common.context, subject=common.subject),
        )

    def _remember(self, turn: Turn) -> Turn:
        self.id = turn.conversation_id
        return turn
