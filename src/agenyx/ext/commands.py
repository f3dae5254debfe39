"""Commands that people write as Markdown files: what each file says, read leniently (reference: protocols.md §5.4).

Knows no conversation: what a command does with its words is `ext.expansion` and `app.commands.custom`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from agenyx.core.json import scrub
from agenyx.core.tty import safe, visible
from agenyx.ext import frontmatter
from agenyx.ext.frontmatter import Front
from agenyx.ext.sources import Source

_NAME = re.compile(r"[A-Za-z0-9_-]+(?::[A-Za-z0-9_-]+)*")
_DESCRIPTION, _HINT = 1024, 100  # characters


class Template(Struct, frozen=True):
    """`name` is `folder:file`. `tools` are the parts of allowed-tools, () for no limit; `model` is the one asked for.

    `shown` is the whole path of the file.
    """

    name: str
    description: str
    hint: str
    tools: tuple[str, ...]
    model: str
    body: str
    shown: str


def templates(sources: Iterable[Source]) -> tuple[tuple[Template, ...], tuple[str, ...]]:
    """The commands of the files, and a sentence without a full stop for each thing that cannot be used."""
    found, problems = list[Template](), list[str]()
    for source in sources:
        name = source.path.removesuffix(".md").replace("/", ":")
        if not _NAME.fullmatch(name) or len(name) > 256:
            why = "its name can hold letters, digits, - and _ only, and so can those of its folders"
            problems.append(f"{source.shown} is no command: {why}")
            continue
        text = visible(scrub(source.data.decode("utf-8", "replace")))
        front = frontmatter.read(text)
        problems += [f"{source.shown}: {problem}" for problem in front.problems]
        if not front.body.strip():
            problems.append(f"{source.shown} is no command: it has no text")
            continue
        found.append(_template(name, front, source))
    return tuple(found), tuple(problems)


def _template(name: str, front: Front, source: Source) -> Template:
    first = next(line for line in front.body.splitlines() if line.strip())
    description = front.text("description") or first.lstrip("# ")
    hint = front.values.get("argument-hint", "")
    hint = f"[{', '.join(hint)}]" if isinstance(hint, list) else front.text("argument-hint")
    return Template(
        name,
        _flat(description, _DESCRIPTION),
        _flat(hint, _HINT),
        tuple(front.items("allowed-tools")),
        front.text("model").strip(),
        front.body.strip("\n"),
        source.shown,
    )


def _flat(text: str, most: int) -> str:
    """One line, nothing of it hidden."""
    flat = " ".join(safe(text).split())
    return flat if len(flat) <= most else f"{flat[: most - 3]}..."
