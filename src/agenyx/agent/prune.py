"""Takes old tool results out of the requests, many at once: each time is a break of the prompt cache.

What is taken out lies whole on the disk, and a line in its place says how to read it again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from agenyx.agent.context import results_size
from agenyx.core.messages import Entry, Media, Step, Text, ToolResult

RECENT, LEAST = 6, 2  # of the latest steps keep their results, and at least so many: the model works with them
LARGE = 1_000  # characters; shorter results are not worth the line that stands for them
SHOWN = 200  # characters of a failure that stay

Keep = Callable[[str, str], str | None]
"""Writes the text of a call's result to a file and returns its path, None when that failed."""


def old_results(entries: Sequence[Entry], room: int) -> list[ToolResult]:
    """Large results, and images, of all but the latest steps; those keep theirs as far as `room` tokens go."""
    steps = [entry for entry in entries if isinstance(entry, Step)]
    recent = 0
    for step in reversed(steps[-RECENT:]):
        room -= results_size(step.results)
        if room < 0 and recent >= LEAST:
            break
        recent += 1
    older = steps[: len(steps) - recent]
    return [result for step in older for result in step.results if len(result.text) > LARGE or seen(result)]


def freed(results: Sequence[ToolResult]) -> int:
    """About how many tokens taking these out frees."""
    return results_size(results) - results_size(_shorter(result, result.spill, True) for result in results)


def taken_out(results: Sequence[ToolResult], keep: Keep, pages: bool) -> tuple[ToolResult, ...]:
    """What stands in the place of each; one that cannot be kept on the disk stays as it is, and is left out here.

    `pages` says that the model has a tool to read such a file by the id of the call.
    """
    found: list[ToolResult] = []
    for result in results:
        path = result.spill
        if len(result.text) > LARGE and (path is None or not os.path.isfile(path)):
            path = keep(result.call, result.text)
        if path is not None or len(result.text) <= LARGE:
            found.append(_shorter(result, path, pages))
    return tuple(found)


def _shorter(result: ToolResult, path: str | None, pages: bool) -> ToolResult:
    media = seen(result)
    names = ", ".join(repr(one.name) if one.name else f"the {one.kind}" for one in media)
    gone = f"[taken out to make room: {names}; if you need to see it again, make the call again]"
    if len(result.text) <= LARGE:
        return ToolResult(result.call, result.status, (Text(f"{result.text}\n{gone}"),), path)
    again = f"read it with ToolResultRead, tool_use_id {result.call}" if pages else "make the call again"
    line = f"[{len(result.text):,} characters were taken out to make room; if you need them, {again}]"
    if media:
        line = f"{line}\n{gone}"
    if result.status != "ok":
        line = f"{result.text[:SHOWN]}\n{line}"
    return ToolResult(result.call, result.status, (Text(line),), path)


def seen(result: ToolResult) -> list[Media]:
    """The images and documents of a result."""
    return [block for block in result.content if isinstance(block, Media)]


def kept(directory: str, call: str, text: str) -> str | None:
    """Write the result of a call to a file in `directory` that is named by it."""
    path = os.path.join(directory, f"{call}.txt")
    try:
        os.makedirs(directory, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return None
    return path
