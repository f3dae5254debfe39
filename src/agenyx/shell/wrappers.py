"""Programs that run another program: which words of theirs are the inner command, or a script to parse again.

The table is data; one interpreter reads it. An option that is not in the table is not guessed.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agenyx.core.tools import Command

_MAX_NESTING = 16
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")


class Wrapper(Struct, frozen=True):
    """Options as letters and long names. `operands` is how many words stand before the inner command.

    `looks` are options that only look something up; `replace` is the option that names a placeholder; `more` tells
    that words which nobody can see are appended; `assigns` that NAME=value words may precede the command.
    """

    plain: frozenset[str] = frozenset()
    valued: frozenset[str] = frozenset()
    looks: frozenset[str] = frozenset()
    operands: int = 0
    assigns: bool = False
    more: bool = False
    replace: str = ""


def _wrapper(
    plain: str = "", valued: str = "", looks: str = "", operands: int = 0, assigns: bool = False, more: bool = False
) -> Wrapper:
    return Wrapper(
        frozenset(plain.split()),
        frozenset(valued.split()),
        frozenset(looks.split()),
        operands,
        assigns,
        more,
        "I" if more else "",
    )


_WRAPPERS = {
    "sudo": _wrapper(
        "A b E H n P S k non-interactive preserve-env set-home",
        "u g h p C T U D R user group chdir",
        looks="l v V",
        assigns=True,
    ),
    "doas": _wrapper("n", "u"),
    "env": _wrapper("i 0 v ignore-environment null debug", "u C unset chdir", assigns=True),
    "nice": _wrapper(valued="n adjustment"),
    "ionice": _wrapper("t", "c n class classdata"),
    "nohup": _wrapper(),
    "setsid": _wrapper("c f w ctty fork wait"),
    "stdbuf": _wrapper(valued="i o e input output error"),
    "timeout": _wrapper("v p foreground preserve-status verbose", "k s kill-after signal", operands=1),
    "time": _wrapper("p v a q portability verbose append quiet", "f o format output"),
    "exec": _wrapper("c l", "a"),
    "command": _wrapper("p", looks="v V"),
    "builtin": _wrapper(),
    "xargs": _wrapper(
        "0 r t p x o null no-run-if-empty verbose interactive exit open-tty",
        "a d E I L n P s arg-file delimiter max-args max-chars max-procs process-slot-var",
        more=True,
    ),
}

_SHELLS = frozenset(("sh", "bash", "dash"))
_OTHER_SHELLS = frozenset(("zsh", "ksh", "fish", "csh", "tcsh", "ash", "mksh"))
_HIDES_CODE = frozenset(("source", ".", "trap", "alias", "watch", "parallel", "ssh", "su", "chroot", "unshare"))


class Unwrapped(Struct, frozen=True):
    """The commands inside a command, the scripts it holds as text, and why something is not seen, or ""."""

    commands: tuple[Command, ...] = ()
    scripts: tuple[str, ...] = ()
    opaque: str = ""


def unwrap(command: Command) -> Unwrapped:
    """What runs inside this command, as far as its own words say so. The command itself is not repeated."""
    found: list[Command] = []
    for _ in range(_MAX_NESTING):
        if not command.argv:
            return Unwrapped(tuple(found))
        if command.argv[0] is None:
            return Unwrapped(tuple(found), (), "the name of a command is known only when it runs")
        name = command.argv[0].rpartition("/")[2]
        if name == "eval":
            return _script(found, name, command.argv[2:] if command.argv[1:2] == ("--",) else command.argv[1:])
        if name in _SHELLS:
            return _shell(found, name, command.argv)
        if name in _OTHER_SHELLS or name in _HIDES_CODE:
            return Unwrapped(tuple(found), (), f"{name} may run code that is not seen here")
        if name not in _WRAPPERS:
            return Unwrapped(tuple(found))
        inner, reason = _inner(name, _WRAPPERS[name], command.argv)
        if inner is None:
            return Unwrapped(tuple(found), (), reason)
        found.append(inner)
        command = inner
    return Unwrapped(tuple(found), (), "it is nested too deeply")


def _script(found: list[Command], name: str, words: tuple[str | None, ...]) -> Unwrapped:
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        return Unwrapped(tuple(found), (), f"the script of {name} is known only when it runs")
    return Unwrapped(tuple(found), (" ".join(known),) if known else ())


def _shell(found: list[Command], name: str, argv: tuple[str | None, ...]) -> Unwrapped:
    """`bash -c SCRIPT`; `bash FILE` and a shell that reads its input hold no script in their words."""
    script = False
    words = iter(argv[1:])
    for word in words:
        if word is None:
            return Unwrapped(tuple(found), (), f"an option of {name} is known only when it runs")
        if word in ("-", "--") or word[:1] not in ("-", "+"):
            if script:
                rest = next(words, None) if word in ("-", "--") else word
                return _script(found, name, (rest,))
            return Unwrapped(tuple(found))
        if word in ("--norc", "--noprofile", "--posix", "--login"):
            continue
        if word.startswith("--"):
            return Unwrapped(tuple(found), (), f"the option {word} of {name} is not known here")
        script = script or (word[0] == "-" and "c" in word)
        for _ in range(sum(letter in "oO" for letter in word[1:])):
            next(words, None)
    return Unwrapped(tuple(found), (), f"the script of {name} is missing" if script else "")


def _inner(name: str, wrapper: Wrapper, argv: tuple[str | None, ...]) -> tuple[Command | None, str]:
    """The inner command; None with a reason when it is not seen, None and "" when there is none."""
    assigns: list[str] = []
    placeholder = ""
    words = list(argv[1:])
    while words:
        word = words[0]
        if word is None:
            return None, f"a word of {name} is known only when it runs"
        if word.startswith("-") and word != "-":
            del words[0]
            if word == "--":
                break
            option, value, reason = _option(name, wrapper, word)
            if reason:
                return None, reason
            if option in wrapper.looks:
                return None, ""
            if option in wrapper.valued and value is None:
                if not words:
                    return None, ""
                value = words.pop(0)
                if value is None:
                    return None, f"a word of {name} is known only when it runs"
            if option == wrapper.replace:
                placeholder = value or ""
        elif name == "env" and word == "-":
            del words[0]
        elif wrapper.assigns and _ASSIGNMENT.match(word):
            assigns.append(word)
            del words[0]
        else:
            break
    while wrapper.assigns and words and words[0] is not None and _ASSIGNMENT.match(words[0]):
        assigns.append(words.pop(0) or "")
    words = words[wrapper.operands :]
    if not words:
        return None, ""
    if placeholder:
        words = [None if word is not None and placeholder in word else word for word in words]
    elif wrapper.more:
        words.append(None)
    return Command(tuple(words), tuple(assigns)), ""


def _option(name: str, wrapper: Wrapper, word: str) -> tuple[str, str | None, str]:
    """(the option that decides, its attached value, why it is not understood). Letters may be joined: `-0rn1`."""
    unknown = f"the option {word} of {name} is not known here"
    if word.startswith("--"):
        option, equals, value = word[2:].partition("=")
        known = option in wrapper.valued or (option in wrapper.plain and not equals) or option in wrapper.looks
        return option, value if equals else None, "" if known else unknown
    if name == "nice" and word[1:].isdigit():
        return "", None, ""
    for place, letter in enumerate(word[1:], 2):
        if letter in wrapper.valued:
            return letter, word[place:] or None, ""
        if letter in wrapper.looks:
            return letter, None, ""
        if letter not in wrapper.plain:
            return "", None, unknown
    return "", None, ""
