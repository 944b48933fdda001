import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.core.errors import ConfigError, ToolError
from runner.core.jsonvalue import JsonObject
from runner.definitions.tool import BuiltinTool
from runner.tools.read_file import ReadFile, build
from runner.tools.surroundings import Surroundings
from tests.fakes.tools import tool_context

PATIENCE = 60


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "notes" / "deep").mkdir(parents=True)
    (root / "notes" / "a.txt").write_text("one\ntwo\nthree\n")
    (root / "notes" / "deep" / "b.txt").write_text("deep")
    (root / "notes" / ".env").write_text("KEY=hunter2")
    (root / "outer.txt").write_text("outside the folder")
    (tmp_path / "secret.txt").write_text("hunter2")
    return root


def tool(project: Path, root: str | None = "notes", max_bytes: int = 1_000) -> ReadFile:
    definition = BuiltinTool(name="read", builtin="read_file", root=root, max_bytes=max_bytes)
    return build(definition, Surroundings(root=project))


def read(reader: ReadFile, **arguments: str | int) -> JsonObject:
    assert reader.complaints(arguments) == ()
    return reader.invoke(arguments, tool_context())


def test_a_file_is_read_whole(project: Path) -> None:
    assert read(tool(project), path="a.txt") == {
        "path": "a.txt",
        "lines": 3,
        "text": "one\ntwo\nthree",
    }


def test_a_file_in_a_folder_is_read(project: Path) -> None:
    assert read(tool(project), path="./deep//b.txt")["text"] == "deep"


def test_the_folder_is_the_projects_when_none_is_named(project: Path) -> None:
    assert read(tool(project, root=None), path="notes/deep/b.txt")["text"] == "deep"


def test_an_empty_file_has_no_lines(project: Path) -> None:
    (project / "notes" / "empty").touch()

    assert read(tool(project), path="empty") == {"path": "empty", "lines": 0, "text": ""}


def test_bytes_that_are_no_text_are_replaced(project: Path) -> None:
    (project / "notes" / "image").write_bytes(b"\x89PNG\n\xff")

    assert read(tool(project), path="image")["text"] == "�PNG\n�"


@pytest.mark.parametrize(
    ("window", "expected"),
    [
        pytest.param({"offset": 2}, {"from_line": 2, "to_line": 3, "text": "two\nthree"}, id="on"),
        pytest.param({"limit": 2}, {"from_line": 1, "to_line": 2, "text": "one\ntwo"}, id="first"),
        pytest.param(
            {"offset": 2, "limit": 1}, {"from_line": 2, "to_line": 2, "text": "two"}, id="middle"
        ),
        pytest.param({"offset": 1, "limit": 99}, {"text": "one\ntwo\nthree"}, id="all-of-them"),
        pytest.param(
            {"offset": 3.0}, {"from_line": 3, "to_line": 3, "text": "three"}, id="as-a-float"
        ),
    ],
)
def test_lines_of_a_file_are_read(
    window: dict[str, int], expected: dict[str, object], project: Path
) -> None:
    assert read(tool(project), path="a.txt", **window) == {"path": "a.txt", "lines": 3, **expected}


def test_lines_that_are_not_there_are_refused(project: Path) -> None:
    with pytest.raises(ToolError, match=r"'a\.txt' has 3 lines, so none from line 4 on"):
        read(tool(project), path="a.txt", offset=4)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({}, id="no-path"),
        pytest.param({"path": 3}, id="a-path-that-is-no-text"),
        pytest.param({"path": "a", "offset": 0}, id="line-zero"),
        pytest.param({"path": "a", "limit": 0}, id="no-lines"),
        pytest.param({"path": "a", "mode": "w"}, id="an-unknown-argument"),
    ],
)
def test_arguments_that_do_not_fit_are_complained_about(
    arguments: JsonObject, project: Path
) -> None:
    assert len(tool(project).complaints(arguments)) == 1


@pytest.mark.parametrize("path", [".", "", "deep"])
def test_a_folder_is_listed(path: str, project: Path) -> None:
    listed = read(tool(project), path=path)["entries"]

    assert listed == (["b.txt"] if path == "deep" else ["a.txt", "deep/"])


def test_a_link_is_not_listed_as_the_folder_it_leads_to(project: Path) -> None:
    (project / "notes" / "deep" / "away").symlink_to(project.parent)

    assert read(tool(project), path="deep")["entries"] == ["away", "b.txt"]


def test_a_long_list_ends_and_says_how_many_are_left_out(project: Path) -> None:
    for number in range(510):
        (project / "notes" / "deep" / f"{number:03}").touch()

    listed = read(tool(project), path="deep")

    assert listed["entries"] == [f"{number:03}" for number in range(500)]
    assert listed["entries_left_out"] == 11


def test_a_file_of_just_the_size_is_read(project: Path) -> None:
    (project / "notes" / "full").write_text("x" * 1_000)

    assert read(tool(project), path="full")["text"] == "x" * 1_000


def test_a_file_over_the_size_is_refused(project: Path) -> None:
    (project / "notes" / "full").write_text("x" * 1_001)

    with pytest.raises(ToolError, match="'full' is longer than the 1,000 bytes that are read"):
        read(tool(project), path="full")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        pytest.param("../outer.txt", "leads out of the folder", id="up"),
        pytest.param("deep/../../outer.txt", "leads out of the folder", id="down-and-up"),
        pytest.param("deep/../a.txt", "leads out of the folder", id="up-within"),
        pytest.param("/etc/passwd", "leads out of the folder", id="absolute"),
        pytest.param("link", "symbolic link", id="a-link-to-a-file"),
        pytest.param("way/secret.txt", "symbolic link|as if it were a folder", id="through-a-link"),
        pytest.param("within", "symbolic link", id="a-link-that-stays-within"),
        pytest.param(".env", "is hidden", id="a-hidden-file"),
        pytest.param(".git/config", "is hidden", id="in-a-hidden-folder"),
        pytest.param("nowhere.txt", "does not exist", id="not-there"),
        pytest.param("a.txt/b", "leads through a file", id="through-a-file"),
        pytest.param("x" * 300, "too long a path", id="too-long"),
        pytest.param("a\x00b", "is no path", id="with-a-nul"),
        pytest.param("\ud800", "is no path", id="with-a-lone-surrogate"),
        pytest.param("pipe", "neither a file nor a folder", id="a-pipe"),
    ],
)
def test_what_is_not_a_file_beneath_the_folder_is_refused(
    path: str, reason: str, project: Path
) -> None:
    notes = project / "notes"
    (notes / "link").symlink_to(project.parent / "secret.txt")
    (notes / "way").symlink_to(project.parent)
    (notes / "within").symlink_to(notes / "a.txt")
    os.mkfifo(notes / "pipe")

    with pytest.raises(ToolError, match=reason):
        read(tool(project), path=path)


def test_what_cannot_be_opened_for_another_reason_is_refused(project: Path) -> None:
    (project / "notes" / "a.txt").chmod(0)
    reader = tool(project)

    if os.geteuid() == 0:
        assert read(reader, path="a.txt")["lines"] == 3
    else:
        with pytest.raises(ToolError, match="may not be read"):
            read(reader, path="a.txt")


def test_a_folder_that_is_gone_is_refused(project: Path) -> None:
    reader = tool(project, root="notes/deep")
    (project / "notes" / "deep" / "b.txt").unlink()
    (project / "notes" / "deep").rmdir()

    with pytest.raises(ToolError, match=r"'b\.txt' does not exist"):
        read(reader, path="b.txt")


@pytest.fixture
def swapping(project: Path) -> Iterator[Path]:
    """A folder that is by turns a real one and a link that leads out."""
    place, real = project / "notes" / "turn", project / "notes" / "real"
    real.mkdir()
    (real / "secret.txt").write_text("harmless")
    link = project / "notes" / "link"
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            real.rename(place)
            place.rename(real)
            link.symlink_to(project.parent)
            link.rename(place)
            place.unlink()

    thread = threading.Thread(target=swap)
    thread.start()
    yield place
    done.set()
    thread.join(PATIENCE)


def test_a_folder_swapped_for_a_link_at_any_moment_leads_nowhere(
    swapping: Path, project: Path
) -> None:
    reader = tool(project)
    seen = set[object]()

    for _ in range(3_000):
        try:
            seen.add(read(reader, path="turn/secret.txt")["text"])
        except ToolError:
            seen.add(None)

    assert seen <= {"harmless", None}


def test_nothing_stays_open_after_reading_and_refusing(project: Path) -> None:
    reader = tool(project)
    read(reader, path="a.txt")
    before = len(list(Path("/dev/fd").iterdir()))

    for path in ["a.txt", "deep/b.txt", ".", "deep", "deep/none", "../x", "a.txt/b"]:
        try:
            read(reader, path=path)
        except ToolError:
            continue

    assert len(list(Path("/dev/fd").iterdir())) == before


@pytest.mark.parametrize("root", ["nowhere", "outer.txt", "..", "/tmp"])  # noqa: S108 - a path to refuse
def test_a_root_that_is_no_folder_of_the_project_is_reported(root: str, project: Path) -> None:
    with pytest.raises(ConfigError, match=r"tool 'read' reads from .* no folder of the project"):
        tool(project, root=root)


def test_a_root_that_is_a_link_out_of_the_project_is_reported(project: Path) -> None:
    (project / "away").symlink_to(project.parent)

    with pytest.raises(ConfigError, match="no folder of the project"):
        tool(project, root="away")


def test_declared_parameters_are_reported(project: Path) -> None:
    definition = BuiltinTool(name="read", builtin="read_file", parameters={"path": "string"})

    with pytest.raises(ConfigError, match="tool 'read' cannot declare parameters: read_file has"):
        build(definition, Surroundings(root=project))


def test_it_describes_itself_unless_the_definition_does(project: Path) -> None:
    described = BuiltinTool(name="read", builtin="read_file", description="Read the notes.")

    assert tool(project).spec.description.startswith("Read a text file")
    assert build(described, Surroundings(root=project)).spec.description == "Read the notes."
