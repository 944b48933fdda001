from pathlib import Path

import pytest

from runner.definitions.python_references import (
    InstalledModule,
    ProjectModule,
    find_module,
    parse_reference,
)


def test_a_reference_is_taken_apart() -> None:
    reference = parse_reference("shop.orders:refund")

    assert (reference.module, reference.function) == ("shop.orders", "refund")


@pytest.mark.parametrize(
    "text", ["", "shop", "shop:", ":refund", "a..b:c", "a:b.c", "a b:c", "a:b()"]
)
def test_other_texts_are_no_references(text: str) -> None:
    with pytest.raises(ValueError, match="module:function"):
        parse_reference(text)


@pytest.mark.parametrize(
    ("module", "entry"),
    [("shop", "shop"), ("shop.orders", "shop.orders"), ("shop", "shop."), ("shop.a.b", "shop.")],
)
def test_a_module_or_its_package_may_be_listed(module: str, entry: str, tmp_path: Path) -> None:
    assert find_module(module, [entry], tmp_path) == InstalledModule(name=module)


@pytest.mark.parametrize(
    ("module", "entry"), [("os", "shop"), ("shop.orders", "shop"), ("shopping", "shop.")]
)
def test_what_is_not_listed_is_not_found(module: str, entry: str, tmp_path: Path) -> None:
    assert find_module(module, [entry], tmp_path) is None


def test_the_files_of_a_listed_folder_are_modules(tmp_path: Path) -> None:
    folder = tmp_path / "agents" / "python"
    (folder / "pack").mkdir(parents=True)
    for name in ("one.py", "pack/__init__.py", "pack/two.py"):
        (folder / name).write_text("")

    found = [find_module(name, ["agents/python"], tmp_path) for name in ("one", "pack", "pack.two")]

    paths = [folder / "one.py", folder / "pack" / "__init__.py", folder / "pack" / "two.py"]
    assert [one.path for one in found if isinstance(one, ProjectModule)] == paths
    assert find_module("os", ["agents/python"], tmp_path) is None


def test_a_link_out_of_the_project_is_no_module(tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("")
    folder = tmp_path / "project" / "tools"
    folder.mkdir(parents=True)
    (folder / "inside.py").symlink_to(tmp_path / "outside.py")

    assert find_module("inside", ["./tools"], tmp_path / "project") is None
