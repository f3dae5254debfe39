"""Masks credentials by value, once, at intake; holds back enough of a stream to find a secret split across reads."""

from __future__ import annotations

MASK = "[REDACTED]"


class Masker:
    """Replaces known secrets in whole texts. `streams()` gives one holder per stream of deltas."""

    def __init__(self, secrets: tuple[str, ...] = ()) -> None:
        # A very short "secret" (a placeholder key of a local server) would mask ordinary words.
        self._secrets = tuple(sorted((s for s in secrets if len(s) >= 8), key=len, reverse=True))
        self.longest = len(self._secrets[0]) if self._secrets else 0

    def text(self, text: str) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        return text

    def hold(self, text: str) -> int:
        """How many characters at the end of `text` may be the beginning of a secret."""
        most = 0
        for secret in self._secrets:
            for size in range(min(len(secret) - 1, len(text)), most, -1):
                if secret.startswith(text[-size:]):
                    most = size
                    break
        return most


class StreamMasker:
    """Masks one text that arrives in pieces: `feed` returns what is safe to show, `end` the rest."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._held = ""

    def feed(self, text: str) -> str:
        if not self._masker.longest:
            return text
        whole = self._masker.text(self._held + text)
        keep = self._masker.hold(whole)
        self._held = whole[len(whole) - keep :]
        return whole[: len(whole) - keep]

    def end(self) -> str:
        held, self._held = self._held, ""
        return held
