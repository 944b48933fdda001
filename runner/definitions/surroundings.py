"""What a definition may refer to."""

from dataclasses import dataclass
from pathlib import Path

from runner.definitions.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The project around a definition, as far as it could be read."""

    root: Path
    config: Config
    #: The top-level keys of the config of which something could not be read.
    unsure: frozenset[str]
    #: The names of all tools with a file, those that are broken included.
    tools: frozenset[str]
