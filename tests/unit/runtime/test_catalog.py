from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runner.core.contributing import NoContributors
from runner.core.ports import ModelClient
from runner.core.tooling import Tool
from runner.definitions.snapshot import ResolvedAgent
from runner.definitions.tool import ToolDefinition
from runner.runtime.catalog import Catalog
from tests.unit.definitions.projects import load, write


def no_client(name: str) -> ModelClient:
    raise LookupError(name)


def no_tool(definition: ToolDefinition, agent: ResolvedAgent) -> Tool:
    raise LookupError(definition, agent)


def catalog_of(root: Path) -> Catalog:
    return Catalog(
        load=lambda: load(root, {}),
        client_of=no_client,
        tool_of=no_tool,
        skill_tools_of=lambda _: (),
        contributors_of=lambda _: NoContributors(),
    )


def test_what_is_in_force_follows_the_files_as_long_as_they_are_right(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    write(tmp_path, {"agents/a.yaml": "x: 1\n"})
    broken = catalog.in_force()
    write(tmp_path, {"agents/a.yaml": "description: One.\n"})
    first = catalog.in_force()
    write(tmp_path, {"agents/a.yaml": "description: Number two.\n"})
    second = catalog.in_force()
    write(tmp_path, {"agents/a.yaml": "y: 2\n"})
    last = catalog.in_force()

    assert not broken.is_sound
    assert first.registry.agent("a").description == "One."
    assert second.registry.agent("a").description == "Number two."
    assert last is second


def test_threads_that_ask_at_a_time_all_see_an_edit(tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path)
    write(tmp_path, {"agents/a.yaml": "name: a\n"})

    with ThreadPoolExecutor(8) as pool:
        for number in range(1, 20):
            write(tmp_path, {"agents/a.yaml": f"description: {'x' * number}\n"})
            found = pool.map(lambda _: catalog.in_force(), range(32))

            assert {len(one.registry.agent("a").description) for one in found} == {number}
