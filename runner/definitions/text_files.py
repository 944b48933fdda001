"""Texts that stand in a file of their own, named by a key that ends in `_file`."""

from pathlib import Path as FilePath

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.document import Document
from runner.definitions.nodes import Path
from runner.definitions.paths import read_text
from runner.definitions.problem import Problem


def read_text_of(
    key: str, path: str, document: Document, at: Path
) -> tuple[str | None, FilePath | None, list[Problem]]:
    """
    Return the text for *key*, the file that it is read from, and what is wrong with either.

    Args:
        key: The key that the text could have stood at itself.
        path: The file, as it is named.
        document: Where it is named.
        at: The mapping in it that has the key.
    """
    place = (*at, f"{key}_file")
    if document.has((*at, key)):
        message = f"only one of {key} and {key}_file may be given"
        return None, None, [document.problem(place, Code.KEY_CONFLICT, message, at_key=True)]
    try:
        file = _another_file(path, document)
        return read_text(file), file, []
    except PathRefused as refused:
        return None, None, [document.problem(place, Code.named(refused.code), str(refused))]


def _another_file(path: str, document: Document) -> FilePath:
    file = document.base.resolve(path)
    if file == document.file.resolve():
        raise PathRefused(Code.RECURSIVE_FILE, "the file names itself")
    return file
