"""The editing keys of the input, as readline has them: which key does what to a text. Data, and small functions.

What moves by rows of the screen, and what leaves the text alone, is the editor's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agenyx.ui.tui.prompt import graphemes as g
from agenyx.ui.tui.prompt.buffer import Buffer

Edit = Callable[[Buffer], object]


def _moves(where: Callable[[str, int], int], *, select: bool = False) -> Edit:
    return lambda buffer: buffer.move(where(buffer.text, buffer.at), select=select)


def _left(buffer: Buffer) -> None:
    begin, _ = buffer.selection
    buffer.move(g.before(buffer.text, buffer.at) if buffer.mark is None else begin)


def _right(buffer: Buffer) -> None:
    _, end = buffer.selection
    buffer.move(g.after(buffer.text, buffer.at) if buffer.mark is None else end)


_EDITS: tuple[tuple[str, str, Edit], ...] = (
    ("left ctrl+b", "a character to the left", _left),
    ("right ctrl+f", "a character to the right", _right),
    ("ctrl+left alt+left alt+b", "a word to the left", _moves(g.word_left)),
    ("ctrl+right alt+right alt+f", "a word to the right", _moves(g.word_right)),
    ("home ctrl+a", "the begin of the line", _moves(g.line_start)),
    ("end ctrl+e", "the end of the line", _moves(g.line_end)),
    ("ctrl+home", "the begin of the text", _moves(lambda text, at: 0)),
    ("ctrl+end", "the end of the text", _moves(lambda text, at: len(text))),
    ("shift+left", "select to the left", _moves(g.before, select=True)),
    ("shift+right", "select to the right", _moves(g.after, select=True)),
    ("ctrl+shift+left", "select a word to the left", _moves(g.word_left, select=True)),
    ("ctrl+shift+right", "select a word to the right", _moves(g.word_right, select=True)),
    ("shift+home", "select to the begin of the line", _moves(g.line_start, select=True)),
    ("shift+end", "select to the end of the line", _moves(g.line_end, select=True)),
    ("backspace shift+backspace ctrl+h", "erase the character before", Buffer.erase_back),
    ("delete ctrl+d", "erase the character behind", Buffer.erase_forward),
    ("ctrl+w", "cut back to a blank", lambda b: b.cut(g.blank_left(b.text, b.at), b.at, back=True)),
    (
        "alt+backspace ctrl+backspace",
        "cut the word before",
        lambda b: b.cut(g.word_left(b.text, b.at), b.at, back=True),
    ),
    ("alt+d ctrl+delete", "cut the word behind", lambda b: b.cut(b.at, g.word_right(b.text, b.at))),
    ("ctrl+k", "cut to the end of the line", Buffer.cut_to_end),
    ("ctrl+u", "cut to the begin of the line", Buffer.cut_to_start),
    ("ctrl+y", "put back what was cut", Buffer.yank),
    ("alt+y", "after that: what was cut before it instead", Buffer.yank_before),
    ("ctrl+underscore ctrl+slash ctrl+minus", "undo", Buffer.undo),
    ("alt+r ctrl+shift+z", "redo", Buffer.redo),
)

EDITS: Mapping[str, Edit] = {key: edit for keys, _, edit in _EDITS for key in keys.split()}
HELP: tuple[tuple[str, str], ...] = tuple((keys, text) for keys, text, _ in _EDITS)
"""Keys, separated by blanks, and what they do."""
