"""Which keys count as an answer: none that was typed before the question could be read, and none out of a paste. Pure
but for its clock.

A key counts when it comes alone, some time after the question stood on the screen. Who types on into a question is not
answering it: each key that comes too early moves the moment at which keys begin to count.
"""

from __future__ import annotations

import math
from collections.abc import Callable

DEAF = 0.3  # seconds after the first frame of a question
QUIET = 0.02  # seconds without another key that make a key a key


class Ears:
    """Give it each key with `heard`; a key that is held back is told by `alone` once no other followed it."""

    def __init__(self, clock: Callable[[], float], deaf: float = DEAF, quiet: float = QUIET) -> None:
        self._clock, self._deaf, self.quiet = clock, deaf, quiet
        self._from = math.inf  # when keys begin to count
        self._held = ""
        self._burst = -math.inf  # until when keys belong to those before

    def cover(self) -> None:
        """Something else is about to be drawn: nothing counts until it is."""
        self._from, self._held = math.inf, ""

    def open(self) -> None:
        """It stands on the screen now."""
        self._from, self._held = self._clock() + self._deaf, ""

    @property
    def counts(self) -> bool:
        return self._clock() >= self._from

    def heard(self, key: str) -> bool:
        """Take a key in. Whether it is held back, to count if it stays alone."""
        now = self._clock()
        if now < self._from:
            if self._from < math.inf:
                self._from = max(self._from, now + self._deaf)
            return False
        if self._held or now < self._burst:
            self._held, self._burst = "", now + self.quiet
            return False
        self._held = key
        return True

    def alone(self) -> str:
        """The key that was held back, "" if others came with it."""
        key, self._held = self._held, ""
        return key
