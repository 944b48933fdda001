"""Whatever a tool returns, as plain JSON values of bounded number and depth."""

from collections.abc import Mapping, Sequence, ValuesView
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import date, datetime, time
from enum import Enum
from typing import Final, TypeAlias

from pydantic import BaseModel

from runner.core.jsonvalue import JsonValue, dump_json, storable

_MAX_DEPTH: Final = 64
_TOO_DEEP: Final = "… nested too deeply"
_TOO_MANY: Final = "… the rest was left out"

_Object: TypeAlias = Mapping[object, object]
_List: TypeAlias = Sequence[object] | AbstractSet[object] | ValuesView[object]


def plain(value: object, *, max_values: int) -> JsonValue:
    """
    Turn *value* into JSON values that every database stores alike.

    Models and dataclasses become objects, enumerations their values, dates ISO text, every other
    collection a list; what JSON has no word for becomes its `str`. A value that contains itself, or
    the same large part many times, ends after *max_values* values, and says so.

    Raises:
        Exception: Whatever the value's own methods raise while they are asked what it holds.
    """
    return _Plain(max_values).of(value, 0)


class _Plain:
    """One conversion, counting the values it has left."""

    def __init__(self, max_values: int) -> None:
        self._left = max_values

    def of(self, value: object, depth: int) -> JsonValue:
        match value:
            case Enum():
                return self.of(value.value, depth)
            case None | str() | int() | float() | bytes() | bytearray():
                return storable(value)
            case memoryview():
                return storable(value.tobytes())
            case datetime() | date() | time():
                return value.isoformat()
            case _:
                return self._container(value, depth)

    def _container(self, value: object, depth: int) -> JsonValue:
        entries = _entries(value)
        match entries:
            case None:
                return storable(str(value))
            case _ if depth >= _MAX_DEPTH:
                return _TOO_DEEP
            case Mapping():
                return self._object(entries, depth)
            case _:
                return self._list(entries, depth)

    def _object(self, entries: _Object, depth: int) -> JsonValue:
        result = dict[str, JsonValue]()
        for key, item in entries.items():
            if not self._take():
                result["…"] = _TOO_MANY
                break
            result[_key(key)] = self.of(item, depth + 1)
        return result

    def _list(self, entries: _List, depth: int) -> JsonValue:
        result = list[JsonValue]()
        for item in entries:
            if not self._take():
                result.append(_TOO_MANY)
                break
            result.append(self.of(item, depth + 1))
        return result

    def _take(self) -> bool:
        self._left -= 1
        return self._left >= 0


def _entries(value: object) -> _Object | _List | None:
    """Return what *value* holds, or None when it is not a container."""
    match value:
        case BaseModel():
            return dict[object, object](value.model_dump(warnings=False).items())
        case Mapping() | Sequence() | AbstractSet() | ValuesView():
            return value
        case _ if is_dataclass(value) and not isinstance(value, type):
            return dict[object, object]((f.name, getattr(value, f.name)) for f in fields(value))
        case _:
            return None


def _key(key: object) -> str:
    if isinstance(key, Enum):
        return _key(key.value)
    text = storable(key)
    return text if isinstance(text, str) else dump_json(text)
