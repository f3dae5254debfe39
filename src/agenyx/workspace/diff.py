"""Diffs for people and models, bounded in size and time whatever the files are.

Pure functions on bytes. Knows no file; line ends and encodings are shown as words, not as changed lines.
"""

from __future__ import annotations

from collections.abc import Iterable

from agenyx.workspace.text import Document, decode, printable, viewed

_COMPARED = 1500  # changed lines of either side up to which the shortest diff is looked for
_LINE = 300
_CONTEXT = 3

Hunk = tuple[int, list[str], int, list[str]]  # first line before (from 0), lines; first line after, lines


def unified(before: bytes | None, after: bytes, name: str, most: int = 200) -> str:
    """A unified diff of at most about `most` lines; `before` is None for a new file. "" when nothing changes."""
    if before == after:
        return ""
    old, new = decode(before or b""), decode(after)
    if old is None or new is None:
        return f"--- {name}\n+++ {name}\n(binary content differs)"
    head = f"--- {'/dev/null' if before is None else name}\n+++ {name}"
    a, b = _lines(old), _lines(new)
    if a == b:
        return f"{head}\n{_form(old, new)}"
    body = list(_render(_hunks(a, b), a, most))
    return "\n".join([head, *body])


def _lines(document: Document) -> list[str]:
    view = viewed(document.text)
    lines = view.split("\n")
    if lines[-1] == "":
        lines.pop()
    elif view:
        lines[-1] += "\n\\ no line end at the end of the file"
    return lines


def _form(old: Document, new: Document) -> str:
    return f"(only the form changes: {old.encoding}, {old.ends} line ends → {new.encoding}, {new.ends} line ends)"


def _hunks(a: list[str], b: list[str]) -> list[Hunk]:
    """Changed stretches, without context."""
    head, most = 0, min(len(a), len(b))
    while head < most and a[head] == b[head]:
        head += 1
    tail = 0
    while tail < most - head and a[-1 - tail] == b[-1 - tail]:
        tail += 1
    left, right = a[head : len(a) - tail], b[head : len(b) - tail]
    if max(len(left), len(right)) <= _COMPARED:
        import difflib

        codes = difflib.SequenceMatcher(None, left, right).get_opcodes()
        return [(head + i, left[i:j], head + k, right[k:m]) for tag, i, j, k, m in codes if tag != "equal"]
    if len(left) == len(right):  # many places, each with as many lines as before: no search is needed
        found: list[Hunk] = []
        for at, (x, y) in enumerate(zip(left, right, strict=True)):
            if x == y:
                continue
            if found and found[-1][0] + len(found[-1][1]) == head + at:
                found[-1][1].append(x)
                found[-1][3].append(y)
            else:
                found.append((head + at, [x], head + at, [y]))
        return found
    return [(head, left, head, right)]


def _render(hunks: list[Hunk], a: list[str], most: int) -> Iterable[str]:
    shown = 0
    groups: list[list[Hunk]] = []
    for hunk in hunks:
        if groups and hunk[0] - (groups[-1][-1][0] + len(groups[-1][-1][1])) <= 2 * _CONTEXT:
            groups[-1].append(hunk)
        else:
            groups.append([hunk])
    for index, group in enumerate(groups):
        if shown >= most:
            yield f"… {len(groups) - index} more changed places"
            return
        first = max(0, group[0][0] - _CONTEXT)
        last = min(len(a), group[-1][0] + len(group[-1][1]) + _CONTEXT)
        shift = group[0][2] - group[0][0]
        removed, added = sum(len(h[1]) for h in group), sum(len(h[3]) for h in group)
        yield f"@@ -{_span(first, last - first)} +{_span(first + shift, last - first - removed + added)} @@"
        at = first
        for hunk in group:
            yield from (f" {_cut(line)}" for line in a[at : hunk[0]])
            at = hunk[0] + len(hunk[1])
            for sign, lines in (("-", hunk[1]), ("+", hunk[3])):
                room = max(most - shown, 1)
                yield from (f"{sign}{_cut(line)}" for line in lines[:room])
                if len(lines) > room:
                    yield f"{sign}… {len(lines) - room} more lines"
                shown += min(len(lines), room)
        yield from (f" {_cut(line)}" for line in a[at:last])


def _span(first: int, count: int) -> str:
    return f"{first + 1 if count else first},{count}"


def _cut(line: str) -> str:
    return printable(line if len(line) <= _LINE else f"{line[:_LINE]}…")
