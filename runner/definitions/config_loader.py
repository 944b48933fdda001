"""Find, read and check the operator's config."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from runner.core.errors import ConfigError, PathRefused
from runner.definitions import nodes
from runner.definitions.codes import Code
from runner.definitions.config import Config
from runner.definitions.config_checks import check_config, complete_config
from runner.definitions.config_text import EMBEDDED
from runner.definitions.document import Document, without_extensions
from runner.definitions.filling import VariableUse
from runner.definitions.interpolation import fill
from runner.definitions.paths import Base, read_file
from runner.definitions.policy_kind import complete_entries
from runner.definitions.problem import Problem
from runner.definitions.skill_kind import complete_all
from runner.definitions.source import Source
from runner.definitions.validation import Schema, Validated, hidden, schema_of, validate
from runner.definitions.yaml_tree import parse

#: The variable that names the config file.
VARIABLE: Final = "RUNNER_CONFIG"
FILE_NAME: Final = "config.yaml"
EMBEDDED_ORIGIN: Final = "embedded default"

_SCHEMA: Final[Schema[Config]] = schema_of(Config)
_MERGED: Final = ("clients", "models")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedConfig:
    """The config in force, and what is wrong with its file."""

    #: Where there are problems, what is right in the file, with defaults in place of the rest.
    config: Config
    #: The project's folder, without symlinks.
    root: Path
    #: The file, or None where there is none.
    path: Path | None
    problems: tuple[Problem, ...]
    #: Where each value comes from, by its dotted key.
    origins: Mapping[str, str]
    uses: tuple[VariableUse, ...]
    #: The top-level keys of which something could not be read.
    unsure: frozenset[str] = frozenset()
    #: The file's document, where there is one; its values may be secret.
    document: Document | None = field(default=None, repr=False)
    #: The files that were put in.
    files: tuple[Path, ...] = ()

    def show(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Put the file's lines into problems of it, without what is secret."""
        if self.document is None:
            return ()
        secret = hidden(self.document.node, _SCHEMA.shape)
        return self.document.source.show(problems, secret)

    @property
    def is_sound(self) -> bool:
        return not any(problem.is_error for problem in self.problems)

    def resolved(self) -> dict[str, JsonValue]:
        """All values in force, with secrets shown as they were written or as stars."""
        values: dict[str, JsonValue] = self.config.model_dump(mode="json", exclude_none=True)
        return values


def load_config(path: Path | None, *, environ: Mapping[str, str], cwd: Path) -> LoadedConfig:
    """
    Load the config that is named, or the one in the current folder, or the embedded default.

    Args:
        path: The file, where one is named.
        environ: Holds `RUNNER_CONFIG` and the variables that the file mentions.
        cwd: The current folder.

    Raises:
        ConfigError: A file is named that cannot be read.
    """
    file = _find(path, environ, cwd)
    if file is None:
        root = cwd.resolve()
        return _combine(_embedded(root, None), None, root, environ)
    root = file.parent.resolve()
    try:
        parsed = parse(read_file(file), file.name)
    except PathRefused as refused:
        raise ConfigError(f"the config {str(file)!r} cannot be used: {refused}") from refused
    problems = parsed.source.show_keys(parsed.problems)
    node = parsed.documents[0] if parsed.documents else None
    if len(parsed.documents) > 1:
        second = parsed.documents[1]
        at = (second.line, second.column)
        message = "a config is one document"
        found = parsed.source.problem(Code.INVALID_SYNTAX, message, at=at)
        problems += parsed.source.show_keys([found])
    if node is not None and not isinstance(node, nodes.Mapping):
        at = (node.line, node.column)
        found = parsed.source.problem(Code.WRONG_TYPE, "a config is a mapping", at=at)
        problems += parsed.source.show_keys([found])
        node = None
    own = None if node is None else _document(parsed.source, without_extensions(node), file, root)
    loaded = _combine(_embedded(root, own), own, root, environ)
    return replace(
        loaded,
        path=file,
        problems=tuple(sorted((*problems, *loaded.problems))),
        unsure=frozenset(Config.model_fields) if problems else loaded.unsure,
    )


def _find(path: Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    """The config file, made absolute; one that is named must exist."""
    named, by = (path, "") if path else (environ.get(VARIABLE), f" named by {VARIABLE}")
    if named:
        file = cwd / named
        if not file.is_file():
            raise ConfigError(f"there is no config file {str(file)!r}{by}")
        return file
    file = cwd / FILE_NAME
    return file if file.is_file() else None


def _document(source: Source, node: nodes.Mapping, file: Path, root: Path) -> Document:
    return Document(source=source, node=node, file=file, base=Base(root=root, folder=root))


def _embedded(root: Path, own: Document | None) -> Document:
    """The embedded default, without the clients and models that the file declares itself."""
    parsed = parse(EMBEDDED.encode(), EMBEDDED_ORIGIN)
    node = parsed.documents[0]
    entries = dict(node.entries) if isinstance(node, nodes.Mapping) else {}
    for key in _MERGED:
        declared = own.value((key,)) if own and key in own.keys else None
        names = declared.entries if isinstance(declared, nodes.Mapping) else {}
        inner = entries[key].value
        if isinstance(inner, nodes.Mapping):
            kept = {name: entry for name, entry in inner.entries.items() if name not in names}
            merged = nodes.Mapping(inner.line, inner.column, kept)
            entries[key] = nodes.Entry(entries[key].key, merged)
    return _document(parsed.source, nodes.Mapping(node.line, node.column, entries), root, root)


def _combine(
    embedded: Document, own: Document | None, root: Path, environ: Mapping[str, str]
) -> LoadedConfig:
    base = _validate(embedded, environ)
    config = base.value or Config()
    uses, problems, unsure = base.uses, tuple[Problem, ...](), frozenset[str]()
    files: list[Path] = []
    if own is not None:
        validated = _validate(own, environ)
        uses += validated.uses
        declared = validated.value or Config()
        skills, flaws, files = complete_all(declared.skills, own, ("skills",))
        config = declared.model_copy(
            update={
                "clients": {**config.clients, **declared.clients},
                "models": {**config.models, **declared.models},
                "authorization": complete_entries(declared.authorization, own, ("authorization",)),
                "skills": skills,
            }
        )
        config, completed = complete_config(config, own)
        found = [*validated.problems, *flaws, *completed, *check_config(config, own)]
        problems = own.source.show(found, hidden(own.node, _SCHEMA.shape))
        unsure = _unsure(found, own.node)
    return LoadedConfig(
        config=config,
        root=root,
        path=None,
        problems=tuple(sorted(problems)),
        origins=dict(_origins(config, own, embedded)),
        uses=uses,
        unsure=unsure,
        document=own,
        files=tuple(files),
    )


def _unsure(problems: Iterable[Problem], root: nodes.Node) -> frozenset[str]:
    """The top-level keys below which problems are."""
    entries = root.entries if isinstance(root, nodes.Mapping) else {}
    starts = [(entry.key.line, entry.key.column) for entry in entries.values()]
    keys = ["", *entries]
    return frozenset(keys[bisect_right(starts, (one.line, one.column))] for one in problems)


def _validate(document: Document, environ: Mapping[str, str]) -> Validated[Config]:
    return validate(_SCHEMA, document.node, document.source, environ)


def _origins(config: Config, own: Document | None, embedded: Document) -> Iterator[tuple[str, str]]:
    for path in _leaves(config.model_dump(mode="json", exclude_none=True), ()):
        key = ".".join(map(str, path))
        if own is not None and (scalar := _written(own, path)):
            yield key, f"{own.source.path}:{scalar.line}{_variables(scalar)}"
        elif scalar := _written(embedded, path):
            yield key, f"{EMBEDDED_ORIGIN}{_variables(scalar)}"
        else:
            yield key, "default"


def _leaves(value: object, path: nodes.Path) -> Iterator[nodes.Path]:
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    else:
        yield path


def _written(document: Document, path: nodes.Path) -> nodes.Node | None:
    node: nodes.Node | None = document.node
    for item in path:
        node = nodes.child(node, item) if node else None
    return node


def _variables(node: nodes.Node) -> str:
    if not isinstance(node, nodes.Scalar):
        return ""
    names = dict.fromkeys(variable.name for variable in fill(node.text, {}).variables)
    return f" ({', '.join(names)})" if names else ""
