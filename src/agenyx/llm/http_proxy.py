"""Which proxy the environment names for a host. Reads variables only; connects nowhere."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from agenyx.llm.http_errors import ProxyRefused


class Proxy(Struct, frozen=True):
    """An HTTP proxy; `credentials` is `user:password` or empty and never shown."""

    host: str
    port: int
    credentials: str = ""


def _read(env: Mapping[str, str], *names: str) -> tuple[str, str]:
    for name in names:
        for spelling in (name.lower(), name):
            if env.get(spelling, "").strip():
                return spelling, env[spelling].strip()
    return "", ""


def _exempt(host: str, port: int, rules: str) -> bool:
    """Whether NO_PROXY covers the host: names cover their subdomains; ports, addresses and CIDR ranges work too."""
    for rule in rules.replace(",", " ").split():
        if rule == "*":
            return True
        if "/" in rule:
            import ipaddress

            try:
                if ipaddress.ip_address(host) in ipaddress.ip_network(rule, strict=False):
                    return True
            except ValueError:
                pass
            continue
        name, colon, number = rule.rpartition(":")
        if colon and number.isdigit() and ("]" in name or ":" not in name):
            if int(number) != port:
                continue
            rule = name
        rule = rule.strip("[]").removeprefix("*").removeprefix(".").lower()
        if rule and (host == rule or host.endswith("." + rule)):
            return True
    return False


def proxy_for(host: str, port: int, env: Mapping[str, str]) -> Proxy | None:
    """The proxy for an https host, or None. Raises ProxyRefused for a kind that is not supported."""
    variable, url = _read(env, "HTTPS_PROXY", "ALL_PROXY")
    if not url or _exempt(host.lower(), port, _read(env, "NO_PROXY")[1]):
        return None
    hint = f"Set {variable} to http://host:port, or add {host} to NO_PROXY."
    try:
        parts = urlsplit(url if "://" in url else f"http://{url}")
        number = parts.port or 80
    except ValueError:
        raise ProxyRefused(f"{variable} is not an address", hint) from None
    if parts.scheme != "http" or not parts.hostname:
        raise ProxyRefused(f"{variable} names a proxy of a kind that is not supported ({parts.scheme}://)", hint)
    credentials = ""
    if parts.username is not None:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(parts.hostname, number, credentials)
