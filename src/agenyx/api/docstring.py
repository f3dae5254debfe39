"""What a docstring says of a function and of each of its parameters: Google, NumPy and `:param name:` style. Pure."""

from __future__ import annotations

import inspect
import re

from msgspec import Struct

_SECTION = re.compile(
    r"(?P<name>Args|Arguments|Parameters|Params|Returns?|Raises|Yields|Examples?|Notes?|Attributes|See Also):?\s*\Z"
)
_PARAMETERS = frozenset({"Args", "Arguments", "Parameters", "Params"})
_FIELD = re.compile(r"\s*:(?P<kind>\w+)(?:\s+(?P<rest>[^:]*))?:\s*(?P<text>.*)")
_GOOGLE = re.compile(r"(?P<name>\*{0,2}\w+)\s*(?:\([^)]*\))?\s*:\s*(?P<text>.*)")
_NUMPY = re.compile(r"(?P<name>\*{0,2}\w+)\s*(?::.*)?\Z")


class Described(Struct, frozen=True):
    """`text` is what stands before the first section; `parameters` are by name."""

    text: str
    parameters: dict[str, str]


def described(doc: str | None) -> Described:
    """Takes a docstring apart; what it does not know stays out of the text and harms nothing."""
    lines = inspect.cleandoc(doc or "").splitlines()
    head, found = list[str](), dict[str, str]()
    section, at = "", 0
    while at < len(lines):
        line = lines[at]
        ruled = at + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[at + 1].strip()) is not None
        if (match := _SECTION.fullmatch(line)) and (line.rstrip().endswith(":") or ruled):
            section = match["name"]
            block, at = _block(lines, at + 1 + ruled, ruled=ruled)
            if section in _PARAMETERS:
                found |= _numpy(block) if ruled else _google(block)
            continue
        if field := _FIELD.fullmatch(line):
            section = "field"
            more, at = _more(lines, at + 1)
            if field["kind"] in ("param", "parameter", "arg", "argument") and field["rest"]:
                found[field["rest"].split()[-1]] = _joined([field["text"], *more])
            continue
        if not section:
            head.append(line)
        at += 1
    return Described("\n".join(head).strip(), {name: text for name, text in found.items() if text})


def _block(lines: list[str], at: int, *, ruled: bool) -> tuple[list[str], int]:
    """The lines of a section, and where it ends: at the next heading, or where the margin is reached again."""
    start = at
    while at < len(lines):
        line = lines[at]
        following = lines[at + 1].strip() if at + 1 < len(lines) else ""
        if ruled and line and not line[0].isspace() and re.fullmatch(r"-{3,}", following):
            break
        if not ruled and line and not line[0].isspace():
            break
        at += 1
    return lines[start:at], at


def _google(block: list[str]) -> dict[str, str]:
    body = inspect.cleandoc("\n".join(["", *block])).splitlines()
    found, name, texts = dict[str, str](), "", list[str]()
    for line in body:
        match = _GOOGLE.fullmatch(line) if line and not line[0].isspace() else None
        if match:
            if name:
                found[name] = _joined(texts)
            name, texts = match["name"].lstrip("*"), [match["text"]]
        else:
            texts.append(line)
    if name:
        found[name] = _joined(texts)
    return found


def _numpy(block: list[str]) -> dict[str, str]:
    found, names, texts = dict[str, str](), list[str](), list[str]()
    for line in block:
        if line and not line[0].isspace() and (match := _NUMPY.fullmatch(line)):
            found |= dict.fromkeys(names, _joined(texts))
            names, texts = [match["name"].lstrip("*")], []
        else:
            texts.append(line)
    return found | dict.fromkeys(names, _joined(texts))


def _more(lines: list[str], at: int) -> tuple[list[str], int]:
    """The lines that go on with a field, and where they end."""
    start = at
    while at < len(lines) and (not lines[at] or lines[at][0].isspace()):
        at += 1
    return lines[start:at], at


def _joined(texts: list[str]) -> str:
    return " ".join(" ".join(texts).split())
