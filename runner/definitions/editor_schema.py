"""JSON Schemas of the files people write, for their editors."""

import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import BaseModel, JsonValue, TypeAdapter

from runner.definitions.agent import AgentDefinition
from runner.definitions.config import Config
from runner.definitions.context import (
    CommandContext,
    ContextDefinition,
    FileContext,
    HttpContext,
    PythonContext,
    SqlContext,
    TextContext,
)
from runner.definitions.policy import PolicyDefinition, PythonPolicy, RulesPolicy
from runner.definitions.scalars import PROSE_KEY
from runner.definitions.skill import SkillDefinition
from runner.definitions.tool import (
    BuiltinTool,
    LaunchAgentTool,
    PythonTool,
    SendMessageTool,
    ToolDefinition,
    WaitForTool,
)

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"

JsonSchema: TypeAlias = dict[str, JsonValue]

_TOOLS: Final = (PythonTool, BuiltinTool, LaunchAgentTool, WaitForTool, SendMessageTool)
_CONTEXTS: Final = (
    TextContext,
    FileContext,
    PythonContext,
    HttpContext,
    SqlContext,
    CommandContext,
)
_POLICIES: Final = (RulesPolicy, PythonPolicy)
#: Kinds that a document has to name, each with a schema of its own.
_NAMED_KINDS: Final = ("tool", "context", "policy", "skill")
_VARIABLE: Final[JsonSchema] = {"type": "string", "pattern": r"\$\{"}
_SCALARS: Final = frozenset({"string", "integer", "number", "boolean"})
_ABOUT: Final = ("description", "default")
_LIMITING: Final = frozenset({"const", "enum", "maxLength", "minLength", "pattern"})


def schema_texts() -> Mapping[str, str]:
    """The schemas by file name."""
    schemas = {
        "agent": _document(_of(_unfolded(AgentDefinition.model_json_schema())), "One agent.", ()),
        "tool": _document(
            _of(TypeAdapter(ToolDefinition).json_schema(), *_TOOLS), "One tool.", ("kind",)
        ),
        "context": _document(
            _of(TypeAdapter(ContextDefinition).json_schema(), *_CONTEXTS),
            "One contributor.",
            ("kind",),
        ),
        "policy": _document(
            _of(TypeAdapter(PolicyDefinition).json_schema(), *_POLICIES), "One policy.", ("kind",)
        ),
        "skill": _document(
            _of(SkillDefinition.model_json_schema(), SkillDefinition), "One skill.", ("kind",)
        ),
        "definition": _any_definition(),
        "config": _document(_of(Config.model_json_schema()), "The operator's config.", ()),
    }
    return {
        f"{name}.schema.json": json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        for name, schema in schemas.items()
    }


def write_schemas(folder: Path) -> tuple[Path, ...]:
    """Write the schemas into a folder, which is made if need be, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, text in schema_texts().items():
        path = folder / name
        path.write_text(text, encoding="utf-8")
        written.append(path)
    return tuple(written)


def _unfolded(raw: JsonSchema) -> JsonSchema:
    """Write the schema of a model that holds itself out once, so that a document can differ."""
    definitions = _object(raw["$defs"])
    name = str(raw["$ref"]).rpartition("/")[2]
    return {"$defs": definitions, **deepcopy(_object(definitions[name]))}


def _of(raw: JsonSchema, *documents: type[BaseModel]) -> JsonSchema:
    """
    A model's schema as the loader reads documents.

    Args:
        raw: The schema of a model or a union of models.
        documents: Those that have documents of their own, whose name may be the file's.
    """
    models = {one.__name__ for one in documents}
    definitions = raw.get("$defs")
    named = {"": raw, **(definitions if isinstance(definitions, dict) else {})}
    for name, schema in named.items():
        if isinstance(schema, dict) and (not name or name in models):
            _open(schema, optional="name")
    return _loosen(raw)


def _open(schema: JsonSchema, *, optional: str) -> None:
    """Let a document leave out its name, and have keys that are a home for anchors."""
    required = schema.get("required")
    if isinstance(required, list) and optional in required:
        required.remove(optional)
    if "properties" in schema:
        schema["patternProperties"] = {"^x-": {}}


def _document(schema: JsonSchema, description: str, required: tuple[str, ...]) -> JsonSchema:
    listed = schema.pop("required", [])
    also: list[JsonValue] = [*(listed if isinstance(listed, list) else []), *required]
    schema.pop("description", None)
    head: JsonSchema = {"$schema": DIALECT, "description": description}
    return head | schema | ({"required": also} if also else {})


def _any_definition() -> JsonSchema:
    choice: JsonSchema = {"$ref": "agent.schema.json"}
    for kind in reversed(_NAMED_KINDS):
        choice = {
            "if": _is_of(kind),
            "then": {"$ref": f"{kind}.schema.json"},
            "else": choice,
        }
    return {
        "$schema": DIALECT,
        "description": "One definition, of the kind that its key `kind` names.",
        "type": "object",
        **choice,
    }


def _is_of(kind: str) -> JsonSchema:
    return {"properties": {"kind": {"const": kind}}, "required": ["kind"]}


def _loosen(schema: JsonSchema) -> JsonSchema:
    """Take out what editors need not see and null, and let variables in where the loader does."""
    inner: JsonSchema = {
        key: _loosen_below(key, item) for key, item in schema.items() if not _is_noise(key, item)
    }
    inner = _without_null(inner)
    is_prose = inner.pop(PROSE_KEY, False)
    if is_prose or not _takes_variables(inner):
        return inner
    about: JsonSchema = {key: inner.pop(key) for key in _ABOUT if key in inner}
    return {"anyOf": [inner, dict(_VARIABLE)], **about}


def _loosen_below(key: str, item: JsonValue) -> JsonValue:
    match item:
        case dict() if key in {"$defs", "properties", "patternProperties"}:
            return {name: _loosen(_object(one)) for name, one in item.items()}
        case dict() if key in {"items", "additionalProperties"}:
            return _loosen(item)
        case list() if key in {"anyOf", "oneOf", "prefixItems"}:
            return [_loosen(_object(one)) for one in item]
    return item


def _is_noise(key: str, item: JsonValue) -> bool:
    return (key == "title" and isinstance(item, str)) or (key == "default" and item is None)


def _without_null(schema: JsonSchema) -> JsonSchema:
    choices = schema.get("anyOf")
    if not isinstance(choices, list):
        return schema
    kept = [choice for choice in choices if choice != {"type": "null"}]
    rest = {key: item for key, item in schema.items() if key != "anyOf"}
    if len(kept) == 1 and isinstance(kept[0], dict):
        return kept[0] | rest
    return {**rest, "anyOf": kept}


def _takes_variables(schema: JsonSchema) -> bool:
    kind = schema.get("type")
    if (
        not isinstance(kind, str)
        or kind not in _SCALARS
        or schema.get("const") in {"agent", *_NAMED_KINDS}
    ):
        return False
    return kind != "string" or not _LIMITING.isdisjoint(schema)


def _object(value: JsonValue) -> JsonSchema:
    return value if isinstance(value, dict) else {}
