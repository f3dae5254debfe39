"""What the commands of bash itself do to the shell that runs them: directory, options, flow. Knows no program.

The table at the end has one function for each; those that set variables are in `setters`. What a command does to files
is not told here.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from agenyx.shell import setters
from agenyx.shell.effect import Builtin, Effect, Setting, Word
from agenyx.shell.values import Place, State, lost

_ROOT = Place("/")


def effect(words: tuple[Word, ...], state: State, setting: Setting, functions: frozenset[str]) -> Effect | None:
    """What a command does to the shell; None when it is a function, "nothing" for a program."""
    while words:
        name = words[0].text
        if name is None:
            return Effect(lost(state.haunted), lost(state.haunted), loses=True)
        if name in functions:
            return None
        if name not in ("command", "builtin"):
            run = BUILTINS.get(name)
            return Effect(state, state) if run is None else run(words[1:], state, setting)
        functions = frozenset()
        words = words[1:]
        while words and words[0].text in ("-p", "--"):
            words = words[1:]
        if words and (words[0].text or "").startswith("-"):
            break  # command -v only looks
    return Effect(state, state)


def _operands(words: tuple[Word, ...], flags: str) -> tuple[str, tuple[Word, ...]] | None:
    """(flags, operands) of a command whose options take no value; None for an option that is not known."""
    found = ""
    while words:
        text = words[0].text
        if text is None or not text.startswith("-") or text == "-":
            break
        words = words[1:]
        if text == "--":
            break
        if set(text[1:]) - set(flags):
            return None
        found += text[1:]
    return found, words


def _cd(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    away = Effect(state.at(None), state, moves=True)
    parsed = _operands(words, "PLe@")
    if parsed is None or len(parsed[1]) != 1:
        return away
    flags, (operand,) = parsed
    target = operand.text
    if not target or target == "-" or "\0" in target:
        return away
    plain = target.startswith("/") or target.split("/")[0] in (".", "..")
    if (not plain and state.values.get("CDPATH") != "") or (state.place is None and not target.startswith("/")):
        return away
    if target.startswith("//"):
        state = state.without("PWD")  # there it keeps both
    physical = flags.rfind("P") > flags.rfind("L")
    base = state.place
    return Effect(state.at((base or _ROOT).to(target, physical)), state, moves=True)


def _pushd(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    text = words[0].text if len(words) == 1 else None
    if text is None or text[:1] in ("-", "+"):
        return Effect(replace(state.at(None), stack=None), replace(state, stack=None), moves=True)
    moved = _cd(words, state, setting)
    if moved.yes is None or state.stack is None:
        return moved
    return replace(moved, yes=replace(moved.yes, stack=(state.place, *state.stack[:15])))


def _popd(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    if words or not state.stack:
        return Effect(replace(state.at(None), stack=None), state, moves=True)
    return Effect(replace(state.at(state.stack[0]), stack=state.stack[1:]), state, moves=True)


_SET_LETTERS = frozenset("euxvfabCEThnm")
_OPTIONS = (
    "errexit nounset xtrace verbose noglob allexport notify noclobber errtrace functrace hashall noexec monitor "
    "pipefail"
)
_SET_NAMES = frozenset(_OPTIONS.split())


def _set(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    errexit = state.errexit
    while words:
        text = words[0].text
        if text is None and words[0].head[:1] not in ("", "-", "+"):
            break
        if text is None:
            return Effect(state, state, refusal="it sets options of the shell that are known only when it runs")
        words = words[1:]
        if text in ("--", "-") or text[:1] not in ("-", "+"):
            break
        names: list[str] = []
        for letter in text[1:]:
            if letter == "o" and words and words[0].text is not None:
                names.append(words[0].text)
                words = words[1:]
            elif letter == "e":
                names.append("errexit")
            elif letter not in _SET_LETTERS and letter != "o":
                return Effect(state, state, refusal=f"set {text} changes how commands are read")
        for name in names:
            if name not in _SET_NAMES:
                return Effect(state, state, refusal=f"set -o {name} changes how commands are read")
            errexit = text[0] == "-" if name == "errexit" else errexit
    after = replace(state, errexit=errexit)
    return Effect(after, after, options=True)


_HARMLESS = (
    "extglob nullglob globstar dotglob failglob nocaseglob nocasematch inherit_errexit huponexit checkwinsize "
    "checkhash globskipdots patsub_replacement sourcepath interactive_comments"
)
_SHOPT_NAMES = frozenset(_HARMLESS.split())
_GLOBS = frozenset(("globstar", "dotglob", "nocaseglob", "globskipdots"))  # more comes of a pattern, or other names


def _shopt(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    for word in words:
        if word.text is None or (word.text not in _SHOPT_NAMES and not re.fullmatch(r"-[supq]+", word.text)):
            return Effect(state, state, refusal=f"shopt {word.text or ''} changes how commands are read")
    if any(word.text in _GLOBS for word in words):
        after = replace(state, globs=False)
        return Effect(after, after, globs=True)
    return Effect(state, state)


def _exit(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """`exit` and, in a function, `return`. With more than one word it only complains."""
    ends = not words or (len(words) == 1 and words[0].single)
    return Effect(None, None) if ends else Effect(state, state)


def _return(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    return _exit(words, state, setting) if setting.in_function else Effect(state, state)


def _break(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    ends = setting.in_loop and (not words or (len(words) == 1 and re.fullmatch(r"[1-9]", words[0].text or "")))
    return Effect(None, None, leaves=True) if ends else Effect(state, state, leaves=setting.in_loop)


def _lose(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """`eval`, `source`: anything may have changed."""
    refusal = ""
    if not setting.checked and any("set" in (word.text or "") for word in words):
        refusal = "it may set options by eval where set -e does not count"
    return Effect(lost(state.haunted), lost(state.haunted), refusal=refusal, loses=True)


def _trap(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    texts = [word.text for word in words]
    if texts[:1] == ["--"]:
        texts = texts[1:]
    looks = not texts or texts[0] in ("-l", "-p", "-", "")
    if looks or (len(texts) > 1 and all(text in ("EXIT", "0") for text in texts[1:])):
        return Effect(state, state)
    return Effect(lost(haunted=True), lost(haunted=True), loses=True)


def _enable(words: tuple[Word, ...], state: State, setting: Setting) -> Effect:
    """`enable -n cd`, `enable -f file`, `hash -p file name`: a name then means something else."""
    if all(word.text in ("-r", "-l", "-t", "-a") or (word.text or "-")[0] != "-" for word in words):
        return Effect(state, state)
    return Effect(
        lost(state.haunted), lost(state.haunted), refusal="it changes what the name of a command means", loses=True
    )


BUILTINS: dict[str, Builtin] = {
    "cd": _cd, "chdir": _cd, "pushd": _pushd, "popd": _popd, "set": _set, "shopt": _shopt, "trap": _trap,
    "enable": _enable, "hash": _enable,
    "exit": _exit, "return": _return, "break": _break, "continue": _break, "eval": _lose, "source": _lose, ".": _lose,
    "export": setters.export, "readonly": setters.readonly, "declare": setters.declare, "typeset": setters.declare,
    "local": setters.local, "read": setters.read, "mapfile": setters.mapfile, "readarray": setters.mapfile,
    "getopts": setters.getopts, "wait": setters.wait, "unset": setters.unset, "printf": setters.printf,
    "test": setters.test, "[": setters.test, "let": setters.let,
}  # fmt: skip
