"""What model requests cost."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from runner.core.jsonvalue import JsonObject

#: What amounts are told apart by: a millionth of a millionth of a dollar.
PICODOLLAR: Final = Decimal("1e-12")
#: The most that is believed of one turn, in dollars; it leaves room in 64 bits of picodollars.
MOST: Final = Decimal(9_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What answered requests cost: exactly so much, or with unpriced ones among them at least."""

    #: In US dollars, by the prices of the moments at which the answers came.
    usd: Decimal = Decimal(0)
    #: Answered requests for which no price was known.
    unpriced_requests: int = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(
            usd=self.usd + other.usd,
            unpriced_requests=self.unpriced_requests + other.unpriced_requests,
        )

    @property
    def is_known(self) -> bool:
        """Whether anything can be said of it."""
        return bool(self.usd) or not self.unpriced_requests

    def with_request(self, usd: Decimal | None) -> "Cost":
        """Add one answered request; None where no price is known."""
        if usd is None or self.usd + usd > MOST:
            return Cost(usd=self.usd, unpriced_requests=self.unpriced_requests + 1)
        return Cost(usd=self.usd + usd, unpriced_requests=self.unpriced_requests)

    def as_json(self) -> JsonObject:
        """Say it to programs, the amount as text that keeps every digit, or null."""
        return {
            "cost": dollars(self.usd if self.is_known else None),
            "unpriced_requests": self.unpriced_requests,
        }


def believed(usd: Decimal) -> Decimal | None:
    """Round what one request is reckoned to cost; with an absurd usage nothing is known of it."""
    return usd.quantize(PICODOLLAR) if usd <= MOST else None


def dollars(usd: Decimal | None) -> str | None:
    """Write an amount with the digits it needs, as in `0.00327`."""
    return None if usd is None else f"{usd.normalize():f}"
