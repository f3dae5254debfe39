"""Watches that the home stays the folder that it was at the start, and ours alone: for as long as the process lives.

Whoever can put another folder in its place could forge rules, trust and transcripts. Owns identities, no content.
Reference: AgentX §6.8.
"""

from __future__ import annotations

import os
import stat

Identity = tuple[int, int]
"""Device and inode."""

_OTHERS = 0o077


class _Place:
    """One folder as it was when it was first seen. A link to it counts only where it was one from the start."""

    def __init__(self, path: str) -> None:
        self.path, self._look = path, os.stat if os.path.islink(path) else os.lstat
        found = self._look(path)
        if not stat.S_ISDIR(found.st_mode):
            raise NotADirectoryError
        self.identity = (found.st_dev, found.st_ino)
        self.owner, self._open = found.st_uid, found.st_mode & _OTHERS

    def lost(self) -> str:
        """What is wrong with it now, "" while nothing is. One look, no read."""
        try:
            now = self._look(self.path)
        except OSError as error:
            return f"{self.path} was moved, removed or closed ({error.strerror})"
        if (now.st_dev, now.st_ino) != self.identity or not stat.S_ISDIR(now.st_mode):
            return f"{self.path} was replaced by something else"
        if now.st_uid != self.owner:
            return f"{self.path} was given to another user"
        if now.st_mode & _OTHERS & ~self._open:
            return f"{self.path} was opened to other users (mode {stat.S_IMODE(now.st_mode):04o})"
        return ""


class HomeGuard:
    """Takes the identity of the home when it is made; that of `sessions` in it as soon as it is there.

    Where there is no home (a session kept in memory because none can be written) there is nothing to guard: every
    check passes.
    """

    def __init__(self, home: str) -> None:
        self._reason = ""
        self._home = _seen(home)
        self._inner = os.path.join(home, "sessions")
        self._sessions: _Place | None = None
        self.check()

    def check(self) -> str:
        """Why the home is lost, "" while it is not: two looks. What was lost once stays lost, even if it comes back."""
        if not self._reason and self._home is not None:
            self._reason = self._home.lost() or (self._sessions.lost() if self._sessions else self._first(self._home))
        return self._reason

    def owns(self, place: Identity | str | bytes) -> bool:
        """Whether an identity is that of the home, or a real path lies in it, wherever it was moved to since."""
        if self._home is None:
            return False
        mine = [one.identity for one in (self._home, self._sessions) if one is not None]
        if isinstance(place, tuple):
            return place in mine
        path = os.fsencode(place)
        while identity_of(path) not in mine:
            above = os.path.dirname(path)
            if above == path:
                return False
            path = above
        return True

    def _first(self, home: _Place) -> str:
        """Look for the sessions folder that was not there so far; what is wrong with it."""
        self._sessions = _seen(self._inner)
        if self._sessions is None:
            return f"{self._inner} is not a directory" if os.path.lexists(self._inner) else ""
        if os.path.islink(self._inner):
            return f"{self._inner} is a symbolic link"
        return "" if self._sessions.owner == home.owner else f"{self._inner} belongs to another user"


def identity_of(path: str | bytes) -> Identity | None:
    """Of the file or folder itself, links not followed; None where there is none."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino)


def _seen(path: str) -> _Place | None:
    try:
        return _Place(path)
    except OSError:
        return None
