"""What is declared about the distribution, held against what is pinned and shipped."""

import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.architecture.source import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DECLARED = [
    Requirement(line)
    for lines in [PROJECT["dependencies"], *PROJECT["optional-dependencies"].values()]
    for line in lines
]
PINS = [
    line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")
]
VERSIONS = {
    canonicalize_name(name): version for name, _, version in (pin.partition("==") for pin in PINS)
}


@pytest.mark.parametrize("declared", DECLARED, ids=str)
def test_a_declared_package_is_pinned_within_its_range(declared: Requirement) -> None:
    assert declared.specifier.contains(VERSIONS[canonicalize_name(declared.name)])


@pytest.mark.parametrize("pin", PINS)
def test_a_pin_is_one_version_and_says_not_where_from(pin: str) -> None:
    requirement = Requirement(pin)

    assert [part.operator for part in requirement.specifier] == ["=="]
    assert requirement.url is None
