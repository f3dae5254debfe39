"""/export: the conversation as Markdown or JSON, shown or written to a new file."""

from __future__ import annotations

import os
import shlex

from agenyx.app import export
from agenyx.app.commands.spec import Desk, Reply
from agenyx.core.errors import AgenyxError, UsageError

FORMATS = ("md", "json")


async def run(desk: Desk, args: str) -> Reply:
    """`args`: a format, a file, or both; without a file the text is the answer. Raises UsageError, AgenyxError."""
    source, masker = desk.conversation.parts.source, desk.conversation.parts.masker
    name, path = _wanted(args)
    facts = export.Facts(desk.conversation.session_id, desk.conversation.title(), source.root.path)
    entries = source.session.state.entries
    make = export.as_json if name == "json" else export.markdown
    text = masker.text(make(facts, entries))
    if not path:
        return Reply(text, {"format": name, "file": None, "text": text})
    where = os.path.join(source.root.path, os.path.expanduser(path))
    write(where, text)
    return Reply(f"{len(text.encode()):,} bytes were written to {where}", {"format": name, "file": where})


def _wanted(args: str) -> tuple[str, str]:
    """The format and the file that are meant, "" for none."""
    try:
        words = shlex.split(args)
    except ValueError:
        words = [args]
    given = words.pop(0).lower() if words and words[0].lower() in FORMATS else ""
    if len(words) > 1:
        raise UsageError("/export takes a format and one file", 'For example: /export md "notes of today.md"')
    path = words[0] if words else ""
    return given or ("json" if path.endswith(".json") else "md"), path


def write(path: str, text: str) -> None:
    """Write a new file that only its owner reads. Raises AgenyxError, also where there is one already."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except FileExistsError:
        raise AgenyxError(f"{path} is there already and stays as it is", "Name another file.") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no file name"
        raise AgenyxError(f"{path} cannot be written: {why}", "Name another file.") from error
