"""Addresses of the web: which ones may be fetched, and which hosts are this machine or its neighbours.

Pure functions. A host is judged twice: its spelling here, its resolved address with `public` before a connection.
"""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from agenyx.core.errors import AgenyxError

_MOST = 8192
_PORTS = {"http": 80, "https": 443}
# Names that never lead out: RFC 6761, RFC 6762, and the usual names of the metadata services of clouds.
_LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "home.arpa", "lan", "intranet")


class AddressError(AgenyxError):
    """The address cannot be fetched."""

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else f"{self.message}."


class Address(Struct, frozen=True):
    """A checked address. `host` is lower-case ASCII without a trailing dot; `target` is path and query as sent."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}{self.target}"


def parse(url: str) -> Address:
    """Raises AddressError. A fragment is left out; nothing is looked up."""
    if len(url) > _MOST or any(ord(char) <= 32 or 127 <= ord(char) < 160 for char in url):
        raise AddressError("The address is too long or holds a space or control character", "Write it percent-encoded.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = (parts.hostname or "").rstrip(".")
        plain = ":" in host or host.isascii()
        host = host if plain else host.encode("idna").decode("ascii")
    except ValueError:
        raise AddressError(f"{url[:200]!r} is not an address", "Give one such as https://example.org/page.") from None
    if parts.scheme not in _PORTS or not host:
        raise AddressError("Only http and https addresses can be fetched", "Give one such as https://example.org/page.")
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise AddressError("The address holds a user name, a password or a backslash", "Leave it out.")
    if ":" not in host and (why := _odd(host)):
        raise AddressError(why, "Give the host by its name.")
    if port == 0:
        raise AddressError("Port 0 cannot be fetched from", "Leave the port out.")
    target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        target += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    return Address(parts.scheme, host, port or _PORTS[parts.scheme], target)


def follow(address: Address, location: str) -> Address:
    """Where a redirect leads. Raises AddressError."""
    try:
        whole = urljoin(address.url, location.strip())
    except ValueError:
        raise AddressError("The page redirects to what is no address", "Give another one.") from None
    return parse(whole)


def same_site(before: Address, after: Address) -> bool:
    """Whether a redirect stays with the host that was asked for; from http to https counts as staying."""
    if before.host != after.host:
        return False
    if before.scheme == after.scheme:
        return before.port == after.port
    return (before.scheme, before.port, after.scheme, after.port) == ("http", 80, "https", 443)


def _odd(host: str) -> str:
    """Why a host name is refused by its spelling alone, or ""."""
    labels = host.split(".")
    if any(not label or len(label) > 63 for label in labels) or len(host) > 253:
        return "The host name is not valid"
    if not all(char.isalnum() or char in "-_" for label in labels for char in label):
        return "The host name holds a character that it cannot have"
    if labels[-1].isdigit() or labels[-1].startswith("0x"):  # what systems take for an address, however it is written
        usual = len(labels) == 4 and all(
            part.isdigit() and str(int(part)) == part and int(part) < 256 for part in labels
        )
        return "" if usual else "The host is a number in an unusual spelling"
    if host in _LOCAL_NAMES or any(host.endswith(f".{name}") for name in _LOCAL_NAMES):
        return f"{host} is a name of this machine or its network, which WebFetch does not reach"
    return ""


def public(text: str) -> bool:
    """Whether a numeric address belongs to the public internet, also what is embedded in an IPv6 address."""
    import ipaddress

    try:
        ip = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        # 192.0.0.0/24 is for protocols (RFC 6890); some versions of ipaddress call parts of it global.
        special = ip.is_multicast or ip.is_reserved or int(ip) >> 8 == 0xC00000
        return ip.is_global and not special
    number = int(ip)
    if ip.ipv4_mapped is not None:
        return public(str(ip.ipv4_mapped))
    if number >> 32 == 0x0064_FF9B << 64:  # NAT64 (RFC 6052)
        return public(str(ipaddress.IPv4Address(number & 0xFFFF_FFFF)))
    if ip.sixtofour is not None:
        return public(str(ip.sixtofour))
    # Only 2000::/3 is given out to the public; Teredo (2001::/32) embeds addresses of others.
    return number >> 125 == 1 and ip.teredo is None and ip.is_global and not ip.is_multicast
