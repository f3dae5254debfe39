"""The commands of bash that set variables, or evaluate a name with its subscript: `declare`, `read`, `test -v` …

A name that only the run knows is refused: bash runs what stands in the subscript of `a[$(command)]`.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from agenyx.shell.effect import Effect, Setting, Word
from agenyx.shell.values import KEYED, NUMBER, State, Value, is_number

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TARGET = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(?:\[(?:[0-9]+|[@*])\])?")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[[^\]]*\])?(\+?)=")
_DECLARED = "it sets a variable whose name is known only when it runs"


def declare(words: tuple[Word, ...], state: State, setting: Setting, also: str = "", local: bool = True) -> Effect:
    """`also` are letters that it has anyway. `local`: a name alone is made local to a function, and holds nothing."""
    letters = also
    forgets: list[str] = []
    sets: list[tuple[str, Value | None]] = []
    attributes: list[tuple[str, str]] = []
    for word in words:
        text = word.head if word.text is None else word.text
        if word.text is not None and text[:1] in ("-", "+"):
            letters += text[1:] if text[0] == "-" else ""
            continue
        match = _ASSIGNMENT.match(text)
        if match is None and (word.text is None or "[" in text):
            return Effect(state, state, refusal=_DECLARED)
        if match is not None and match[2] and not word.safe and not re.fullmatch(r"\[[0-9]+\]", match[2]):
            return Effect(state, state, refusal=_DECLARED)
        if match is None and not word.single:
            return Effect(state, state, refusal=_DECLARED)
        if match is not None and word.text is None and not word.safe and not word.single:
            return Effect(state, state, refusal=_DECLARED)  # what it holds may be split into more names
        name = match[1] if match else text
        if not _NAME.fullmatch(name):
            continue
        value: Value | None = None
        if match is not None and not match[2] and not match[3]:
            value = word.value if word.value is not None or word.text is None else word.text[match.end() :]
        if match is not None:
            sets.append((name, value))
        elif local and setting.in_function:
            forgets.append(name)
        attributes.append((name, letters))
    if "n" in letters:
        return Effect(state, state, tuple(sets), "it makes a variable stand for another one")
    if set(letters) & {"f", "F", "p"}:
        return Effect(state, state)
    if "A" in letters:
        sets = [(name, KEYED) for name, _ in attributes]
    return Effect(state, state, tuple(sets), attributes=tuple(attributes), forgets=tuple(forgets))


def export(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    kept = tuple(word for word in words if word.text is None or not re.fullmatch(r"-[nfp]+|--", word.text))
    if any(word.text and word.text.startswith("-") and "f" in word.text for word in words):
        return Effect(state, state)
    return declare(kept, state, setting, local=False)


def local(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """Outside a function it sets nothing."""
    found = declare(words, state, setting)
    return found if setting.in_function else replace(found, sets=tuple((name, None) for name, _ in found.sets))


def readonly(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    return declare(words, state, setting, also="r", local=False)


def _names(
    words: tuple[Word, ...], state: State, flags: str, valued: str, skip: int = 0, default: str = "", naming: str = ""
) -> Effect:
    """A command whose operands after `skip` are variables that it sets; so are the values of options in `naming`."""
    refused = Effect(state, state, refusal=_DECLARED)
    rest = list(words)
    targets: list[Word] = []
    while rest and (rest[0].text is None or rest[0].text[:1] == "-"):
        word = rest.pop(0)
        text = word.text
        if text is None:
            if word.head[:1] in ("", "-") or not word.single:
                return refused
            rest.insert(0, word)
            break
        if text == "--":
            break
        for place, letter in enumerate(text[1:], 2):
            if letter in valued:
                value = Word(text[place:]) if text[place:] else (rest.pop(0) if rest else Word(""))
                if not value.single:
                    return refused
                targets += [value] if letter in naming else []
                break
            if letter not in flags:
                return refused
    targets += rest[skip:]
    if any(not word.single for word in rest[:skip]):
        return refused
    sets: list[tuple[str, Value | None]] = []
    for target in targets:
        match = None if target.text is None else _TARGET.fullmatch(target.text)
        if match is None:
            return refused
        sets.append((match[1], None))
    if default and not targets:
        sets.append((default, None))
    return Effect(state, state, tuple(sets))


def read(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    return _names(words, state, "ers", "adinNptu", default="REPLY", naming="a")


def mapfile(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    return _names(words, state, "t", "dnOsuc", default="MAPFILE")  # -C runs code


def getopts(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    found = _names(words[:2], state, "", "", skip=1)
    return replace(found, sets=(*found.sets, ("OPTARG", None), ("OPTIND", NUMBER)))


def wait(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """A word that is no option is a job and not looked into."""
    first = words[0] if words else Word("")
    if first.text is not None and not first.text.startswith("-"):
        return Effect(state, state)
    if all(is_number(word.value) for word in words if word.text is None) and first.text is None:
        return Effect(state, state)
    return _names(words, state, "fn", "p", skip=len(words), naming="p")


def unset(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    if words and words[0].text == "-f":
        return Effect(state, state)
    return _names(words, state, "v", "")


def printf(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """Only `-v NAME` sets something."""
    first = words[0] if words else Word("")
    begins = first.head if first.text is None else first.text
    if begins[:1] not in ("", "-") or (first.text is not None and not begins.startswith("-v")):
        return Effect(state, state)
    if first.text is None:
        return Effect(state, state, refusal="the format of printf is known only when it runs, and may be an option")
    target = Word(begins[2:]) if begins[2:] else (words[1] if len(words) > 1 else Word(""))
    return _names((target,), state, "", "")


_UNARY = "-a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -n -z -o"
_BINARY = "= == != < > -eq -ne -lt -le -gt -ge -nt -ot -ef"
_ONE = frozenset(_UNARY.split())
_TWO = frozenset(_BINARY.split())


def test(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """Only `-v` and `-R` look into what a word holds; a word that may be one of them must not be unknown."""
    refused = Effect(state, state, refusal="a word of test is known only when it runs, and may be an option")
    texts: list[str | None] = ["(", *(word.text for word in words), ")"]
    for place, word in enumerate(words, 1):
        before, after = texts[place - 1], texts[place + 1]
        if word.text in ("-v", "-R") and not re.fullmatch(r"\w*(\[[0-9@*]+\])?|[]=)]", after or "?"):
            return refused
        if word.text is None:
            if not word.single:
                return refused
            guarded = before in _ONE or before in _TWO or after in _TWO
            alone = before in ("(", "!", "-a", "-o") and after in (")", "]", "-a", "-o")
            if not guarded and not alone:
                return refused
    return Effect(state, state)


def let(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    return Effect(state, state, refusal="it gives arithmetic to let as text")
