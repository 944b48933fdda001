"""Projects whose turns act and have others act."""

import json
import shutil
from pathlib import Path

from tests.acceptance.worker.project import Project

_TEMPLATE = Path(__file__).with_name("template")


def add_trees(project: Project) -> None:
    """Give the project an agent with a sub-agent, and its answers."""
    shutil.copytree(_TEMPLATE / "agents", project.root / "agents", dirs_exist_ok=True)
    with (project.root / "answers.yaml").open("a") as answers:
        answers.write((_TEMPLATE / "answers.yaml").read_text())


def use_claude(project: Project, url: str) -> None:
    """Have the model at *url* answer in place of the script."""
    settings = json.loads(project.config.read_text())
    settings["clients"] = {
        "claude": {"type": "anthropic", "api_key": "a key", "base_url": url, "max_attempts": 2}
    }
    settings["models"] = {"default": {"client": "claude", "model": "claude-sonnet-4-6"}}
    project.config.write_text(json.dumps(settings))
