"""Turns arguments into Options by the table of flags. Pure: it reads no file, no environment and no terminal."""

from __future__ import annotations

from itertools import pairwise

from agenyx.core.errors import UsageError
from agenyx.ui.conflicts import CONFLICTS
from agenyx.ui.flags import FLAGS, Flag, Options

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_BY_NAME = {name: flag for flag in FLAGS for name in flag.names}


def parse(argv: Sequence[str]) -> Options:
    """`--flag value` and `--flag=value`; `--` ends the flags; positionals are joined by one space.

    A lone `-` asks for standard input. `run` as the first positional is `--print`, unless that was given already.
    Help and version win over every conflict. Raises UsageError.

    Where the prompts come as JSON lines a program wrote the command line, for some version of another one: flags may
    be unknown (they are told in `unknown`), every token behind a flag is its value, a boolean one may have an empty
    one, and there is no prompt.
    """
    options, given, words = Options(), dict[str, str](), list[str]()
    lenient = streams(argv)
    rest = list(argv)
    rest.reverse()
    while rest:
        word = rest.pop()
        if word == "--":
            words.extend(reversed(rest))
            break
        if word == "-":
            options.stdin = True
        elif word == "run" and not words and not options.print_:
            options.print_ = True
        elif word.startswith("-"):
            if lenient and word.partition("=")[0] not in _BY_NAME:
                options.unknown += (word.partition("=")[0],)
                continue
            _flag(word, rest, options, given, lenient=lenient)
        else:
            words.append(word)
    options.prompt = "" if lenient else " ".join(words)
    options.given = frozenset(given)
    if not (options.help or options.version):
        for conflict in CONFLICTS:
            if conflict.applies(options):
                raise UsageError(conflict.message, conflict.fix)
    return options


def streams(argv: Sequence[str]) -> bool:
    """Whether prompts come as JSON lines."""
    words = list(argv)
    words = words[: words.index("--")] if "--" in words else words
    return "--input-format=stream-json" in words or ("--input-format", "stream-json") in pairwise(words)


def wants_json(argv: Sequence[str]) -> bool:
    """Whether a JSON record was asked for, also where the rest of the command line is wrong."""
    words = list(argv)
    words = words[: words.index("--")] if "--" in words else words
    formats = ("json", "stream-json")
    return any(f"--output-format={kind}" in words or ("--output-format", kind) in pairwise(words) for kind in formats)


def wants_list(argv: Sequence[str]) -> bool:
    """Whether one of the lists for programs was asked for: then standard output stays empty when that fails."""
    words = list(argv)
    names = {word.partition("=")[0] for word in (words[: words.index("--")] if "--" in words else words)}
    return not names.isdisjoint(("--list-providers", "--list-sessions", "--delete-session"))


def _flag(word: str, rest: list[str], options: Options, given: dict[str, str], *, lenient: bool = False) -> None:
    name, equals, value = word.partition("=")
    flag = _BY_NAME.get(name)
    if flag is None:
        raise UsageError(f"unknown flag {name}", _nearest(name))
    if not flag.value:
        if lenient and rest and rest[-1] == "":
            rest.pop()
        if equals and not (lenient and not value):
            raise UsageError(f"{name} does not accept a value", f"Write just {name}.")
        setattr(options, flag.field, True)
        return
    if not equals:
        value = _following(name, flag, rest, lenient=lenient)
    if not value.strip() and not flag.empty:
        if lenient:
            return  # as if it were not given
        raise UsageError(f"{name} has an empty value", _example(name, flag))
    if flag.choices and value not in flag.choices:
        raise UsageError(f"{name} cannot be {value!r}", f"Choose one of: {', '.join(flag.choices)}.")
    if flag.check and (wrong := flag.check(value)):
        raise UsageError(f"{name}: {value!r} {wrong}", _example(name, flag))
    if flag.once and given.get(flag.field, value) != value:
        raise UsageError(f"{name} is given twice, with different values", "Give it once.")
    if flag.many and (before := given.get(flag.field)):
        value = f"{before}{flag.many}{value}"
    given[flag.field] = value
    setattr(options, flag.field, value)


def _following(name: str, flag: Flag, rest: list[str], *, lenient: bool) -> str:
    if not rest or rest[-1] == "--":
        raise UsageError(f"{name} needs a value", _example(name, flag))
    if not lenient and rest[-1].startswith("-") and rest[-1] != "-":
        raise UsageError(
            f"{name} needs a value, but {rest[-1]} follows", f"A value that begins with - is written {name}=VALUE."
        )
    return rest.pop()


def _example(name: str, flag: Flag) -> str:
    if flag.choices:
        return f"Choose one of: {', '.join(flag.choices)}."
    return f"For example: {name} {flag.default or flag.value}"


def _nearest(name: str) -> str:
    import difflib  # only a mistyped flag pays for it

    close = difflib.get_close_matches(name, _BY_NAME, n=1, cutoff=0.6)
    prefixed = [known for known in _BY_NAME if len(name) > 3 and known.startswith(name)]
    best = prefixed[:1] or close
    hint = f"Did you mean {best[0]}? " if best else ""
    return f"{hint}See agenyx --help; a prompt that begins with - goes after --."
