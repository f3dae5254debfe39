"""Which hosts are the web: every address and name of this machine, its network and metadata is seen for what it is."""

from __future__ import annotations

import ipaddress
import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace.addresses import AddressError, parse
from agenyx.workspace.reach import is_machine, is_number, reach, standing


def words(text: str) -> list[str]:
    return text.split()


MACHINE = words("127.0.0.1 127.255.255.254 ::1 ::ffff:127.0.0.1 64:ff9b::7f00:1 2002:7f00:1:: 2600::5efe:7f00:1")
NETWORK = words(
    "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 100.127.255.254 fc00::1 fd12:3456::1 ::ffff:10.0.0.1 "
    "2002:a00:1::1 64:ff9b::c0a8:101 2600::200:5efe:a00:1"
)
NEVER = words(
    "169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16 192.0.0.192 fd00:ec2::254 fd20:ce::254 "
    "::ffff:169.254.169.254 64:ff9b::a9fe:a9fe 2002:a9fe:a9fe:: ::ffff:100.100.100.200 "
    "0.0.0.0 0.1.2.3 192.0.0.8 192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 "
    "239.1.1.1 240.0.0.1 255.255.255.255 :: ::127.0.0.1 ::2 64:ff9b:1::1 2001:0:1234::1 2001:db8::1 3fff::1 fe80::1 "
    "fe80::1%eth0 fec0::1 ff02::1 100::1 4000::1 nonsense 1.2.3"
)
PUBLIC = words(
    "1.1.1.1 93.184.216.34 172.15.255.255 172.32.0.1 100.63.255.255 100.128.0.1 169.253.0.1 2606:4700:4700::1111 "
    "2a00:1450:4001::1 64:ff9b::101:101 2002:101:101::1 2001:4860:4860::8888"
)


@pytest.mark.parametrize(
    ("numbers", "kind"), [(MACHINE, "private"), (NETWORK, "private"), ([*NEVER, ""], "never"), (PUBLIC, "public")]
)
def test_numbers(numbers: list[str], kind: str) -> None:
    assert {number: reach(number)[0] for number in numbers} == dict.fromkeys(numbers, kind)
    assert all(bool(reach(number)[1]) == (kind != "public") for number in numbers)


def test_words_tell_this_machine_from_its_network() -> None:
    assert {reach(number)[1] for number in MACHINE} == {"this machine"}
    assert {reach(number)[1] for number in NETWORK} == {"on a private network"}


@pytest.mark.parametrize(
    ("host", "kind"),
    [
        ("example.org", "public"),
        ("localhost.example.org", "public"),
        ("notlocalhost.example", "public"),
        ("internal.example.org", "public"),
        ("xn--lcalhost-c7a.example", "public"),
        ("1.1.1.1", "public"),
        ("localhost", "private"),
        ("app.localhost", "private"),
        ("localhost.localdomain", "private"),
        ("printer.local", "private"),
        ("host.docker.internal", "private"),
        ("nas.home.arpa", "private"),
        ("router.lan", "private"),
        ("wiki", "private"),
        ("127.0.0.1", "private"),
        ("::1", "private"),
        ("metadata.google.internal", "never"),
        ("metadata", "never"),
        ("x.metadata.google.internal", "never"),
        ("instance-data.ec2.internal", "never"),
        ("169.254.169.254", "never"),
        ("::", "never"),
        ("0.0.0.0", "never"),
    ],
)
def test_names_and_numbers_as_hosts(host: str, kind: str) -> None:
    assert standing(host)[0] == kind


def test_which_hosts_are_numbers_and_which_are_this_machine() -> None:
    assert is_number("1.1.1.1") and is_number("::1") and not is_number("a1.example")
    assert is_machine("localhost") and is_machine("a.localhost") and not is_machine("localhost.example")


@pytest.mark.parametrize("odd", ["0x7f.1", "2130706433", "017700000001", "127.1", "0", "0xA9FEA9FE", "169.254.43518"])
def test_what_the_system_makes_of_odd_numbers_is_refused_twice(odd: str) -> None:
    """By the spelling, and should that ever pass, by the resolved address."""
    found = {str(entry[4][0]) for entry in socket.getaddrinfo(odd, None)}
    assert found and not [number for number in found if reach(number)[0] == "public"]
    with pytest.raises(AddressError):
        parse(f"http://{odd}/")


@given(st.integers(0, 2**32 - 1))
def test_no_more_is_public_than_the_registry_says(number: int) -> None:
    ip = ipaddress.IPv4Address(number)
    if reach(str(ip))[0] == "public":
        assert ip.is_global and not ip.is_multicast and not ip.is_reserved
    for form in (f"::ffff:{ip}", str(ipaddress.IPv6Address((0x0064_FF9B << 96) | number))):
        assert reach(form) == reach(str(ip))


@given(st.integers(0, 2**128 - 1))
def test_no_more_of_ipv6_is_public_than_the_registry_says(number: int) -> None:
    ip = ipaddress.IPv6Address(number >> 3 | 1 << 125)  # in 2000::/3, where the public part lies
    if reach(str(ip))[0] == "public" and ip.sixtofour is None:
        assert ip.is_global
    low = ipaddress.IPv6Address(number & (1 << 125) - 1)
    assert reach(str(low))[0] != "public" or low.ipv4_mapped or str(low).startswith("64:ff9b::")
