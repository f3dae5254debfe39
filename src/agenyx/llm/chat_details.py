"""Puts streamed `reasoning_details` together again: gateways want them back whole, in their order, unaltered."""

from __future__ import annotations

from typing import Any, cast

from agenyx.core import json

_GROWING = ("text", "summary")  # members that a stream sends in pieces


def merged(pieces: list[Any]) -> str:
    """JSON of the list. Pieces in a row of one type and one index become one: text grows, the rest is set last."""
    whole: list[dict[str, Any]] = []
    for item in pieces:
        if not isinstance(item, dict):
            continue
        piece = cast("dict[str, Any]", item)
        # Encrypted data comes whole.
        if whole and "data" not in piece and all(piece.get(n) == whole[-1].get(n) for n in ("type", "index")):
            last = whole[-1]
            for name, value in piece.items():
                if name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str):
                    last[name] += value
                elif value is not None:
                    last[name] = value
        else:
            whole.append(dict(piece))
    return json.encode(whole).decode()
