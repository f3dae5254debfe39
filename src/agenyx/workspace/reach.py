"""Which hosts are the web, which are this machine or its network, and which are never reached.

Pure functions over tables. A host is judged twice: by its spelling (`standing`) before anybody is asked, and by the
addresses that its name stands for (`reach`) before a connection.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network

Reach = Literal["public", "private", "never"]
"""`private` needs a person's yes; `never` is not worth the harm: the metadata of clouds gives out keys."""

MACHINE = "this machine"
_NETWORK = "on a private network"
_METADATA = "where a cloud keeps metadata and keys"
_LINK = f"link-local, {_METADATA}"
_RESERVED = "no address of the web (a reserved range)"

# IANA special-purpose registries (RFC 6890 and later); the first match counts.
_IPV4: tuple[tuple[str, Reach, str], ...] = (
    ("100.100.100.200/32", "never", _METADATA),
    ("168.63.129.16/32", "never", _METADATA),
    ("169.254.0.0/16", "never", _LINK),
    ("127.0.0.0/8", "private", MACHINE),
    ("10.0.0.0/8", "private", _NETWORK),
    ("100.64.0.0/10", "private", _NETWORK),
    ("172.16.0.0/12", "private", _NETWORK),
    ("192.168.0.0/16", "private", _NETWORK),
    *(
        (network, "never", _RESERVED)
        for network in [
            "0.0.0.0/8",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",
            "240.0.0.0/4",
        ]
    ),
)
_IPV6: tuple[tuple[str, Reach, str], ...] = (
    ("fd00:ec2::254/128", "never", _METADATA),
    ("fd20:ce::254/128", "never", _METADATA),
    ("fd00:42::42/128", "never", _METADATA),
    ("::1/128", "private", MACHINE),
    ("fc00::/7", "private", _NETWORK),
    ("fe80::/10", "never", _LINK),
    ("2001::/23", "never", _RESERVED),
    ("2001:db8::/32", "never", _RESERVED),
    ("3fff::/20", "never", _RESERVED),
    ("2000::/3", "public", ""),  # all that is given out to the public
    ("::/0", "never", _RESERVED),
)
# Names that never lead out (RFC 6761, 6762, 8375, 9476 and habit), and those of metadata services.
_MACHINE_NAMES = ("localhost", "localdomain")
_NETWORK_NAMES = ("local", "internal", "home.arpa", "lan", "intranet", "corp", "home", "private")
_METADATA_NAMES = [
    "metadata",
    "google.internal",
    "metadata.goog",
    "instance-data",
    "instance-data.ec2.internal",
    "metadata.azure.internal",
    "metadata.tencentyun.com",
    "metadata.aliyuncs.com",
    "metadata.packet.net",
]


def standing(host: str) -> tuple[Reach, str]:
    """What a host is by its spelling, and in words what makes it so ("" for public). Nothing is looked up.

    `host` is in the form of `Address.host`.
    """
    if is_number(host):
        return reach(host)
    if _under(host, _METADATA_NAMES):
        return "never", _METADATA
    if _under(host, _MACHINE_NAMES):
        return "private", MACHINE
    if _under(host, _NETWORK_NAMES) or "." not in host:
        return "private", _NETWORK
    return "public", ""


def is_number(host: str) -> bool:
    """Whether a host in its plain form is an address and no name."""
    return ":" in host or host.rpartition(".")[2].isdigit()


def is_machine(host: str) -> bool:
    """Whether a name stands for the loopback, whatever a name server says (RFC 6761)."""
    return _under(host, _MACHINE_NAMES[:1])


def reach(number: str) -> tuple[Reach, str]:
    """What a numeric address is, also one that is embedded in an IPv6 address, and in words what makes it so."""
    import ipaddress

    try:
        ip = ipaddress.ip_address(number.partition("%")[0])
    except ValueError:
        return "never", _RESERVED
    if isinstance(ip, ipaddress.IPv6Address) and (inner := _embedded(int(ip))) is not None:
        ip = ipaddress.IPv4Address(inner)
    for network, found, words in _tables()[ip.version]:
        if ip in network:
            return found, words
    return "public", ""


def _embedded(bits: int) -> int | None:
    """The IPv4 address that packets to an IPv6 address end up at."""
    if bits >> 32 in (0xFFFF, 0x0064_FF9B << 64):  # mapped; NAT64 (RFC 6052)
        return bits & 0xFFFF_FFFF
    if bits >> 112 == 0x2002:  # 6to4
        return bits >> 80 & 0xFFFF_FFFF
    if bits >> 125 == 1 and bits >> 32 & 0xFDFF_FFFF == 0x5EFE:  # ISATAP (RFC 5214)
        return bits & 0xFFFF_FFFF
    return None


@cache
def _tables() -> dict[int, list[tuple[IPv4Network | IPv6Network, Reach, str]]]:
    import ipaddress

    return {
        version: [(ipaddress.ip_network(text), found, words) for text, found, words in table]
        for version, table in ((4, _IPV4), (6, _IPV6))
    }


def _under(host: str, names: tuple[str, ...] | list[str]) -> bool:
    return any(host == name or host.endswith(f".{name}") for name in names)
