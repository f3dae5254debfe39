"""Removals that no rule may wave through: roots, homes, the workspace, and what is known only when it runs.

Pure functions of resolved paths and words (reference: AgentX §6.4). Which words a program removes is not known here.
"""

from __future__ import annotations

import os
import re

from agenyx.core.tools import Concern, PathRef
from agenyx.policy.paths import folded

_MAGIC = re.compile(r"[*?\[{]")
# Below these lies the system: what stands directly in them is asked about, what lies deeper is left to the rules.
_SYSTEM = frozenset(
    {"/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc", "/var", "/boot", "/opt", "/srv", "/dev", "/proc", "/sys"}
    | {"/library", "/system", "/applications", "/usr/local", "/var/lib"}
)
_PEOPLE = ("/home", "/users")  # each folder in them is somebody's home
# A name pattern that takes nearly everything: `*`, `.*`, `**`, `?*`, `.[!.]*`, `{*,.*}`, `[a-z]*`.
_ALL = re.compile(r"(?:\.|\*|\?|\[[^\]]*\]|\{[*.?,\[\]!]*\})*\*(?:\.|\*|\?)*|\{[*.?,\[\]!]*\}")
_LATER = "what is removed is known only when the command runs"


def concern_of(
    ref: PathRef, tree: bool, workspace: str, home_dir: str, folders: tuple[str, ...] = ()
) -> Concern | None:
    """The concern about removing, replacing or moving away a path. `home_dir` is the person's home directory,
    `folders` are those added to the workspace.

    `tree` says that everything below goes too. Paths are real and absolute; a path with a problem concerns others.
    """
    if not ref.real:
        return None
    path, root, home = (_plain(os.fsdecode(ref.real)), _plain(workspace), _plain(home_dir))
    if path == "/":
        return Concern("refuse", "it would remove the root of the file system", ref.shown)
    if _holds(path, home):
        what = "the home directory" if path == home else "a directory that holds the home directory"
        return Concern("refuse", f"it would remove {what}", ref.shown)
    if _holds(path, root):
        what = "the workspace itself" if path == root else "a directory that holds the workspace"
        return Concern("refuse", f"it would remove {what}", ref.shown)
    if any(_holds(path, _plain(folder)) for folder in folders):
        return Concern("refuse", "it would remove a folder that was added to the workspace", ref.shown)
    above = _above(path)
    if above == "/":
        return Concern("refuse", "it would remove a directory at the root of the file system", ref.shown)
    if above in _PEOPLE:
        return Concern("refuse", "it would remove somebody's home directory", ref.shown)
    if above == home and not _holds(root, path):
        return Concern("always", "it would remove something that lies directly in the home directory", ref.shown)
    if above in _SYSTEM and not _holds(root, path):
        whole = "a whole directory" if tree else "a part"
        return Concern("always", f"it would remove {whole} of the system", ref.shown)
    return None


def concern_of_pattern(
    pattern: str, cwd: str, tree: bool, workspace: str, home_dir: str, folders: tuple[str, ...] = ()
) -> Concern | None:
    """The concern about removing all that a pattern matches, as bash will expand it.

    `cwd` is the real directory in which it is expanded, "" if that is not known. A leading `~` stands for `home_dir`;
    that of somebody else is not known. Links are not seen: what the pattern matches now is for `concern_of`.
    """
    later = Concern("always", _LATER, pattern)
    word = pattern
    if word.startswith("~"):
        name, slash, rest = word.partition("/")
        if name != "~":
            return later
        word = home_dir.rstrip("/") + slash + rest
    found = _MAGIC.search(word)
    folder = word[: word.rfind("/", 0, found.start() if found else len(word)) + 1]
    names = [name for name in word[len(folder) :].split("/") if name not in ("", ".")]
    if ".." in names or not (cwd or folder.startswith("/")):
        return later
    path, root, home = _plain(os.path.normpath(os.path.join(cwd, folder))), _plain(workspace), _plain(home_dir)
    if found is None:
        ref = PathRef(pattern, os.fsencode(os.path.normpath(os.path.join(cwd, word))), None)
        return concern_of(ref, tree, workspace, home_dir, folders)
    wide = all(_ALL.fullmatch(name) for name in names)
    if path == "/":
        return Concern("refuse", "it would remove directories at the root of the file system", pattern)
    if path in _PEOPLE or (_holds(path, home) and path != home):
        return Concern("refuse", "it would remove home directories", pattern)
    if path == home and (wide or not _holds(root, home)):
        return Concern("refuse" if wide else "always", "it would remove what lies in the home directory", pattern)
    if wide and path != root and _holds(path, root):
        return Concern("refuse", "it would remove a directory that holds the workspace", pattern)
    if path in _SYSTEM and path != root:
        level = "refuse" if wide and _above(path) == "/" else "always"
        return Concern(level, "it would remove parts of the system", pattern)
    if wide and path == root:
        return Concern("always", "it would remove everything in the workspace", pattern)
    if wide and any(_holds(path, _plain(folder)) for folder in folders):
        return Concern("always", "it would remove everything in a folder that was added to the workspace", pattern)
    return None


def concern_of_unknown(tree: bool) -> Concern | None:
    """The concern about removing what a word that is not known names, such as `"$X"/*` or `$(…)`."""
    return Concern("always", _LATER) if tree else None


def concern_of_words(argv: tuple[str | None, ...]) -> Concern | None:
    """The concern about options that switch the protection of programs such as rm off."""
    for word in argv:
        if word is not None and word.startswith("--no-p") and "--no-preserve-root".startswith(word):
            return Concern("refuse", "it switches off the protection of the root of the file system", word)
    return None


def _plain(path: str) -> str:
    """Without a macOS prefix, letter case and spellings that name the same."""
    parts = [folded(part) for part in path.split("/") if part not in ("", ".")]
    if parts[:1] == ["private"] and parts[1:2] in (["etc"], ["var"], ["tmp"]):
        parts = parts[1:]
    return "/" + "/".join(parts)


def _above(path: str) -> str:
    return path.rpartition("/")[0] or "/"


def _holds(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
