"""All that a project's files define, and all that is wrong with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runner.core.errors import DefinitionError
from runner.definitions.authorization import authorization_problems, is_policed
from runner.definitions.config import Config
from runner.definitions.config_loader import LoadedConfig
from runner.definitions.config_references import references_of_config
from runner.definitions.definition_file import read_definitions
from runner.definitions.filling import VariableUse
from runner.definitions.kinds import Definition
from runner.definitions.problem import Location, Problem
from runner.definitions.references import References, check_config, surroundings_of
from runner.definitions.registry import Registry
from runner.definitions.scan import digest_of, scan, stats_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """What was found in a project's folder at one moment."""

    #: Without symlinks.
    root: Path
    config: Config
    #: The definitions without an error.
    registry: Registry
    #: Of the config and of all definitions, in file and line order.
    problems: tuple[Problem, ...]
    #: Changes when a file does.
    fingerprint: str
    #: Every variable the files mention.
    uses: tuple[VariableUse, ...]
    #: The files outside the agents folder that were read: the config, instructions, schemas.
    files: tuple[Path, ...]
    #: The config as it was read, with its places.
    loaded: LoadedConfig = field(repr=False)
    #: Whether any file, sound or not, speaks of policies.
    is_policed: bool = False

    @property
    def is_sound(self) -> bool:
        return not any(problem.is_error for problem in self.problems)

    def ensure_sound(self) -> None:
        """
        Refuse to go on with definitions that have an error.

        Raises:
            DefinitionError: There are errors; the message counts them and names the command.
        """
        errors = [problem for problem in self.problems if problem.is_error]
        if errors:
            count = "1 problem" if len(errors) == 1 else f"{len(errors)} problems"
            first = errors[0]
            raise DefinitionError(
                f"the definitions have {count}, first at {first.location}: {first.message};"
                " run `runner validate` to see all"
            )

    def has_changed(self) -> bool:
        """Whether a file was added, removed or edited since the project was loaded."""
        return fingerprint(self.root, self.config, also=self.files) != self.fingerprint


def fingerprint(root: Path, config: Config, *, also: Iterable[Path] = ()) -> str:
    """A text that changes when a definition file, or one of some other files, does."""
    found = scan(root, root / config.agents_dir)
    return digest_of([*stats_of(found.files), *stats_of(found.beside), *stats_of(also)])


def load_project(loaded: LoadedConfig, *, environ: Mapping[str, str]) -> Project:
    """Read all definitions of a project; whatever is wrong is among its problems."""
    found = scan(loaded.root, loaded.root / loaded.config.agents_dir)
    before = stats_of([*found.files, *found.beside])
    files = [read_definitions(path, loaded.root, environ) for path in found.files]
    surroundings = surroundings_of(files, loaded)
    references = References(surroundings)
    problems = [
        *loaded.problems,
        *check_config(loaded, surroundings),
        *authorization_problems(loaded, surroundings),
        *references_of_config(loaded, surroundings),
        *found.problems,
    ]
    sound: list[tuple[Definition, Location]] = []
    for file in files:
        more: list[Problem] = []
        for draft in file.drafts:
            flaws = references.check(draft)
            more += flaws
            definition = draft.reading.definition
            is_sound = not any(flaw.is_error for flaw in (*draft.reading.problems, *flaws))
            if definition is not None and is_sound:
                sound.append((definition, draft.location))
        problems += file.show(more)
    readings = [draft.reading for file in files for draft in file.drafts]
    also = [path for reading in readings for path in reading.files]
    also += [*loaded.files, loaded.path] if loaded.path else []
    return Project(
        root=loaded.root,
        config=loaded.config,
        registry=Registry.of(sound),
        problems=tuple(sorted(problems)),
        fingerprint=digest_of([*before, *stats_of(also)]),
        uses=(*loaded.uses, *(use for reading in readings for use in reading.uses)),
        files=tuple(also),
        is_policed=bool(loaded.config.authorization)
        or any(is_policed(draft) for file in files for draft in file.drafts),
        loaded=loaded,
    )
