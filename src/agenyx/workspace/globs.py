"""Path patterns: `*` and `?` within a name, `**` over folders, `[a-z]`, `[!a-z]`, `{a,b}`, `\\` before a plain one.

Pure. Matching takes linear time in the name whatever the pattern is, and braces expand to a bounded number.
"""

from __future__ import annotations

import re

from agenyx.core.errors import AgenyxError

_MOST = 64
_MAGIC = re.compile(r"[*?\[\]{}\\!]")


class GlobError(AgenyxError):
    """The pattern is not valid."""

    def __str__(self) -> str:
        return f"{self.message}. {self.fix}" if self.fix else f"{self.message}."


class Glob:
    """A compiled pattern. Raises GlobError."""

    def __init__(self, pattern: str) -> None:
        self._alternatives = [_components(one) for one in _braces(pattern)]

    def matches(self, path: str) -> bool:
        """Whether a relative path with `/` between its names matches as a whole."""
        names = path.split("/")
        return any(_match(parts, names) for parts in self._alternatives)


def split(pattern: str) -> tuple[str, str]:
    """The leading folders that hold no pattern, and the rest, which has at least one name: ("src", "*.py")."""
    names = pattern.split("/")
    plain = 0
    while plain < len(names) - 1 and not _MAGIC.search(names[plain]):
        plain += 1
    folder = "/".join(names[:plain])
    return folder or ("/" if plain else ""), "/".join(names[plain:])


def _braces(pattern: str) -> list[str]:
    """Expand `{a,b}`, innermost first."""
    done, todo = list[str](), [pattern]
    while todo:
        if len(todo) + len(done) > _MOST:
            raise GlobError(f"The pattern has more than {_MOST} alternatives in braces", "Use fewer.")
        current = todo.pop()
        if (span := _innermost(current)) is None:
            done.append(current)
            continue
        start, stop = span
        todo += [current[:start] + part + current[stop + 1 :] for part in current[start + 1 : stop].split(",")]
    return done


def _innermost(pattern: str) -> tuple[int, int] | None:
    start, at = -1, 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 1
        elif pattern[at] == "[" and (end := _class_end(pattern, at)) > 0:
            at = end
        elif pattern[at] == "{":
            start = at
        elif pattern[at] == "}" and start >= 0:
            return start, at
        at += 1
    if start >= 0:
        raise GlobError("A { in the pattern has no }", "Close it, or write \\{ for the character.")
    return None


def _class_end(pattern: str, at: int) -> int:
    """The position of the ] that closes a [, or 0. A ] that comes first is a member."""
    begin = at + 1 + (pattern[at + 1 : at + 2] in ("!", "^"))
    return max(0, pattern.find("]", begin + 1))


def _components(pattern: str) -> list[re.Pattern[str] | None]:
    """One expression for each name of the path; None stands for `**`."""
    names = [name for name in pattern.split("/") if name not in ("", ".")]
    parts = [None if name == "**" else _name(name) for name in names]
    if parts and parts[-1] is None:  # a/** means what is below a, not a itself
        parts.append(_name("*"))
    return parts


def _name(name: str) -> re.Pattern[str]:
    fixed, at = [""], 0
    while at < len(name):
        char = name[at]
        if char == "*":
            fixed.append("")
        elif char == "?":
            fixed[-1] += "."
        elif char == "[" and (end := _class_end(name, at)):
            fixed[-1] += _class(name[at + 1 : end])
            at = end
        else:
            if char == "\\" and at + 1 < len(name):
                at += 1
            fixed[-1] += re.escape(name[at])
        at += 1
    # Each piece has a fixed length, so its leftmost place is always right and never needs to be tried again.
    inner = "".join(f"(?>.*?{piece})" for piece in fixed[1:-1] if piece)
    tail = rf".*{fixed[-1]}" if len(fixed) > 1 else ""
    try:
        return re.compile(rf"{fixed[0]}{inner}{tail}\Z", re.DOTALL)
    except re.error:
        raise GlobError(
            f"The pattern {name!r} has an invalid range in brackets", "Write ranges such as [a-z]."
        ) from None


def _class(body: str) -> str:
    negated = body[:1] in ("!", "^")
    members = body[negated:]
    ranged = re.sub(r"[\\\[\]^&|~]", lambda match: "\\" + match[0], members)
    return f"[{'^' if negated else ''}{ranged}]"


def _match(parts: list[re.Pattern[str] | None], names: list[str]) -> bool:
    at, name, star, mark = 0, 0, -1, 0
    while name < len(names):
        part = parts[at] if at < len(parts) else False
        if part is None:
            star, mark = at, name
            at += 1
        elif part and part.match(names[name]):
            at += 1
            name += 1
        elif star >= 0:
            mark += 1
            at, name = star + 1, mark
        else:
            return False
    return all(part is None for part in parts[at:])
