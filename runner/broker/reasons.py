"""Why a broker did not do what was asked, in words."""

from collections.abc import Iterator
from types import MappingProxyType
from typing import Final

#: What the errors of the brokers' libraries mean; those libraries may not be installed.
_MEANINGS: Final = MappingProxyType(
    {
        "AuthenticationError": "it does not accept the user and the password",
        "ProbableAuthenticationError": "it does not accept the user and the password",
        "ProbableAccessDeniedError": "it has no such virtual host for this user",
        "gaierror": "its host name is not known",
        "AMQPConnectorStackTimeout": "it does not answer; is it running?",
        "TimeoutError": "it does not answer; is it running?",
    }
)


def reason_of(error: BaseException) -> str:
    """
    Say what lies at the bottom of *error*.

    Only words of our own and of the system are used: a library's text may hold what the URL does.
    """
    found = tuple(_inside(error))
    for one in found:
        for kind in type(one).__mro__:
            if kind.__name__ in _MEANINGS:
                return _MEANINGS[kind.__name__]
    for one in found:
        if isinstance(one, OSError) and one.strerror:
            question = "; is it running?" if isinstance(one, ConnectionRefusedError) else ""
            return f"{one.strerror.lower()}{question}"
    return type(error).__name__


def _inside(error: BaseException) -> Iterator[BaseException]:
    """Yield *error* and all that it wraps: in its arguments, in pika's way, or as its cause."""
    yield error
    wrapped = getattr(error, "exception", None)
    for inner in (*error.args, wrapped, error.__cause__ or error.__context__):
        if isinstance(inner, BaseException):
            yield from _inside(inner)
