"""Which addresses may be reached, and what a host's name stands for."""

import re
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, TypeAlias

from runner.core.errors import OutboundError, OutboundRefused

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network
#: Says what addresses a name and port stand for.
Resolver: TypeAlias = Callable[[str, int], Sequence[str]]

#: Public by the book, or by some versions of it, and yet no place of the public Internet: where
#: machines of clouds talk to their hosts, protocols are given addresses, or packets are translated.
_NOT_PUBLIC: Final = tuple(
    map(
        ip_network,
        (
            "168.63.129.16/32",
            "192.0.0.0/24",
            "192.88.99.0/24",
            "64:ff9b:1::/48",
            "::ffff:0:0:0/96",
            "100::/64",
            "2001::/23",
            "3fff::/20",
            "5f00::/16",
        ),
    )
)
#: What stands before an IPv4 address in one that a tunnel of a site (ISATAP) leads to.
_ISATAP: Final = frozenset({0x0000_5EFE, 0x0200_5EFE})
#: The prefixes of NAT64 and of IPv4-compatible addresses, whose last 32 bits are an IPv4 address.
_WITH_IPV4: Final = (ip_network("64:ff9b::/96"), ip_network("64:ff9b:1::/48"), ip_network("::/96"))
_LAST_32_BITS: Final = 0xFFFF_FFFF
_HOST: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.(?!-)[A-Za-z0-9_-]{1,63})*\.?")
_NUMBER: Final = re.compile(r"(0[xX][0-9a-fA-F]*|[0-9]+)\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """The addresses that may be reached: public ones, and the networks an operator listed."""

    private: tuple[Network, ...] = ()

    def allows(self, address: Address) -> bool:
        """Say whether an address, and every address that hides in it, may be reached."""
        return all(self._allows(each) for each in _meant(address))

    def _allows(self, address: Address) -> bool:
        if any(address in network for network in self.private):
            return True
        return (
            address.is_global
            and not address.is_multicast
            and not (isinstance(address, IPv6Address) and address.is_site_local)
            and not any(address in network for network in _NOT_PUBLIC)
        )


def resolve(host: str, port: int) -> Sequence[str]:
    """Ask the system what addresses a name stands for."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise OutboundError(f"the host {host!r} cannot be found") from error
    return [str(sockaddr[0]) for *_, sockaddr in found]


def allowed_addresses(
    host: str, port: int, reach: Reach, *, resolver: Resolver = resolve
) -> tuple[str, ...]:
    """
    Resolve a host, once, and return its addresses, every one of which may be reached.

    Raises:
        OutboundRefused: One of them may not be, or the host is written in a way that misleads.
        OutboundError: It stands for no address.
    """
    _check_form(host)
    found = tuple(dict.fromkeys(resolver(host, port)))
    for text in found:
        # An address with a scope is one of this machine's own networks.
        if not reach.allows(ip_address(text.partition("%")[0])):
            raise OutboundRefused(
                f"the host {host!r} stands for an address that is not public; an operator allows"
                " such networks under outbound.private_networks"
            )
    if not found:
        raise OutboundError(f"the host {host!r} stands for no address")
    return found


def _check_form(host: str) -> None:
    """Refuse what only some readers take for an address, such as 127.1 or 0x7f000001."""
    if ":" in host and _is_ipv6(host):
        return
    last = host.rstrip(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last) and not _is_ipv4(host):
        raise OutboundRefused(f"the host {host!r} is no address in its usual form")
    if not _HOST.fullmatch(host):
        raise OutboundRefused(
            f"the host {host!r} is no name; one with other letters is written as xn--…"
        )


def _is_ipv4(host: str) -> bool:
    try:
        IPv4Address(host)
    except ValueError:
        return False
    return True


def _is_ipv6(host: str) -> bool:
    try:
        return IPv6Address(host).scope_id is None
    except ValueError:
        return False


def _meant(address: Address) -> Iterator[Address]:
    """Yield an address and the IPv4 addresses that packets to it may end up at."""
    if isinstance(address, IPv4Address):
        yield address
        return
    if address.ipv4_mapped is not None:
        yield address.ipv4_mapped
        return
    yield address
    if address.sixtofour is not None:
        yield address.sixtofour
    yield from address.teredo or ()
    is_isatap = int(address) >> 32 & _LAST_32_BITS in _ISATAP
    holds_one = any(address in network for network in _WITH_IPV4) and int(address) > 1
    if is_isatap or holds_one:
        yield IPv4Address(int(address) & _LAST_32_BITS)
