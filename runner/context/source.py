"""What each kind of contributor is to the rest."""

from typing import Protocol

from runner.core.contributing import ContributorContext
from runner.outbound.limit import Limit


class Source(Protocol):
    """Where a contributor's text comes from."""

    def read(self, context: ContributorContext, limit: Limit) -> str:
        """
        Return what there is to tell now; nothing is an empty text.

        Raises:
            OutboundError: It cannot be told; the message holds neither values nor secrets.
            BaseException: Whatever foreign code raised.
        """
        ...
