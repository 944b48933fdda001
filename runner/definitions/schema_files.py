"""JSON Schemas that definitions hold or name: read, and checked at their own places."""

from collections.abc import Iterator
from pathlib import Path as FilePath
from typing import cast

from pydantic import JsonValue

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.json_schema import check_schema
from runner.definitions.nodes import Mapping, Path, plain
from runner.definitions.parameters import is_json_schema
from runner.definitions.paths import Base, read_file
from runner.definitions.problem import Problem
from runner.definitions.yaml_tree import parse


def check_inline(document: Document, at: Path, schema: dict[str, JsonValue]) -> Iterator[Problem]:
    """Tell what is wrong with a schema written in a definition."""
    for complaint in check_schema(schema):
        path = (*at, *_written(document, at, complaint.path))
        message = f"invalid JSON Schema: {complaint.message}"
        yield document.problem(path, Code.BAD_SCHEMA, message)


def include(
    document: Document, at: Path, text: str
) -> tuple[dict[str, JsonValue] | None, list[Problem], FilePath | None]:
    """Read the schema in the file that a definition names."""
    try:
        path = document.base.resolve(text)
        relative = document.base.relative(text)
        parsed = parse(read_file(path), relative)
    except PathRefused as refused:
        return None, [document.problem(at, Code.named(refused.code), str(refused))], None
    if parsed.problems:
        return None, list(parsed.source.show(parsed.problems, ())), path
    if len(parsed.documents) != 1 or not isinstance(parsed.documents[0], Mapping):
        message = "the file must hold one mapping, a JSON Schema"
        return None, [document.problem(at, Code.BAD_SCHEMA, message)], path
    node = parsed.documents[0]
    schema = cast("dict[str, JsonValue]", plain(node))
    base = Base(root=document.base.root, folder=path.parent)
    own = Document(source=parsed.source, node=node, file=path, base=base)
    problems = [
        own.problem(flaw.path, Code.BAD_SCHEMA, f"invalid JSON Schema: {flaw.message}")
        for flaw in check_schema(schema)
    ]
    return schema, list(parsed.source.show(problems, ())), path


def _written(document: Document, at: Path, path: Path) -> Path:
    """Where in the short form of parameters a place of their JSON Schema is written."""
    written = document.plain(at)
    if not isinstance(written, dict) or is_json_schema(written) or path[:1] != ("properties",):
        return path
    return path[1:]
