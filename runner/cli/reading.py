"""The project's files, for commands that need nothing else."""

import os
from pathlib import Path

import typer

from runner.definitions.config_loader import LoadedConfig, load_config
from runner.definitions.project import Project, load_project


def config_path(ctx: typer.Context) -> Path | None:
    """Return what `--config` named."""
    return ctx.obj if isinstance(ctx.obj, Path) else None


def read_config(ctx: typer.Context) -> LoadedConfig:
    """
    Read the config.

    Raises:
        ConfigError: It is named and cannot be read.
    """
    return load_config(config_path(ctx), environ=os.environ, cwd=Path.cwd())


def read_project(ctx: typer.Context) -> Project:
    """
    Read the config and the definitions, right or wrong.

    Raises:
        ConfigError: The config is named and cannot be read.
    """
    return load_project(read_config(ctx), environ=os.environ)
