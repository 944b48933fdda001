"""The schema of a database: its version, and bringing it up to the one this program needs."""

from pathlib import Path
from typing import Final

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from runner.core.errors import SchemaMismatch
from runner.store.database import Database

_MIGRATIONS: Final = Path(__file__).with_name("migrations")
#: Held while the schema changes, so that processes that start together take turns.
_LOCK: Final = 7_021_964_113


def ensure_schema(database: Database, *, create: bool = False) -> None:
    """
    See that *database* has the schema this program needs.

    Args:
        database: The database to look at.
        create: Make the schema when the database is empty. Of several processes that find it so,
            one makes it and the others wait.

    Raises:
        SchemaMismatch: It has another schema, or none; the message names the command to run.
    """
    current = database.read(_version)
    needed = schema_version()
    if current == needed:
        return
    if current is None and create and database.read(_is_empty):
        upgrade_schema(database)
    elif current is None:
        raise SchemaMismatch(
            f"the database has no schema yet and this program needs {needed}; "
            "run `runner db upgrade`"
        )
    else:
        raise _mismatch(current, needed)


def upgrade_schema(database: Database) -> None:
    """
    Bring the schema of *database* to the version this program needs, in one transaction.

    Raises:
        SchemaMismatch: It is newer already.
    """
    database.write(_upgrade)


def schema_version() -> str:
    """Return the schema version this program needs."""
    return str(_scripts().get_current_head())


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    current = _version(connection)
    if current is not None and not _is_known(current):
        raise _mismatch(current, schema_version())
    config = _config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _version(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _is_empty(connection: Connection) -> bool:
    return not inspect(connection).get_table_names()


def _is_known(version: str) -> bool:
    return any(script.revision == version for script in _scripts().walk_revisions())


def _mismatch(current: str, needed: str) -> SchemaMismatch:
    if _is_known(current):
        return SchemaMismatch(
            f"the database has schema {current} and this program needs {needed}; "
            "run `runner db upgrade`"
        )
    return SchemaMismatch(
        f"the database has schema {current}, which is newer than this program's {needed}; "
        "upgrade the program"
    )


def _scripts() -> ScriptDirectory:
    return ScriptDirectory.from_config(_config())


def _config() -> Config:
    config = Config()
    # Alembic takes a per cent sign for the beginning of an interpolation.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
