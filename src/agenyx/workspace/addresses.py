"""Addresses of the web in their plain form. Pure; which of them may be reached is told by `reach`."""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from agenyx.core.errors import AgenyxError

_MOST = 8192
_MOST_HOST = 253  # a name in the DNS
_PORTS = {"http": 80, "https": 443}


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
        return f"{self.scheme}://{self.authority}{self.target}"

    @property
    def authority(self) -> str:
        """Host and, where it is not the usual one, port, as a Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def parse(url: str) -> Address:
    """Raises AddressError. A fragment is left out; nothing is looked up."""
    if len(url) > _MOST or any(ord(char) <= 32 or 127 <= ord(char) < 160 for char in url):
        raise AddressError("The address is too long or holds a space or control character", "Write it percent-encoded.")
    try:
        parts = urlsplit(url)
        port = parts.port
        host = _plain((parts.hostname or "").removesuffix("."))
        if "[" in parts.netloc and ":" not in host:
            raise ValueError("brackets are for IPv6")
        target = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
        if parts.query:
            target += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?")
    except ValueError:
        raise AddressError(f"{url[:200]!r} is not an address", "Give one such as https://example.org/page.") from None
    if parts.scheme not in _PORTS or not host:
        raise AddressError("Only http and https addresses can be fetched", "Give one such as https://example.org/page.")
    if parts.username is not None or parts.password is not None or "\\" in url:
        raise AddressError("The address holds a user name, a password or a backslash", "Leave it out.")
    if why := _odd(host):
        raise AddressError(why, "Give the host by its name.")
    if port == 0:
        raise AddressError("Port 0 cannot be fetched from", "Leave the port out.")
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


def _plain(host: str) -> str:
    """A host as it is compared and sent: a name in its IDNA form, so that look-alikes show, a number in the usual one.

    Raises ValueError for what is neither.
    """
    if ":" not in host:
        if len(host) > _MOST_HOST:
            raise ValueError("no name is that long")
        # Digits and dots of other scripts become plain ones by this, and are judged as such.
        return host if host.isascii() else host.encode("idna").decode("ascii").removesuffix(".").lower()
    import ipaddress

    ip = ipaddress.IPv6Address(host)
    if ip.scope_id is not None:
        raise ValueError("an interface of this machine is named")
    return str(ip)


def _odd(host: str) -> str:
    """Why a host is refused by its spelling alone, or ""."""
    if ":" in host:
        import ipaddress

        ip = ipaddress.IPv6Address(host)
        bits = int(ip)
        # Mapped, compatible (but for :: and ::1), NAT64, 6to4 and Teredo: an address in the spelling of another.
        inner = bits >> 32 in (0, 0xFFFF, 0x0064_FF9B << 64) and bits > 1
        if inner or ip.sixtofour is not None or ip.teredo is not None:
            return "The host is an IPv4 address in the spelling of IPv6"
        return ""
    labels = host.split(".")
    if any(not label or len(label) > 63 for label in labels) or len(host) > _MOST_HOST:
        return "The host name is not valid"
    if not all(char.isalnum() or char in "-_" for label in labels for char in label):
        return "The host name holds a character that it cannot have"
    if labels[-1].isdigit() or labels[-1].startswith("0x"):  # what systems take for an address, however it is written
        usual = len(labels) == 4 and all(
            part.isdigit() and str(int(part)) == part and int(part) < 256 for part in labels
        )
        return "" if usual else "The host is a number in an unusual spelling"
    return ""
