"""Which addresses may be fetched: every spelling of this machine and its neighbours is seen for what it is."""

from __future__ import annotations

import socket

import pytest

from agenyx.workspace.addresses import AddressError, follow, parse, public, same_site


@pytest.mark.parametrize(
    ("url", "plain"),
    [
        ("https://example.org", "https://example.org/"),
        ("HTTPS://Example.ORG:443/a?b=c#frag", "https://example.org/a?b=c"),
        ("http://example.org.:8080/", "http://example.org:8080/"),
        ("https://bücher.example/ü?q=ä", "https://xn--bcher-kva.example/%C3%BC?q=%C3%A4"),
        ("https://example.org/a%20b/%zz", "https://example.org/a%20b/%zz"),
        ("https://[2606:4700::1111]/x", "https://[2606:4700::1111]/x"),
        ("https://93.184.216.34/", "https://93.184.216.34/"),
        ("https://sub_domain.example.org/", "https://sub_domain.example.org/"),
    ],
)
def test_the_plain_form(url: str, plain: str) -> None:
    assert parse(url).url == plain


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "gopher://example.org/",
        "javascript:alert(1)",
        "data:text/html,x",
        "example.org",
        "//example.org/",
        "https://",
        "https:///path",
        "https://user@example.org/",
        "https://user:pass@example.org/",
        "https://@example.org/",
        "https://example.org\\@evil.example/",
        "https://example.org/a b",
        "https://example.org/\r\nX: y",
        "https://exa\tmple.org/",
        "https://localhost/",
        "https://LOCALHOST.:80/",
        "https://x.localhost/",
        "https://printer.local/",
        "http://metadata.google.internal/",
        "http://0x7f.1/",
        "http://0x7f000001/",
        "http://2130706433/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://127.1/",
        "http://1.2.3/",
        "http://256.1.1.1/",
        "http://①②⑦.0.0.1.x@y/",
        "http://a..b/",
        "http://-/%00",
        "http://example.org:0/",
        "http://example.org:99999/",
        "http://exam ple.org/",
        "http://[::1",
        "https://example.org/" + "a" * 9000,
        "http://a%2eb/",
    ],
)
def test_what_is_refused_by_its_spelling(url: str) -> None:
    if url == "http://-/%00":
        assert parse(url).host == "-"  # no host has this name: nothing will resolve it
        return
    with pytest.raises(AddressError) as caught:
        parse(url)
    assert str(caught.value).endswith(".")


def test_digits_of_other_scripts_become_plain_ones_before_they_are_judged() -> None:
    assert parse("http://①②⑦.0.0.1/").host == "127.0.0.1" and not public("127.0.0.1")


@pytest.mark.parametrize(
    "number",
    [
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.254",
        "192.0.0.8",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2002:a00:1::1",
        "2001:0:1234::1",
        "2001:db8::1",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "100::1",
        "4000::1",
        "nonsense",
        "",
    ],
)
def test_addresses_that_are_not_public(number: str) -> None:
    assert not public(number)


@pytest.mark.parametrize(
    "number",
    ["1.1.1.1", "93.184.216.34", "2606:4700:4700::1111", "2a00:1450:4001::1", "64:ff9b::101:101", "2002:101:101::1"],
)
def test_addresses_that_are_public(number: str) -> None:
    assert public(number)


def test_what_the_system_makes_of_odd_numbers_is_refused_too() -> None:
    """Should the spelling ever pass, the resolved address does not."""
    for odd in ("0x7f.1", "2130706433", "017700000001", "127.1"):
        found = {str(entry[4][0]) for entry in socket.getaddrinfo(odd, None)}
        assert found and not any(map(public, found))


@pytest.mark.parametrize(
    ("before", "location", "after", "stays"),
    [
        ("https://a.example/x/y", "z", "https://a.example/x/z", True),
        ("https://a.example/x", "//a.example/q", "https://a.example/q", True),
        ("http://a.example/", "https://a.example/", "https://a.example/", True),
        ("https://a.example/", "http://a.example/", "http://a.example/", False),
        ("https://a.example/", "https://a.example:8443/", "https://a.example:8443/", False),
        ("https://a.example/", "https://www.a.example/", "https://www.a.example/", False),
        ("https://a.example/", "https://a.example.evil/", "https://a.example.evil/", False),
        ("https://a.example/", "https://A.EXAMPLE./", "https://a.example/", True),
    ],
)
def test_redirects(before: str, location: str, after: str, stays: bool) -> None:
    address = parse(before)
    led = follow(address, location)
    assert led.url == after and same_site(address, led) is stays


@pytest.mark.parametrize("location", ["file:///etc/passwd", "http://127.1/", "https://u:p@a.example/", "http://[x"])
def test_redirects_that_lead_nowhere_good(location: str) -> None:
    with pytest.raises(AddressError):
        follow(parse("https://a.example/"), location)
