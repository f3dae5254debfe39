"""What stands in the input as one mark and is more: large pastes, and images to be shown to the model. Pure."""

from __future__ import annotations

import os
import re
from typing import Literal

from msgspec import Struct

from agenyx.core.tty import safe
from agenyx.ui.tui.prompt.graphemes import UNITS, units_of

LINES, CHARS = 10, 1000  # more than either, and a paste becomes a mark
NAME = 40  # characters of the name of an image
_IMAGE = re.compile(r"\.(?:png|jpe?g|gif|webp|pdf)\Z", re.IGNORECASE)


class Unit(Struct, frozen=True):
    """`text` is what was pasted, or the path of an image."""

    kind: Literal["paste", "image"]
    label: str
    text: str


class Units:
    """The marks of one input, by the code point that stands for each (see `graphemes`)."""

    def __init__(self) -> None:
        self._units: dict[str, Unit] = {}
        self._count = {"paste": 0, "image": 0}
        self.labels: dict[str, str] = {}

    def paste(self, text: str, held: str) -> str:
        """A mark for a pasted text; the text itself where it is small. `held` has the marks that are in use."""
        lines = text.count("\n") + 1
        if lines <= LINES and len(text) <= CHARS:
            return text
        size = f"{lines:,} lines" if lines > 1 else f"{len(text):,} characters"
        return self._add("paste", text, size, held) or text

    def image(self, path: str, held: str) -> str:
        """A mark for an image or document; its name where no more marks can be had."""
        name = safe(os.path.basename(path))
        return self._add("image", path, name if len(name) <= NAME else name[: NAME - 1] + "…", held) or path

    def _add(self, kind: Literal["paste", "image"], text: str, what: str, held: str) -> str:
        same = next((char for char, unit in self._units.items() if unit.kind == kind and unit.text == text), "")
        if same:
            return same
        char = next((char for char in UNITS if char not in self._units), "")
        if not char:
            free = next((char for char in UNITS if char not in held), "")
            if not free:
                return ""
            char = free
        self._count[kind] += 1
        number = self._count[kind]
        label = f"[Pasted text #{number}, {what}]" if kind == "paste" else f"[Image #{number}: {what}]"
        self._units[char] = Unit(kind, label, text)
        self.labels[char] = label
        return char

    def get(self, char: str) -> Unit | None:
        return self._units.get(char)

    def expand(self, text: str) -> str:
        """The text as it is sent: pastes in full, images by their labels."""
        for char in set(units_of(text)):
            unit = self._units.get(char)
            text = text.replace(char, "" if unit is None else unit.text if unit.kind == "paste" else unit.label)
        return text

    def images(self, text: str) -> tuple[str, ...]:
        """The paths of the images in a text, in order."""
        found = (self._units.get(char) for char in units_of(text))
        return tuple(dict.fromkeys(unit.text for unit in found if unit is not None and unit.kind == "image"))

    def collapse(self, text: str) -> str:
        """A text that was expanded, with the marks again that it was written with."""
        for char, unit in self._units.items():
            held = unit.text if unit.kind == "paste" else unit.label
            if held in text:
                text = text.replace(held, char)
        return text


def is_image(path: str) -> bool:
    """Whether a name says that the file can be shown to a model."""
    return _IMAGE.search(path) is not None


def dropped(pasted: str) -> list[str]:
    """The paths that a pasted text consists of, where it may be files dropped on the window; [] else.

    Terminals quote them as a shell would, or give file:// addresses; several are separated by blanks or lines.
    """
    text = pasted.strip()
    if not text or len(text) > 8_192 or "\x00" in text:
        return []
    import shlex  # most pastes are none

    try:
        words = shlex.split(text)
    except ValueError:
        words = text.split("\n")
    if not all(map(_IMAGE.search, words)):
        words = [text] if _IMAGE.search(text) and "\n" not in text else []
    return [_path(word) for word in words]


def _path(word: str) -> str:
    if not word.startswith("file://"):
        return word
    from urllib.parse import unquote, urlsplit

    return unquote(urlsplit(word).path)
