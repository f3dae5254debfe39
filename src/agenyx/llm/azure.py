"""Where Azure serves the Responses API. Pure."""

from __future__ import annotations

from urllib.parse import quote

_SUFFIXES = ("/openai/v1/responses", "/openai/responses", "/openai/v1", "/openai")
_V1 = ("", "v1", "preview")


def azure_url(endpoint: str, api_version: str) -> str:
    """The address for requests, from a resource's endpoint in any of the forms that people copy.

    The versions "", `v1` and `preview` use the v1 route, dated ones the older one; a version that is not empty is sent
    as it is.
    """
    base = endpoint.rstrip("/")
    for suffix in _SUFFIXES:
        if base.endswith(suffix):
            base = base.removesuffix(suffix).rstrip("/")
            break
    route = "/openai/v1/responses" if api_version in _V1 else "/openai/responses"
    return base + route + (f"?api-version={quote(api_version, safe='')}" if api_version else "")
