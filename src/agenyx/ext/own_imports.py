"""What the person's own instructions take in by `@path`: any text but secrets, wherever it lies. It needs no trust."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from agenyx.ext.imports import HOPS, is_path, named, place
from agenyx.ext.sources import FILE_BYTES, Source
from agenyx.policy.paths import protection
from agenyx.workspace.names import show


def with_imports(sources: Iterable[Source], person: str, problems: list[str]) -> list[Source]:
    """Each file with what it takes in behind it, each once. `person` is the home directory, "" where there is none."""
    sources = list(sources)
    seen = {source.shown for source in sources}
    return [one for source in sources for one in (source, *_taken(source, person, seen, problems, 0))]


def _taken(by: Source, person: str, seen: set[str], problems: list[str], hops: int) -> Iterator[Source]:
    for name in named(by.data.decode("utf-8-sig", "replace")):
        path = os.path.realpath(place(name, os.path.dirname(by.shown), person) or "/")
        shown = show(os.fsencode(path))
        if shown in seen or os.path.isdir(path):
            continue
        if not os.path.isfile(path):
            if is_path(name):
                problems.append(f"{by.shown} names @{name}, which does not exist")
            continue
        # The home itself is no reason: what a person keeps there is theirs to tell, but for the keys.
        why = protection(os.fsencode(path), "/", os.devnull, "tree")
        if not why and hops == HOPS:
            why = f"it is taken in by a file that is {HOPS} files away already"
        data = b""
        if not why:
            try:
                with open(path, "rb") as file:
                    data = file.read(FILE_BYTES + 1)
            except OSError as error:
                why = f"it cannot be read: {error.strerror}"
        if len(data) > FILE_BYTES:
            why = f"it has more than {FILE_BYTES >> 10} KiB"
        if why:
            problems.append(f"{by.shown} takes in {shown}, which was left out: {why}")
        elif data.strip():
            seen.add(shown)
            source = Source(by.kind, "user", os.path.dirname(shown), os.path.basename(shown), shown, data, by.shown)
            yield source
            yield from _taken(source, person, seen, problems, hops + 1)
