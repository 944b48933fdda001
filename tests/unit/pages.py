"""The pages of the documentation, for the tests that hold them against the code."""

from pathlib import Path

import pytest

from tests.example_project import REPOSITORY
from tests.markdown import PAGES, Page, Table, page

#: Files that examples name and that are not worth showing.
NAMED_FILES = {
    "agents/prompts/translator.md": "Translate the letter.\n",
    "agents/schemas/translation.json": '{"type": "object"}\n',
    "agents/letters/first.txt": "Dear reader,\n",
    "agents/handbook.md": "# Handbook\n",
    "agents/_offline/first.yaml": "[]\n",
    "agents/skills/house-style/examples/delivery.md": "Dear Ms Berg,\n",
}

#: What examples want to be set.
ENVIRON = {
    "ANTHROPIC_API_KEY": "none",
    "CRM_PASSWORD": "none",
    "SHOP_HOST": "shop.example.com",
    "SHOP_TOKEN": "none",
}

every_page = pytest.mark.parametrize("each", PAGES, ids=lambda each: each.name)


def project_of(each: Page, root: Path) -> Path:
    """Write a page's examples where they say they belong, with the first config that it shows."""
    configs = [block.text for block in each.blocks("yaml") if block.path == "config.yaml"]
    files = {
        **NAMED_FILES,
        "config.yaml": next(iter(configs), (REPOSITORY / "config.yaml").read_text("utf-8")),
        **{
            block.path: block.content
            for language in ("yaml", "python", "markdown")
            for block in each.blocks(language)
            if block.path not in {"", "config.yaml"}
        },
    }
    (root / "agents" / "python").mkdir(parents=True)
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return root


def table(name: str, heading: str, number: int = 0) -> Table:
    return page(name).tables(heading)[number]


DURABILITY, PYTHON = "docs/durability.md", "docs/python.md"
