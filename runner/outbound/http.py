"""Requests over HTTP to addresses that were checked, within one time limit and one size."""

import http.client
import re
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.message import Message
from functools import cache
from typing import Final, Literal
from urllib.parse import SplitResult, urljoin, urlsplit

import httpx2

from runner.core.errors import OutboundError, OutboundRefused
from runner.outbound.addresses import Reach, Resolver, allowed_addresses, resolve
from runner.outbound.limit import Limit
from runner.outbound.line import connected

_PORTS: Final = {"http": 80, "https": 443}
_UNFIT: Final = re.compile(r"[^\x21-\x7e]|\\")
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_CHUNK: Final = 65_536
#: Set by us, so that neither the address nor the framing of a request can be another's choice.
_OURS: Final = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "upgrade"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to ask for."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    #: The longest answer that is read.
    max_bytes: int = 1_000_000
    #: How many redirects a GET follows; each is checked like the first address.
    max_redirects: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What came back, whole."""

    status: int
    content_type: str
    body: bytes

    @property
    def is_success(self) -> bool:
        return http.client.OK <= self.status < http.client.MULTIPLE_CHOICES

    @property
    def text(self) -> str:
        """The body in the encoding it says it has, with what cannot be read replaced."""
        head = Message()
        head["content-type"] = self.content_type
        try:
            return self.body.decode(head.get_content_charset("utf-8"), errors="replace")
        except LookupError:
            return self.body.decode(errors="replace")


def fetch(
    request: Request,
    *,
    reach: Reach,
    limit: Limit,
    resolver: Resolver = resolve,
    trust: ssl.SSLContext | None = None,
) -> Answer:
    """
    Make one request and return the answer, whatever its status.

    The name is resolved once, every address it stands for is checked, and the connection goes to an
    address that was checked. No proxy is used, and redirects are followed only if asked.

    Raises:
        OutboundRefused: The address may not be reached, or the answer is too long.
        OutboundTimeout: The time is up.
        OutboundCancelled: Nobody wants it any more.
        OutboundError: There is no answer.
    """
    for _ in range(request.max_redirects + 1):
        target = _target(request.url)
        answer, location = _exchange(request, target, reach, limit, (resolver, trust))
        if location is None:
            return answer
        if request.method != "GET" or not request.max_redirects:
            raise OutboundRefused(
                f"the host {target.hostname!r} redirects to another address, and that is not"
                " followed"
            )
        request = _redirected(request, target, location)
    raise OutboundRefused(f"there are more than {request.max_redirects} redirects")


def _target(url: str) -> SplitResult:
    if _UNFIT.search(url):
        raise OutboundRefused("the URL has a character that no URL has; it is to be escaped")
    try:
        target = urlsplit(url)
        port = target.port
    except ValueError as error:
        raise OutboundRefused("the URL cannot be read") from error
    if target.scheme not in _PORTS or not target.hostname or port == 0:
        raise OutboundRefused("the URL does not start with http:// or https:// and a host")
    if "@" in target.netloc:
        raise OutboundRefused("the URL names a user; send a header instead")
    return target


def _exchange(
    request: Request,
    target: SplitResult,
    reach: Reach,
    limit: Limit,
    means: tuple[Resolver, ssl.SSLContext | None],
) -> tuple[Answer, str | None]:
    """Return an answer and, where it is a redirect, where to."""
    resolver, trust = means
    host = target.hostname or ""
    port = target.port or _PORTS[target.scheme]
    addresses = limit.run(
        lambda: allowed_addresses(host, port, reach, resolver=resolver), name="resolve"
    )
    secure = (trust or _trust()) if target.scheme == "https" else None
    try:
        with connected(addresses, port, host=host, trust=secure, limit=limit) as line:
            return _converse(line, request, target)
    except (OSError, http.client.HTTPException, ValueError) as error:
        limit.check()
        raise OutboundError(f"the host {host!r} gives no answer that can be read") from error


def _converse(
    line: socket.socket, request: Request, target: SplitResult
) -> tuple[Answer, str | None]:
    connection = http.client.HTTPConnection(target.hostname or "")
    connection.sock = line
    path = target.path or "/"
    connection.putrequest(
        request.method,
        f"{path}?{target.query}" if target.query else path,
        skip_host=True,
        skip_accept_encoding=True,
    )
    for name, value in _headers(request, target).items():
        connection.putheader(name, value)
    connection.endheaders(request.body)
    response = connection.getresponse()
    location = response.getheader("location") if response.status in _REDIRECTS else None
    if location is None and response.getheader("content-encoding", "identity") != "identity":
        raise OutboundError(f"the host {target.hostname!r} compresses its answer, unasked")
    answer = Answer(
        status=response.status,
        content_type=response.getheader("content-type", "") or "text/plain",
        body=b"" if location is not None else _body(response, request.max_bytes),
    )
    return answer, location


def _headers(request: Request, target: SplitResult) -> dict[str, str]:
    own = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
    given = {name.lower() for name in own}
    standing = {"User-Agent": "runner", "Accept": "*/*"}
    length = {} if request.body is None else {"Content-Length": str(len(request.body))}
    return {
        # The port belongs to it only where it is not the usual one.
        "Host": target.netloc,
        "Connection": "close",
        "Accept-Encoding": "identity",
        **{name: value for name, value in standing.items() if name.lower() not in given},
        **own,
        **length,
    }


def _body(response: http.client.HTTPResponse, max_bytes: int) -> bytes:
    chunks: list[bytes] = []
    left = max_bytes
    while chunk := response.read(min(_CHUNK, left + 1)):
        left -= len(chunk)
        if left < 0:
            raise OutboundRefused(f"the answer is longer than the {max_bytes:,} bytes it may have")
        chunks.append(chunk)
    if response.length:
        raise http.client.IncompleteRead(b"", response.length)
    return b"".join(chunks)


def _redirected(request: Request, target: SplitResult, location: str) -> Request:
    """Ask for another address; headers, which may be secrets, go nowhere but where they were."""
    url = urljoin(target.geturl(), location)
    other = _target(url)
    if target.scheme == "https" and other.scheme != "https":
        raise OutboundRefused(f"the host {target.hostname!r} redirects to an unencrypted address")
    is_home = (target.scheme, target.netloc) == (other.scheme, other.netloc)
    return replace(request, url=url, headers=request.headers if is_home else {})


@cache
def _trust() -> ssl.SSLContext:
    """Trust the same certificates as the clients do."""
    return httpx2.create_ssl_context(trust_env=False)
