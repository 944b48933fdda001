"""A flag for those who run something that may be given up."""

from runner.tools.cancel import CancelFlag


def never() -> CancelFlag:
    """A flag that nobody has set."""
    return CancelFlag()
