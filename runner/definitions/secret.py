"""Values that are used and never shown."""

import re
from typing import Final, Self

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema
from typing_extensions import override

from runner.definitions.text import Interpolated

MASK: Final = "***"
_WORD: Final = re.compile(r"[\w.-]*")
_PORT: Final = re.compile("[0-9]{0,5}")


class Secret:
    """A text that is shown as the reference it was written as, or as stars."""

    __slots__ = ("_shown", "_value")

    def __init__(self, value: str, *, shown: str = MASK) -> None:
        self._value = value
        self._shown = shown

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Wrap a text as read from a file."""
        return cls(str(text), shown=cls.mask(text))

    @staticmethod
    def mask(text: str) -> str:
        """What may be shown of a text: the variables it was written with, or stars."""
        if isinstance(text, Interpolated):
            return text.reference
        return MASK if text else ""

    def reveal(self) -> str:
        """The value itself: for the call that needs it, never for a message, log or row."""
        return self._value

    def __bool__(self) -> bool:
        return bool(self._value)

    @override
    def __str__(self) -> str:
        return self._shown

    @override
    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._shown!r})"

    @override
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    @override
    def __hash__(self) -> int:
        return hash(self._value)

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(
            cls._validate, serialization=core_schema.to_string_ser_schema(when_used="always")
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "string"}

    @classmethod
    def _validate(cls, value: object) -> Self:
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            return cls.from_text(value)
        raise PydanticCustomError("string_type", "expected text")


class SecretUrl(Secret):
    """A URL that is shown without its password and query values."""

    __slots__ = ()

    @override
    @staticmethod
    def mask(text: str) -> str:
        """The URL with everything that may be a credential replaced by stars."""
        scheme, separator, rest = text.partition("://")
        if not separator:
            return MASK
        address, question, query = rest.partition("?")
        user_info, at, host = address.rpartition("@")
        user, colon, _ = user_info.partition(":")
        shown_user = f"{user}:{MASK}" if colon else MASK * bool(at)
        names = (pair.partition("=")[0] for pair in query.split("&"))
        shown = (f"{name}={MASK}" if _WORD.fullmatch(name) else MASK for name in names)
        shown_query = "&".join(shown) if question else ""
        return f"{scheme}://{shown_user}{at}{_shown_host(host)}{question}{shown_query}"


def _shown_host(host: str) -> str:
    """Mask what stands in the place of a port and is none: it may be a password."""
    server, slash, path = host.partition("/")
    name, colon, port = server.rpartition(":")
    if colon and not port.endswith("]") and not _PORT.fullmatch(port):
        server = f"{name}:{MASK}"
    return f"{server}{slash}{path}"
