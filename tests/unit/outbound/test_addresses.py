from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.core.errors import OutboundError, OutboundRefused
from runner.outbound.addresses import Reach, allowed_addresses

PUBLIC = Reach()


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("127.0.0.1", id="loopback"),
        pytest.param("127.255.255.254", id="all-of-loopback"),
        pytest.param("0.0.0.0", id="this-machine"),  # noqa: S104 - an address to refuse
        pytest.param("10.1.2.3", id="private-10"),
        pytest.param("172.31.255.255", id="private-172"),
        pytest.param("192.168.0.1", id="private-192"),
        pytest.param("169.254.169.254", id="metadata"),
        pytest.param("100.100.100.200", id="shared-with-a-carrier"),
        pytest.param("168.63.129.16", id="metadata-at-a-public-address"),
        pytest.param("224.0.0.1", id="multicast"),
        pytest.param("255.255.255.255", id="broadcast"),
        pytest.param("::1", id="loopback-in-ipv6"),
        pytest.param("::", id="this-machine-in-ipv6"),
        pytest.param("fe80::1", id="link-local-in-ipv6"),
        pytest.param("fec0::1", id="site-local-in-ipv6"),
        pytest.param("fd00:ec2::254", id="metadata-in-ipv6"),
        pytest.param("ff02::1", id="multicast-in-ipv6"),
        pytest.param("::ffff:127.0.0.1", id="mapped-to-ipv6"),
        pytest.param("::ffff:a9fe:a9fe", id="metadata-mapped-to-ipv6"),
        pytest.param("::127.0.0.1", id="compatible-with-ipv6"),
        pytest.param("64:ff9b::10.0.0.1", id="through-nat64"),
        pytest.param("64:ff9b:1::a9fe:a9fe", id="through-local-nat64"),
        pytest.param("2002:7f00:1::", id="through-6to4"),
        pytest.param("192.0.0.192", id="metadata-among-protocols"),
        pytest.param("192.88.99.1", id="relay-of-6to4"),
        pytest.param("::ffff:0:127.0.0.1", id="translated-to-ipv6"),
        pytest.param("64:ff9b:1:0:7f:0:100:0", id="anywhere-in-local-nat64"),
        pytest.param("2001:470::5efe:7f00:1", id="through-isatap"),
        pytest.param("2001:470::200:5efe:a9fe:a9fe", id="through-isatap-of-a-unique-address"),
        pytest.param("3fff::1", id="documentation"),
        pytest.param("5f00::1", id="segment-routing"),
    ],
)
def test_what_is_not_public_is_out_of_reach(address: str) -> None:
    assert not PUBLIC.allows(ip_address(address))


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::8.8.8.8"]
)
def test_what_is_public_is_within_reach(address: str) -> None:
    assert PUBLIC.allows(ip_address(address))


def test_a_network_that_an_operator_listed_is_within_reach_and_no_other() -> None:
    reach = Reach(private=(ip_network("10.1.0.0/16"),))

    assert reach.allows(ip_address("10.1.2.3"))
    assert reach.allows(ip_address("::ffff:10.1.2.3"))
    assert not reach.allows(ip_address("10.2.0.1"))


@given(st.integers(0, 2**32 - 1))
def test_no_way_of_writing_an_address_in_ipv6_makes_it_public(number: int) -> None:
    address = IPv4Address(number)
    written = [
        IPv6Address(0xFFFF << 32 | number),
        IPv6Address(0x64FF9B << 96 | number),
        IPv6Address(0x2002 << 112 | number << 80),
    ]

    assert PUBLIC.allows(address) or not any(PUBLIC.allows(each) for each in written)


@pytest.mark.parametrize(
    "host",
    ["2130706433", "0x7f000001", "0x7f.1", "017700000001", "127.1", "1.2.3", "127.0.0.0x1", "0x"],
)
def test_a_host_written_as_a_number_is_refused_before_it_is_looked_up(host: str) -> None:
    def resolver(host: str, port: int) -> Sequence[str]:
        raise AssertionError(host)

    with pytest.raises(OutboundRefused, match="no address in its usual form"):
        allowed_addresses(host, 80, PUBLIC, resolver=resolver)


@pytest.mark.parametrize(
    "host", ["ex\u00e4mple.com", "a b", "a..b", "[::1", "fe80::1%lo", "-a.com"]
)
def test_a_host_with_letters_that_no_host_has_is_refused(host: str) -> None:
    with pytest.raises(OutboundRefused, match="is no name"):
        allowed_addresses(host, 80, PUBLIC, resolver=lambda *_: ["93.184.216.34"])


def test_one_address_out_of_reach_refuses_the_host() -> None:
    found = ["93.184.216.34", "10.0.0.1"]

    with pytest.raises(OutboundRefused, match="stands for an address that is not public"):
        allowed_addresses("example.com", 80, PUBLIC, resolver=lambda *_: found)


def test_an_address_with_a_scope_is_one_of_this_machine() -> None:
    with pytest.raises(OutboundRefused):
        allowed_addresses("example.com", 80, PUBLIC, resolver=lambda *_: ["fe80::1%eth0"])


def test_each_address_of_a_host_is_returned_once() -> None:
    found = ["93.184.216.34", "2606:2800:220:1::1", "93.184.216.34"]

    addresses = allowed_addresses("example.com", 80, PUBLIC, resolver=lambda *_: found)

    assert addresses == ("93.184.216.34", "2606:2800:220:1::1")


@pytest.mark.parametrize("host", ["93.184.216.34", "2606:2800:220:1::1"])
def test_an_address_stands_for_itself(host: str) -> None:
    assert allowed_addresses(host, 80, PUBLIC) == (host,)


def test_a_name_that_stands_for_nothing_is_told() -> None:
    with pytest.raises(OutboundError, match="cannot be found"):
        allowed_addresses("nowhere.invalid", 80, PUBLIC)
    with pytest.raises(OutboundError, match="stands for no address"):
        allowed_addresses("nowhere.invalid", 80, PUBLIC, resolver=lambda *_: [])
