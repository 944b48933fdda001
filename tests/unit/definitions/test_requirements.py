from runner.definitions.filling import VariableUse
from runner.definitions.interpolation import Variable
from runner.definitions.requirements import requirements


def use(path: str, line: int, name: str, *, is_set: bool, has_default: bool) -> VariableUse:
    variable = Variable(name=name, is_set=is_set, has_default=has_default)
    return VariableUse(path=path, line=line, variable=variable)


def test_each_file_and_variable_is_listed_once() -> None:
    found = requirements(
        [
            use("b.yaml", 9, "A", is_set=False, has_default=True),
            use("b.yaml", 2, "A", is_set=False, has_default=False),
            use("a.yaml", 1, "B", is_set=True, has_default=False),
            use("a.yaml", 3, "A", is_set=False, has_default=True),
        ]
    )

    assert [
        (one.path, one.name, one.line, one.is_set, one.is_required, one.is_met) for one in found
    ] == [
        ("a.yaml", "A", 3, False, False, True),
        ("a.yaml", "B", 1, True, True, True),
        ("b.yaml", "A", 2, False, True, False),
    ]
