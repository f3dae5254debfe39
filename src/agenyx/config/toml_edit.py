"""Changing one key in the text of settings.toml, and finding its line: comments and all other lines stay as they are.

Works on lines, knows no meaning; the caller parses the result and compares it with what it wanted.
"""

from __future__ import annotations

import re

from agenyx.config.settings_table import RuleText, Value


def edited(text: str, name: str, value: Value | None) -> str:
    """The text with the line of a key exchanged, added or (None) taken out. Pure."""
    table, _, key = name.rpartition(".")
    lines = text.splitlines(keepends=True)
    start, end = _section(lines, table)
    number = next((at for at in range(start, end) if _sets(lines[at], key)), -1)
    comment = ""
    if number >= 0:
        tail = re.search(r"\s+#[^\"']*$", lines[number].rstrip("\r\n"))
        comment = tail[0] if tail else ""
    new = [] if value is None else [f"{key} = {_toml(value)}{comment}\n"]
    if number >= 0:
        last = number + 1
        while last < end and _open_list("".join(lines[number:last])):
            last += 1
        lines[number:last] = new
    elif new:
        if table and start < 0:
            end = len(lines)
            new = ["\n"] * bool(lines) + [f"[{table}]\n", *new]
        if end and not lines[end - 1].endswith("\n"):
            lines[end - 1] += "\n"
        while start >= 0 and end > start and not lines[end - 1].strip():
            end -= 1  # before the blank lines that part it from the next table
        lines[end:end] = new
    return "".join(lines)


def line_of(text: str, name: str) -> int:
    """The line, from 1, on which a key or table stands; 1 where it cannot be told."""
    lines = text.splitlines()
    table, _, key = name.rpartition(".")
    start, end = _section(lines, table)
    places = [(start, end, key)] if start >= 0 else []
    for first, last, word in (*places, (0, len(lines), name), (0, len(lines), table or name)):
        for number in range(first, last):
            if _sets(lines[number], word) or re.match(
                rf"""\s*\[+\s*["']?{re.escape(word)}["']?\s*[\].]""", lines[number]
            ):
                return number + 1
    return 1


def _section(lines: list[str], table: str) -> tuple[int, int]:
    """Where the keys of a table stand: first line and the one behind the last. (-1, -1) if it has no header."""
    headers = [at for at, line in enumerate(lines) if re.match(r"\s*\[", line) and not _inside_list(lines, at)]
    if not table:
        return 0, headers[0] if headers else len(lines)
    for at, following in zip(headers, [*headers[1:], len(lines)], strict=False):
        if re.match(rf"""\s*\[\s*["']?{re.escape(table)}["']?\s*\]""", lines[at]):
            return at + 1, following
    return -1, -1


def _inside_list(lines: list[str], at: int) -> bool:
    """Whether a line that begins with a bracket goes on with a list that began above."""
    for above in range(at - 1, -1, -1):
        if re.match(r"\s*[\w.\"'-]+\s*=", lines[above]):
            return _open_list("".join(lines[above:at]))
    return False


def _open_list(text: str) -> bool:
    """Whether a key's value is a list that has not ended yet; brackets in quotes and comments do not count."""
    bare = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*", "", text.partition("=")[2])
    return bare.count("[") + bare.count("{") > bare.count("]") + bare.count("}")


def _sets(line: str, key: str) -> bool:
    return re.match(rf"""\s*["']?{re.escape(key)}["']?\s*[=.]""", line) is not None


def _toml(value: Value) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, tuple):
        return "[\n" + "".join(f"  {_toml_rule(rule)},\n" for rule in value) + "]"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _toml_rule(rule: RuleText) -> str:
    if not (rule.matches or rule.spares):
        return _toml(rule.rule)
    parts = [f"rule = {_toml(rule.rule)}"]
    for name, examples in (("matches", rule.matches), ("spares", rule.spares)):
        if examples:
            parts.append(f"{name} = [{', '.join(_toml(example) for example in examples)}]")
    return "{ " + ", ".join(parts) + " }"
