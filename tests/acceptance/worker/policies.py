"""Policies that a project's operator declares."""

import json
from textwrap import indent

from tests.acceptance.worker.project import Project


def declare(project: Project, rules: str) -> None:
    """Let these rules, a YAML list, be the operator's from now on; workers notice by themselves."""
    text = f"kind: policy\nrules:\n{indent(rules, '  ')}"
    part = project.root / "rules.part"
    part.write_text(text)
    part.rename(project.root / "agents" / "rules.yaml")
    settings = json.loads(project.config.read_text())
    if "authorization" not in settings:
        project.config.write_text(json.dumps({**settings, "authorization": ["rules"]}))
