"""What goes into and comes out of the judgement of a command of bash itself. Values only."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agenyx.shell.values import State, Value


class Word(Struct, frozen=True):
    """A word of a command. `text` None: known only when it runs; then `head` is what it surely begins with.

    `single`: it is exactly one word. `value` is what it assigns where it is an assignment (`export A=1`), None when
    that is not known. `safe`: it is an assignment whose subscript and value were gone through by the parser.
    """

    text: str | None
    head: str = ""
    single: bool = True
    value: Value | None = None
    safe: bool = False


class Effect(Struct, frozen=True):
    """What a command does to the shell. `yes` and `no` are the state after it succeeded or failed, None: never.

    `sets` are variables with the value that they get; `refusal` says why not all is seen; `leaves` a loop. `moves`,
    `loses`, `options`, `globs`: it changes the directory, anything, the options, what globs stand for, whatever was
    known before. What `forgets` names is not known any more inside the function in which it stands.
    """

    yes: State | None
    no: State | None
    sets: tuple[tuple[str, Value | None], ...] = ()
    refusal: str = ""
    leaves: bool = False
    attributes: tuple[tuple[str, str], ...] = ()
    moves: bool = False
    loses: bool = False
    options: bool = False
    globs: bool = False
    forgets: tuple[str, ...] = ()


class Setting(Struct, frozen=True):
    """Where a command stands: in a loop, in a function, and whether `set -e` would end the script there."""

    in_loop: bool
    in_function: bool
    checked: bool


Builtin = Callable[[tuple[Word, ...], State, Setting], Effect]
