import socket
import ssl
import time
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from threading import Timer

import pytest

from runner.core.clock import SystemClock
from runner.core.errors import OutboundCancelled, OutboundError, OutboundRefused, OutboundTimeout
from runner.core.tooling import Cancellation
from runner.outbound.addresses import Reach, Resolver, resolve
from runner.outbound.http import Answer, Request, fetch
from runner.outbound.limit import Limit
from tests.fakes.cancellation import never
from tests.servers import plain_http
from tests.servers.plain_http import Answering, raw, says, serving

#: For tls.example, signed by itself, with its key.
CERTIFICATE = Path(plain_http.__file__).with_name("tls.pem")
HERE = Reach(private=(ip_network("127.0.0.1/32"), ip_network("::1/128")))


def get(
    url: str,
    *,
    reach: Reach = HERE,
    seconds: float = 10,
    cancelled: Cancellation | None = None,
    resolver: Resolver = resolve,
    request: Request | None = None,
) -> Answer:
    limit = Limit(seconds, cancelled or never(), SystemClock())
    return fetch(request or Request(url=url), reach=reach, limit=limit, resolver=resolver)


def test_an_answer_is_read_whole_in_its_own_encoding() -> None:
    answer = raw(
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=latin-1\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n\xe4h\r\n1\r\n!\r\n0\r\n\r\n"
    )
    with serving(answer) as server:
        got = get(f"{server.url}/a?b=c")

    assert (got.status, got.text, got.is_success) == (200, "äh!", True)
    assert server.requests[0].startswith("GET /a?b=c HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{server.port}\r\n" in server.requests[0]


@pytest.mark.parametrize("content_type", ["text/plain; charset=klingon", "text/plain", ""])
def test_an_encoding_that_nobody_knows_is_read_as_utf_8(content_type: str) -> None:
    with serving(says("grün", head=f"Content-Type: {content_type}")) as server:
        assert get(server.url).text == "grün"


def test_a_body_and_headers_are_sent_and_ours_stay_ours() -> None:
    with serving(says("ok", status="503 Busy")) as server:
        request = Request(
            url=server.url,
            method="POST",
            headers={
                "Authorization": "Bearer x",
                "Host": "evil",
                "Content-Length": "9",
                "accept": "a/b",
            },
            body=b'{"a":1}',
        )

        got = get("", request=request)

    sent = server.requests[0]
    assert (got.status, got.is_success) == (503, False)
    assert sent.startswith("POST / HTTP/1.1\r\n")
    assert sent.endswith('\r\n\r\n{"a":1}')
    assert "Authorization: Bearer x" in sent
    assert "evil" not in sent
    assert "Accept: */*" not in sent
    assert sent.count("Content-Length: 7") == 1
    assert sent.lower().count("\r\nhost:") == 1


def test_a_header_cannot_hold_another_one() -> None:
    with serving(says("ok")) as server:
        request = Request(url=server.url, headers={"X-A": "b\r\nX-C: d"})

        with pytest.raises(OutboundError):
            get("", request=request)

    assert server.requests in ([], [""]) or "X-C" not in server.requests[0]


@pytest.mark.parametrize(
    "url",
    [
        pytest.param("http://127.0.0.1:{port}/", id="loopback"),
        pytest.param("http://localhost:{port}/", id="by-name"),
        pytest.param("http://[::ffff:127.0.0.1]:{port}/", id="mapped-to-ipv6"),
        pytest.param("http://2130706433:{port}/", id="decimal"),
        pytest.param("http://0x7f.0.0.1:{port}/", id="hexadecimal"),
        pytest.param("http://127.1:{port}/", id="short"),
        pytest.param("http://169.254.169.254/latest/meta-data/", id="metadata"),
        pytest.param("http://[fd00:ec2::254]/", id="metadata-in-ipv6"),
        pytest.param("http://10.0.0.1/", id="private"),
    ],
)
def test_neither_this_machine_nor_its_networks_are_reached(url: str) -> None:
    with serving(says("secret")) as server:
        with pytest.raises(OutboundRefused):
            get(url.format(port=server.port), reach=Reach())

        assert server.requests == []


def test_a_name_that_resolves_differently_the_second_time_is_not_asked_twice() -> None:
    """The connection goes to the address that was checked, whatever the name stands for by then."""
    asked: list[str] = []

    def resolver(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    with (
        serving(says("checked")) as server,
        serving(says("not checked"), host="127.0.0.2", port=server.port) as other,
    ):
        got = get(f"http://rebind.example:{server.port}/", resolver=resolver)

    assert (got.text, asked, other.requests) == ("checked", ["rebind.example"], [])
    assert f"Host: rebind.example:{server.port}\r\n" in server.requests[0]


def test_an_address_that_does_not_answer_is_followed_by_the_next() -> None:
    reach = Reach(private=(ip_network("127.0.0.0/8"),))
    with serving(says("hello")) as server:
        got = get(
            f"http://two.example:{server.port}/",
            reach=reach,
            resolver=lambda *_: ["127.0.0.3", "127.0.0.1"],
        )

    assert got.text == "hello"


def test_a_server_over_ipv6_is_reached() -> None:
    with serving(says("six"), host="::1", family=socket.AF_INET6) as server:
        assert get(f"http://[::1]:{server.port}/").text == "six"


def redirect(to: str, status: str = "302 Found") -> bytes:
    return f"HTTP/1.1 {status}\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n".encode()


def test_a_redirect_is_not_followed_unless_that_was_asked_for() -> None:
    with serving(raw(redirect("/elsewhere"))) as server:
        with pytest.raises(OutboundRefused, match="redirects to another address"):
            get(server.url)

        assert len(server.requests) == 1


def test_redirects_are_followed_as_often_as_was_asked_for() -> None:
    with serving(raw(redirect("/b")), raw(redirect("c?d")), says("there")) as server:
        request = Request(url=f"{server.url}/a", headers={"X-Key": "k"}, max_redirects=2)
        got = get("", request=request)

    assert got.text == "there"
    assert [sent.split()[1] for sent in server.requests] == ["/a", "/b", "/c?d"]
    assert all("X-Key: k" in sent for sent in server.requests)


def test_redirects_without_end_end() -> None:
    with serving(raw(redirect("/again"))) as server:
        with pytest.raises(OutboundRefused, match="more than 3 redirects"):
            get("", request=Request(url=server.url, max_redirects=3))

        assert len(server.requests) == 4


@pytest.mark.parametrize(
    "to",
    ["http://169.254.169.254/", "http://2130706433/", "file:///etc/passwd", "http://u@127.0.0.1/"],
)
def test_a_redirect_is_checked_like_the_first_address(to: str) -> None:
    with serving(raw(redirect(to))) as server, pytest.raises(OutboundRefused):
        get("", request=Request(url=server.url, max_redirects=5))


def test_headers_do_not_follow_to_another_host() -> None:
    with serving(says("ok")) as other, serving(raw(redirect(f"{other.url}/"))) as server:
        request = Request(url=server.url, headers={"Authorization": "secret"}, max_redirects=1)
        get("", request=request)

    assert "secret" in server.requests[0]
    assert "secret" not in other.requests[0]


def test_a_post_is_never_redirected() -> None:
    with serving(raw(redirect("/b", "307 Temporary"))) as server:
        request = Request(url=server.url, method="POST", body=b"x", max_redirects=5)

        with pytest.raises(OutboundRefused, match="redirects"):
            get("", request=request)


@pytest.mark.parametrize(
    ("framing", "piece"),
    [
        pytest.param(b"\r\n", b"x" * 1024, id="until-its-end"),
        pytest.param(
            b"Transfer-Encoding: chunked\r\n\r\n",
            b"400\r\n" + b"x" * 1024 + b"\r\n",
            id="in-chunks",
        ),
    ],
)
def test_an_answer_that_is_too_long_is_given_up(framing: bytes, piece: bytes) -> None:
    answer = raw(b"HTTP/1.1 200 OK\r\n" + framing, *[piece] * 2000)
    with (
        serving(answer) as server,
        pytest.raises(OutboundRefused, match="longer than the 5,000 bytes"),
    ):
        get("", request=Request(url=server.url, max_bytes=5000))


@pytest.mark.parametrize(
    "pieces",
    [
        pytest.param([b"HTTP/1.1 200 OK\r\n", *[b"X-A: b\r\n"] * 90], id="in-its-head"),
        pytest.param([b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 90], id="in-its-body"),
    ],
)
def test_a_server_that_drips_does_not_outlast_the_limit(pieces: list[bytes]) -> None:
    with serving(raw(*pieces, pause=0.1)) as server:
        began = time.monotonic()
        with pytest.raises(OutboundTimeout, match=r"longer than 0\.4 s"):
            get(server.url, seconds=0.4)

        assert time.monotonic() - began < 3


def test_a_name_that_takes_long_to_look_up_does_not_outlast_the_limit() -> None:
    def resolver(host: str, port: int) -> Sequence[str]:
        time.sleep(3)
        return []

    with pytest.raises(OutboundTimeout):
        get("http://slow.example/", seconds=0.2, resolver=resolver)


def test_a_request_that_nobody_wants_any_more_ends_at_once() -> None:
    flag = never()
    with serving(raw(b"HTTP/1.1 200 OK\r\n\r\n", *[b"x"] * 100, pause=0.1)) as server:
        Timer(0.2, flag.set).start()
        began = time.monotonic()
        with pytest.raises(OutboundCancelled):
            get(server.url, cancelled=flag)

        assert time.monotonic() - began < 3


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/",
        "file:///etc/passwd",
        "http://",
        "http:///x",
        "//127.0.0.1/",
        "http://user:pass@127.0.0.1/",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/\r\nX-A: b",
        "http://127.0.0.1\\@example.com/",
        "http://127.0.0.1/\x00",
        "http://127.0.0.1/ü",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://[::1/",
    ],
)
def test_a_url_that_could_be_read_in_two_ways_is_refused(url: str) -> None:
    with pytest.raises(OutboundRefused):
        get(url)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"not http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    ],
)
def test_an_answer_that_is_none_is_told(answer: bytes) -> None:
    with serving(raw(answer)) as server, pytest.raises(OutboundError):
        get(server.url)


def test_nobody_at_the_address_is_told() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]

    with pytest.raises(OutboundError, match="does not answer"):
        get(f"http://127.0.0.1:{port}/")


def encrypted(answer: Answering) -> Answering:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)

    def answer_encrypted(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            secure.recv(65_536)
            answer(secure)

    return answer_encrypted


def get_encrypted(name: str, trust: ssl.SSLContext | None) -> Answer:
    with serving(encrypted(says("private")), reads=False) as server:
        return fetch(
            Request(url=f"https://{name}:{server.port}/"),
            reach=HERE,
            limit=Limit(10, never(), SystemClock()),
            resolver=lambda *_: ["127.0.0.1"],
            trust=trust,
        )


def test_an_encrypted_answer_comes_from_the_host_that_was_named() -> None:
    answer = get_encrypted("tls.example", ssl.create_default_context(cafile=CERTIFICATE))

    assert answer.text == "private"


@pytest.mark.parametrize(
    ("name", "trusts"),
    [
        pytest.param("tls.example", False, id="a-certificate-nobody-vouches-for"),
        pytest.param("other.example", True, id="a-certificate-of-another-host"),
        pytest.param("127.0.0.1", True, id="a-certificate-for-a-name-only"),
    ],
)
def test_a_certificate_that_is_not_the_hosts_is_refused(name: str, trusts: bool) -> None:  # noqa: FBT001 - a table
    trust = ssl.create_default_context(cafile=CERTIFICATE) if trusts else None

    with pytest.raises(OutboundError, match="no certificate that is trusted"):
        get_encrypted(name, trust)


def test_what_is_not_encrypted_is_no_answer_to_who_wants_it_so() -> None:
    with serving(raw(b"no encryption here")) as server, pytest.raises(OutboundError):
        get(f"https://127.0.0.1:{server.port}/")
