"""Where two request bodies first differ, in one line for people. Pure."""

from __future__ import annotations

from typing import Any, cast

from agenyx.core import json

SHOWN = 60  # characters of either side
BEFORE = 20  # of them in front of the difference

_MISSING = object()


def first_difference(recorded: str, now: str) -> str:
    """The path of the first difference in JSON and both values there; of other text the place."""
    try:
        one, two = json.decode(recorded), json.decode(now)
    except json.JsonError:
        return _values("the body", recorded, now)
    return _find("", one, two) or "only in how it is written"


def _find(path: str, one: Any, two: Any) -> str:
    if isinstance(one, dict) and isinstance(two, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", two)
        for key in dict.fromkeys((*left, *right)):
            where = f"{path}.{key}" if path else key
            if found := _find(where, left.get(key, _MISSING), right.get(key, _MISSING)):
                return found
        return ""
    if isinstance(one, list) and isinstance(two, list):
        before, after = cast("list[Any]", one), cast("list[Any]", two)
        for index in range(max(len(before), len(after))):
            pair = [items[index] if index < len(items) else _MISSING for items in (before, after)]
            if found := _find(f"{path}[{index}]", *pair):
                return found
        return ""
    return "" if one is not _MISSING and two is not _MISSING and one == two else _values(path, one, two)


def _values(path: str, one: Any, two: Any) -> str:
    texts = [_text(value) for value in (one, two)]
    at = next((n for n, (a, b) in enumerate(zip(*texts, strict=False)) if a != b), min(map(len, texts)))
    start = max(0, at - BEFORE)
    recorded, now = (_excerpt(text, start) if text else "nothing" for text in texts)
    return f"at {path or 'the top'}: recorded {recorded}, now {now}"


def _text(value: Any) -> str:
    if value is _MISSING:
        return ""
    return value if isinstance(value, str) else json.encode(value).decode()


def _excerpt(text: str, start: int) -> str:
    cut = text[start : start + SHOWN]
    return f"{'…' if start else ''}{cut!r}{'…' if len(text) > start + SHOWN else ''}"
