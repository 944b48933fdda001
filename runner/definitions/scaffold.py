"""The first files of a new agent, tool, contributor, policy or skill."""

import keyword
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from runner.core.errors import UsageError
from runner.definitions.config import Config
from runner.definitions.python_references import is_folder
from runner.definitions.scalars import NAME_PATTERN
from runner.definitions.skill import SKILL_NAME_PATTERN
from runner.definitions.skill_files import NAMES

_AGENT: Final = """\
# yaml-language-server: $schema={schema}
name: {name}
description: What {name} is for, in one sentence.
model: {model}
instructions: |
  Say here what the agent has to do, and how.
tools: []
"""
_PYTHON_TOOL: Final = """\
# yaml-language-server: $schema={schema}
kind: tool
name: {name}
description: What {name} does, for the model that calls it.
python: {function}:{function}
parameters:
  text: string
"""
_BUILTIN_TOOL: Final = """\
# yaml-language-server: $schema={schema}
kind: tool
name: {name}
description: Reads a text file of this project.
builtin: read_file
"""
_POLICY: Final = """\
# yaml-language-server: $schema={schema}
kind: policy
name: {name}
description: What {name} is for, in one sentence.
rules:
  # The strictest rule that applies decides: deny, then ask, then allow.
  - effect: deny
    tools: ["mail_*"]
    reason: Say here why, and what to do in its place. The model reads it.
"""
_SKILL: Final = """\
---
name: {name}
description: What {name} is good for. Use it when somebody asks for that.
---

# {title}

Say here, step by step, how the work is done, and how a good result looks. What is long or seldom
needed goes into files of this folder, which an agent reads when it needs them.
"""
_PYTHON_CONTEXT: Final = """\
# yaml-language-server: $schema={schema}
kind: context
name: {name}
description: What {name} tells, in a few words, for the model.
python: {function}:{function}
timeout: 10s
on_error: fail
"""
_TEXT_CONTEXT: Final = """\
# yaml-language-server: $schema={schema}
kind: context
name: {name}
description: What {name} tells, in a few words, for the model.
text: |
  Say here what the agent has to know.
"""
_CONTEXT_MODULE: Final = '''\
"""The contributor {name}."""

from runner import ContributorContext


def {function}(context: ContributorContext) -> str:
    """Replace this with what is to be told."""
    return f"This is for {{context.agent}}."
'''
_MODULE: Final = '''\
"""The tool {name}."""


def {function}(text: str) -> dict[str, object]:
    """Replace this with what the tool does."""
    return {{"text": text}}
'''


def new_agent(name: str, *, root: Path, config: Config) -> Mapping[Path, str]:
    """
    The file of a new agent, by its path.

    Raises:
        UsageError: The name is not one.
    """
    _check_name(name)
    folder = root / config.agents_dir
    text = _AGENT.format(
        name=name, model=config.defaults.model, schema=_schema("agent", folder, root)
    )
    return {folder / f"{name}.yaml": text}


def new_tool(name: str, *, root: Path, config: Config) -> Mapping[Path, str]:
    """
    The files of a new tool, by their paths: in Python where the config lists a folder for it.

    Raises:
        UsageError: The name is not one.
    """
    _check_name(name)
    folder = root / config.agents_dir
    path, schema = folder / f"{name}.yaml", _schema("tool", folder, root)
    modules = next((entry for entry in config.python_modules if is_folder(entry)), None)
    if modules is None:
        return {path: _BUILTIN_TOOL.format(name=name, schema=schema)}
    function = _identifier(name, "tool")
    return {
        path: _PYTHON_TOOL.format(name=name, schema=schema, function=function),
        root / modules / f"{function}.py": _MODULE.format(name=name, function=function),
    }


def new_context(name: str, *, root: Path, config: Config) -> Mapping[Path, str]:
    """
    The files of a new contributor, by their paths: in Python like a new tool.

    Raises:
        UsageError: The name is not one.
    """
    _check_name(name)
    folder = root / config.agents_dir
    path, schema = folder / f"{name}.yaml", _schema("context", folder, root)
    modules = next((entry for entry in config.python_modules if is_folder(entry)), None)
    if modules is None:
        return {path: _TEXT_CONTEXT.format(name=name, schema=schema)}
    function = _identifier(name, "context")
    return {
        path: _PYTHON_CONTEXT.format(name=name, schema=schema, function=function),
        root / modules / f"{function}.py": _CONTEXT_MODULE.format(name=name, function=function),
    }


def new_policy(name: str, *, root: Path, config: Config) -> Mapping[Path, str]:
    """
    The file of a new policy, by its path.

    Raises:
        UsageError: The name is not one.
    """
    _check_name(name)
    folder = root / config.agents_dir
    text = _POLICY.format(name=name, schema=_schema("policy", folder, root))
    return {folder / f"{name}.yaml": text}


def new_skill(name: str, *, root: Path, config: Config) -> Mapping[Path, str]:
    """
    The file of a new skill, by its path.

    Raises:
        UsageError: The name is not one.
    """
    _check_name(name)
    if not re.fullmatch(SKILL_NAME_PATTERN, name):
        raise UsageError(
            f"{name!r} is not a skill's name: use a-z, 0-9 and single hyphens between them"
        )
    title = name.replace("-", " ").capitalize()
    path = root / config.agents_dir / "skills" / name / NAMES[0]
    return {path: _SKILL.format(name=name, title=title)}


def write_new(files: Mapping[Path, str]) -> None:
    """
    Write files, none of which may exist.

    Raises:
        UsageError: One exists; nothing was written.
    """
    for path in files:
        if path.exists():
            raise UsageError(f"{str(path)!r} exists already; choose another name or remove it")
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN.removesuffix("$"), name):
        raise UsageError(
            f"{name!r} is not a name: use at most 64 of a-z, 0-9, _ and -, starting with a-z or 0-9"
        )


def _schema(kind: str, folder: Path, root: Path) -> str:
    return Path(os.path.relpath(root / "schemas" / f"{kind}.schema.json", folder)).as_posix()


def _identifier(name: str, kind: str) -> str:
    """The nearest name that Python takes for a function and a module."""
    word = name.replace("-", "_")
    if word[0].isdigit():
        return f"{kind}_{word}"
    return f"{word}_{kind}" if keyword.iskeyword(word) else word
