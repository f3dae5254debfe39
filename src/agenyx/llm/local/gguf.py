"""What a GGUF file says of itself: the context window that its model was made for. Reads only the beginning.

The format: magic, version, two counts, then key-value pairs (ggml-org/ggml, docs/gguf.md).
"""

from __future__ import annotations

import struct
from typing import IO

_KEYS = 4096  # more pairs than any model has
_STRING = 1 << 20  # bytes of a text that is read; longer ones are passed over
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_NUMBERS = {4: "<I", 5: "<i", 10: "<Q", 11: "<q"}
_TEXT, _LIST = 8, 9


def trained_window(path: str) -> int | None:
    """In tokens, None where the file does not say. Raises nothing."""
    try:
        with open(path, "rb") as file:
            return _window(file)
    except (OSError, ValueError, struct.error):
        return None


def _window(file: IO[bytes]) -> int | None:
    magic, version = file.read(4), _number(file, "<I")
    if magic != b"GGUF" or version < 2:
        return None
    _number(file, "<Q")  # tensors
    for _ in range(min(_number(file, "<Q"), _KEYS)):
        key = _text(file)
        kind = _number(file, "<I")
        if key.endswith(".context_length") and kind in _NUMBERS:
            return _number(file, _NUMBERS[kind]) or None
        _pass(file, kind)
    return None


def _pass(file: IO[bytes], kind: int) -> None:
    if kind == _TEXT:
        file.seek(_number(file, "<Q"), 1)
    elif kind == _LIST:
        inner, count = _number(file, "<I"), _number(file, "<Q")
        if inner in _SIZES:
            file.seek(_SIZES[inner] * count, 1)
        elif inner == _TEXT and count <= _STRING:
            for _ in range(count):
                file.seek(_number(file, "<Q"), 1)
        else:
            raise ValueError("a list that nobody needs")
    elif kind in _SIZES:
        file.seek(_SIZES[kind], 1)
    else:
        raise ValueError("an unknown type")


def _number(file: IO[bytes], form: str) -> int:
    (value,) = struct.unpack(form, file.read(struct.calcsize(form)))
    return value


def _text(file: IO[bytes]) -> str:
    size = _number(file, "<Q")
    if size > _STRING:
        raise ValueError("a key without end")
    return file.read(size).decode("utf-8", "replace")
