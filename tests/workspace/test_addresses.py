"""Addresses in their plain form: no spelling hides which host is meant."""

from __future__ import annotations

import pytest

from agenyx.workspace.addresses import AddressError, follow, parse, same_site


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
        ("https://LOCALHOST.:80/", "https://localhost:80/"),
        ("http://127。0。0。1/", "http://127.0.0.1/"),
        ("http://１２７．０．０．１/", "http://127.0.0.1/"),
        ("http://①②⑦.0.0.1/", "http://127.0.0.1/"),
        ("http://ｌｏｃａｌｈｏｓｔ/", "http://localhost/"),
        ("http://localhost。/", "http://localhost/"),
        ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
        ("http://[FE80::0001]:8080/", "http://[fe80::1]:8080/"),
        ("https://аpple.example/", "https://xn--pple-43d.example/"),
        ("https://faß.example/", "https://fass.example/"),
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
        "http://127%2e0%2e0%2e1/",
        "http://127.0.0.1%00.example/",
        "http://example.org../",
        "http://./",
        "http:example.org",
        "http:/example.org/",
        "https:///example.org/",
        "ws://example.org/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:93.184.216.34]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::a9fe:a9fe]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:1234::1]/",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[v1.x]/",
        "http://[127.0.0.1]/",
        "http://0x7f.0.0.1/",
        "http://127.0.0x1/",
        "http://0177.0.0.0x1/",
        "http://00000127.0.0.1/",
        "http://127.0.0.1.0/",
        "http://0/",
        "http://1/",
        "http://4294967297/",
        "http://example.org:８０a/",
        "http://" + "ü" * 300 + "/",
        "http://" + "a" * 64 + ".example/",
        "http://example.org@127.0.0.1/",
        "http://127.0.0.1#@example.org/x y",
        "http://example.org/\ud800",
    ],
)
def test_what_is_refused_by_its_spelling(url: str) -> None:
    if url == "http://-/%00":
        assert parse(url).host == "-"  # no host has this name: nothing will resolve it
        return
    with pytest.raises(AddressError) as caught:
        parse(url)
    assert str(caught.value).endswith(".")


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
