import os
from pathlib import Path

import pytest

from runner.core.errors import PathRefused
from runner.definitions.codes import Code
from runner.definitions.paths import Base, expand, read_file, read_text


def base(root: Path, folder: str = "") -> Base:
    return Base(root=root.resolve(), folder=root.resolve() / folder)


def refused(base: Base, text: str) -> str:
    with pytest.raises(PathRefused) as raised:
        base.resolve(text)
    return raised.value.code


def test_a_path_starts_at_the_file_that_names_it(tmp_path: Path) -> None:
    here = base(tmp_path, "agents")

    assert here.resolve("prompts/a.md") == tmp_path / "agents" / "prompts" / "a.md"
    assert here.resolve("../shared/a.md") == tmp_path / "shared" / "a.md"


@pytest.mark.parametrize("text", ["/etc/passwd", "../../etc/passwd", "a/../../b", "C:\\x", "C:x"])
def test_a_path_may_not_leave_the_project(text: str, tmp_path: Path) -> None:
    assert refused(base(tmp_path), text) == Code.PATH_OUTSIDE


def test_a_link_may_not_leave_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.md").write_text("x")
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    (project / "up").symlink_to(tmp_path)

    assert refused(base(project), "link.md") == Code.PATH_OUTSIDE
    assert refused(base(project), "up/secret.md") == Code.PATH_OUTSIDE


def test_a_link_within_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("x")
    (tmp_path / "link.md").symlink_to("real.md")

    assert base(tmp_path).resolve("link.md") == tmp_path / "real.md"


def test_a_path_that_cannot_be_followed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")

    assert refused(base(tmp_path), "a/x") == Code.UNREADABLE_FILE
    assert refused(base(tmp_path), "nul\0") == Code.UNREADABLE_FILE


def test_a_folder_is_named_from_the_project(tmp_path: Path) -> None:
    (tmp_path / "agents" / "data").mkdir(parents=True)

    assert base(tmp_path, "agents").folder_at("data") == "agents/data"
    assert base(tmp_path, "agents").folder_at("..") == "."
    with pytest.raises(PathRefused, match="no such folder"):
        base(tmp_path).folder_at("missing")


def test_a_text_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("\ufeffé".encode())

    assert read_text(path) == "é"


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"x" * 1_000_001, Code.FILE_TOO_LARGE),
        (b"\xff", Code.NOT_TEXT),
        (b"a\0b", Code.NOT_TEXT),
    ],
)
def test_what_is_no_text_is_refused(content: bytes, code: Code, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(content)

    with pytest.raises(PathRefused) as raised:
        read_text(path)

    assert raised.value.code == code


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_text("")

    for name, code in {
        "pipe": Code.UNREADABLE_FILE,
        "": Code.UNREADABLE_FILE,
        "missing": Code.MISSING_FILE,
        "file/below": Code.UNREADABLE_FILE,
        "x" * 300: Code.UNREADABLE_FILE,
    }.items():
        with pytest.raises(PathRefused) as raised:
            read_file(tmp_path / name)
        assert raised.value.code == code


def test_a_pattern_stands_for_the_files_it_matches(tmp_path: Path) -> None:
    for name in ("b.yaml", "a.yaml", "c.txt"):
        (tmp_path / name).write_text("")

    assert expand(base(tmp_path), "*.yaml") == (tmp_path / "a.yaml", tmp_path / "b.yaml")
    assert expand(base(tmp_path), "c.txt") == (tmp_path / "c.txt",)
    assert expand(base(tmp_path), "missing/*.yaml") == ()


@pytest.mark.parametrize(
    ("pattern", "code"),
    [
        ("missing.yaml", Code.MISSING_FILE),
        ("../*.yaml", Code.PATH_OUTSIDE),
        ("/etc/*.yaml", Code.PATH_OUTSIDE),
        ("a**b/*", Code.BAD_VALUE),
    ],
)
def test_a_pattern_may_not_lead_astray(pattern: str, code: Code, tmp_path: Path) -> None:
    with pytest.raises(PathRefused) as raised:
        expand(base(tmp_path), pattern)

    assert raised.value.code == code


def test_a_pattern_does_not_match_links_out_of_the_project(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "secret.yaml").write_text("")
    (project / "link.yaml").symlink_to(tmp_path / "secret.yaml")

    with pytest.raises(PathRefused, match="outside"):
        expand(base(project), "*.yaml")
