"""Where contributors are brought to life."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType

from runner.core.clock import Clock
from runner.outbound.addresses import Reach
from runner.outbound.databases import ReadOnlyDatabase


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a contributor's definition does not say and its kind has to know."""

    #: The project folder.
    root: Path
    clock: Clock
    #: What variables hold; read when they are used, and kept nowhere.
    environ: Mapping[str, str] = field(repr=False)
    reach: Reach
    #: Finds a database that the config names; raises ConfigError where there is none any more.
    database_of: Callable[[str], ReadOnlyDatabase]
    #: Imports a function that the config allows; raises ConfigError where it cannot be.
    function_of: Callable[[str], FunctionType]
