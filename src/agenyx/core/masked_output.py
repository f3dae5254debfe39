"""Masks the output of programs while it comes, so that no credential in it is ever stored or shown, not for a moment.

Knows bytes in pieces; what to mask is `core/redact`'s.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from agenyx.core.redact import Masker, Span, StreamMasker, merged

_HELD = 64 << 10  # characters that may wait: a secret that is wrapped wider than that is found at the end only


class OutputMasker:
    """`feed` returns the bytes that are safe, `end` the rest. All of them are what Masker.wrapped makes of the whole.

    Bytes that may begin a secret wait until it is clear, also over line ends, as `base64` puts them into its output.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker.latin  # in which every byte is a character and comes back as it was
        self._plain = StreamMasker(self._masker)
        self._held = ""
        self._covered = 0  # characters at the beginning of what is held, line ends apart, whose mask was shown already

    def feed(self, data: bytes) -> bytes:
        if not self._masker.longest:
            return data
        return self._pass(self._plain.feed(data.decode("latin-1")), last=False).encode("latin-1")

    def end(self) -> bytes:
        """What was held back, when nothing more comes."""
        return self._pass(self._plain.end(), last=True).encode("latin-1")

    def _pass(self, text: str, *, last: bool) -> str:
        """Line ends apart this is StreamMasker; here a secret may hold line ends anywhere."""
        raw = self._held + text
        flat = raw.replace("\n", "")
        spans = self._masker.spans(flat)
        if self._covered:
            spans = merged([(0, self._covered), *spans])
        stop = len(flat) if last else len(flat) - self._masker.hold(flat)
        if not spans:
            at = len(raw) if stop == len(flat) else _back(raw, len(flat) - stop)
            if not last and len(raw) - at > _HELD:
                return self._pass(text, last=True)
            self._held = raw[at:]
            return raw[:at]
        ends = [match.start() - number for number, match in enumerate(re.finditer("\n", raw))]
        rest = len(raw) if stop == len(flat) else _behind(ends, stop)
        if not last and len(raw) - rest > _HELD:
            return self._pass(text, last=True)
        begun = [span for span in spans if span[0] < stop]
        shown = self._shown(raw, ends, begun, rest)
        covering = begun[-1] if begun else spans[0] if self._covered else (0, 0)
        self._held, self._covered = raw[rest:], max(covering[1] - stop, 0)
        return shown

    def _shown(self, raw: str, ends: list[int], spans: list[Span], rest: int) -> str:
        parts, at = list[str](), 0
        for number, (start, stop) in enumerate(spans):
            again = self._covered and not number
            parts += () if again else (raw[at : start + bisect_right(ends, start)], self._masker.mask)
            at = _behind(ends, stop)
        return "".join((*parts, raw[at:rest]))


def _behind(ends: list[int], count: int) -> int:
    """Where the first `count` characters, line ends apart, are over."""
    return count + bisect_right(ends, count - 1) if count else 0


def _back(raw: str, count: int) -> int:
    """Where the last `count` characters, line ends apart, begin."""
    at = len(raw)
    while count:
        at -= 1
        count -= raw[at] != "\n"
    return at
