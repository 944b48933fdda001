"""Makes the database that the agent `support` finds its accounts in, anew each time."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def main() -> None:
    """Make the database in the folder that DESK_FOLDER names, or in out/desk."""
    path = PROJECT / (os.environ.get("DESK_FOLDER") or "out/desk") / "accounts.db"
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.unlink(missing_ok=True)
    statements = (PROJECT / "agents" / "data" / "desk" / "accounts.sql").read_text("utf-8")
    with closing(sqlite3.connect(unfinished)) as connection:
        connection.executescript(statements)
    unfinished.replace(path)
    print(f"{path}: made")


if __name__ == "__main__":
    main()
