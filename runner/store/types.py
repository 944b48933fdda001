"""Column types that mean the same on every database."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import BigInteger, DateTime, Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine
from typing_extensions import override

from runner.core.cost import PICODOLLAR

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class Instant(TypeDecorator[datetime]):
    """A point in time: `timestamptz` on PostgreSQL, microseconds since 1970 in UTC on SQLite."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = DateTime(timezone=True)
    cache_ok: bool | None = True

    @override
    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[datetime] | TypeEngine[int]:
        if dialect.name == "sqlite":
            return dialect.type_descriptor(BigInteger())
        return dialect.type_descriptor(DateTime(timezone=True))

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> object:
        if value is None or dialect.name != "sqlite":
            return value
        return (value - _EPOCH) // _MICROSECOND

    @override
    def process_result_value(
        self, value: datetime | int | None, dialect: Dialect
    ) -> datetime | None:
        if isinstance(value, int):
            return _EPOCH + value * _MICROSECOND
        return value and value.astimezone(UTC)


class Dollars(TypeDecorator[Decimal]):
    """An amount of US dollars: a whole number of picodollars on every database."""

    impl: TypeEngine[Any] | type[TypeEngine[Any]] = BigInteger
    cache_ok: bool | None = True

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        return None if value is None else int(value / PICODOLLAR)

    @override
    def process_result_value(self, value: int | Decimal | None, dialect: Dialect) -> Decimal | None:
        return None if value is None else value * PICODOLLAR
