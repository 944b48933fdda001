import os
import sys
import threading
from pathlib import Path
from textwrap import dedent
from types import FunctionType

import pytest

from runner.core.errors import ConfigError
from runner.tools.loading import load_function
from runner.tools.surroundings import Surroundings
from tests.unit.tools import values

PATIENCE = 60
FOLDER = "agents/python"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / FOLDER
    folder.mkdir(parents=True)
    return tmp_path


def write(project: Path, name: str, source: str) -> None:
    path = project / FOLDER / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(dedent(source))


def load(reference: str, root: Path, *modules: str) -> FunctionType:
    return load_function(
        reference, Surroundings(root=root, python_modules=modules or (f"{FOLDER}/",))
    )


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param("tests.unit.tools.values", id="the-module-itself"),
        pytest.param("tests.unit.", id="a-package-around-it"),
    ],
)
def test_a_function_of_a_listed_module_is_found(listed: str, project: Path) -> None:
    found = load("tests.unit.tools.values:nested", project, listed)

    assert found is values.nested


@pytest.mark.parametrize(
    "listed",
    [
        pytest.param((), id="nothing"),
        pytest.param(("tests.unit.tools",), id="only-the-package-itself"),
        pytest.param(("tests.unit.tools.value.",), id="a-name-that-only-begins-alike"),
    ],
)
def test_a_module_that_is_not_listed_is_not_imported(
    listed: tuple[str, ...], project: Path
) -> None:
    surroundings = Surroundings(root=project, python_modules=listed)

    with pytest.raises(ConfigError, match="does not list the module 'tests"):
        load_function("tests.unit.tools.values:nested", surroundings)


def test_a_function_of_a_listed_folder_is_found(project: Path) -> None:
    write(project, "notes.py", "def save(): return 'saved'")

    assert load("notes:save", project)() == "saved"


def test_a_module_of_a_listed_folder_is_imported_once(project: Path) -> None:
    write(project, "notes.py", "def save(): ...")

    assert load("notes:save", project) is load("notes:save", project)


def test_a_file_added_within_a_tick_of_the_file_systems_clock_is_found(project: Path) -> None:
    folder = project / FOLDER
    write(project, "first.py", "def go(): return 1")
    then = folder.stat()
    load("first:go", project)
    write(project, "second.py", "def go(): return 2")
    os.utime(folder, ns=(then.st_atime_ns, then.st_mtime_ns))

    assert load("second:go", project)() == 2


def test_modules_of_a_listed_folder_import_each_other_relatively(project: Path) -> None:
    write(project, "shared/__init__.py", "GREETING = 'hello'")
    write(project, "shared/words.py", "from . import GREETING\ndef greet(): return GREETING")
    write(
        project,
        "notes.py",
        """
        from .shared.words import greet
        def save(): return greet()
        """,
    )

    assert load("notes:save", project)() == "hello"
    assert load("shared.words:greet", project)() == "hello"


def test_an_import_of_a_neighbour_by_its_bare_name_is_explained(project: Path) -> None:
    write(project, "helpers.py", "")
    write(project, "notes.py", "import helpers\ndef save(): ...")

    with pytest.raises(
        ConfigError, match="'notes' imports 'helpers', which stands beside it: write that as 'from"
    ):
        load("notes:save", project)


def test_a_listed_folder_changes_nothing_for_other_imports(project: Path) -> None:
    write(project, "json.py", "def dumps(): return 'ours'")
    before = list(sys.path)

    ours = load("json:dumps", project)

    assert ours() == "ours"
    assert sys.path == before
    assert sys.modules["json"].__file__ != str(project / FOLDER / "json.py")


def test_two_projects_may_have_modules_of_the_same_name(tmp_path: Path) -> None:
    for name in ["one", "two"]:
        folder = tmp_path / name / FOLDER
        folder.mkdir(parents=True)
        (folder / "notes.py").write_text(f"def which(): return {name!r}")

    assert [load("notes:which", tmp_path / name)() for name in ["one", "two"]] == ["one", "two"]


def test_many_threads_may_load_the_same_folder_at_once(project: Path) -> None:
    write(project, "notes.py", "def save(): ...")
    start = threading.Barrier(8)
    found = list[FunctionType]()

    def load_it() -> None:
        start.wait(PATIENCE)
        found.append(load("notes:save", project))

    threads = [threading.Thread(target=load_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert found == [found[0]] * 8


def test_a_folder_that_leads_out_of_the_project_holds_no_modules(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "agents").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "notes.py").write_text("def save(): ...")
    (project / FOLDER).symlink_to(outside)

    with pytest.raises(ConfigError, match="does not list the module 'notes'"):
        load("notes:save", project)


FUNCTIONS = """
    import functools
    import os
    from os import system
    from json import dumps as write
    from functools import partial

    def plain(): ...
    quick = lambda: None
    alias = plain
    joined = os.path.join
    half = partial(plain)

    class Thing:
        def method(self): ...

    instance = Thing()

    def unwrapped(function):
        def inner(): ...
        inner.__module__ = "elsewhere"
        return inner

    def wrapped(function):
        @functools.wraps(function)
        def inner(): return function()
        return inner

    @unwrapped
    def lost(): ...

    @wrapped
    def kept(): ...

    def stream():
        yield 1

    async def flow():
        yield 1

    def __call__(): ...

    def __getattr__(name):
        return plain
"""


@pytest.mark.parametrize("name", ["plain", "alias", "kept"])
def test_functions_defined_in_the_module_may_be_named(name: str, project: Path) -> None:
    write(project, "given.py", FUNCTIONS)

    assert callable(load(f"given:{name}", project))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        pytest.param("missing", "there is no function 'missing' in 'given'", id="not-there"),
        pytest.param("Thing", "there is no function 'Thing'", id="a-class"),
        pytest.param("instance", "there is no function 'instance'", id="an-object"),
        pytest.param("half", "there is no function 'half'", id="a-partial-function"),
        pytest.param("os", "there is no function 'os'", id="a-module"),
        pytest.param("system", "there is no function 'system'", id="a-function-written-in-c"),
        pytest.param("__call__", "there is no function '__call__'", id="a-name-with-a-meaning"),
        pytest.param("write", "not defined in 'given' but comes from 'json'", id="imported"),
        pytest.param("joined", "not defined in 'given' but comes from 'posixpath'", id="assigned"),
        pytest.param("lost", "not defined in 'given' but comes from 'elsewhere'", id="decorated"),
        pytest.param("quick", "it is a lambda", id="a-lambda"),
        pytest.param("stream", "the function yields", id="a-generator"),
        pytest.param("flow", "the function yields", id="an-async-generator"),
    ],
)
def test_anything_else_in_the_module_is_refused(name: str, reason: str, project: Path) -> None:
    write(project, "given.py", FUNCTIONS)

    with pytest.raises(ConfigError, match=reason):
        load(f"given:{name}", project)


def test_a_system_call_is_refused_even_when_its_module_is_listed(project: Path) -> None:
    with pytest.raises(ConfigError, match="there is no function 'system' in 'os'"):
        load("os:system", project, "os")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("import nowhere", "ModuleNotFoundError", id="lacks"),
        pytest.param("1 / 0", "ZeroDivisionError", id="raises"),
        pytest.param("raise SystemExit(1)", "SystemExit: 1", id="exits"),
        pytest.param("def broken(:", "SyntaxError", id="is-no-python"),
    ],
)
def test_a_module_that_cannot_be_imported_is_reported(
    source: str, reason: str, project: Path
) -> None:
    write(project, "notes.py", source)

    with pytest.raises(ConfigError, match=f"importing 'notes' failed: {reason}"):
        load("notes:save", project)
