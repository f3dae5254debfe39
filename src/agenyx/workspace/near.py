"""What a person may have meant by a path that is not there. Looks into one folder; knows no tool."""

from __future__ import annotations

import os

from agenyx.core.tools import PathRef
from agenyx.workspace.files import FileProblem
from agenyx.workspace.names import show
from agenyx.workspace.root import Root

_LOOKED_AT = 5000


def near(root: Root, ref: PathRef) -> str:
    """A sentence that names similar files beside a missing one, or ""."""
    import difflib

    folder = root.at(os.path.dirname(ref.real))
    try:
        listed, _ = root.entries(folder, _LOOKED_AT)
    except FileProblem:
        return ""
    names = {show(entry.name).casefold(): show(entry.name) for entry in listed}
    wanted = show(os.path.basename(ref.real)).casefold()
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.6)
    stem = wanted.partition(".")[0]
    close += [name for name in names if stem and name.partition(".")[0] == stem and name not in close][:3]
    if not close:
        return ""
    where = "" if folder.shown == "." else f"{folder.shown}/"
    return f"Did you mean {' or '.join(where + names[name] for name in close[:3])}?"
