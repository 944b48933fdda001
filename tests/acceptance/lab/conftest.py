"""The fixtures of the worker tests, for the laboratory."""

from tests.acceptance.worker.conftest import make_project

__all__ = ["make_project"]
