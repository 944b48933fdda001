"""Where tools are built."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a tool's definition does not say and its kind has to know."""

    #: The project folder.
    root: Path
    #: The modules, packages and folders whose functions a definition may name.
    python_modules: tuple[str, ...] = ()
