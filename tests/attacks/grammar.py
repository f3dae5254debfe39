"""Scripts out of a grammar of nesting, quoting and expansion, and a place to run them in where nothing can happen.

`generate` gives a script; `prepare` a directory whose PATH holds only programs that write down how they were called,
and a few real ones that start others; `run` runs a script there; `record` tells what was called, `places` also where.
Scripts end by themselves: loops count to two, functions call none.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

NAMES = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
FAILS = "omega"  # a program like them that says it failed
REAL = ("xargs", "env", "timeout", "find", "sh", "bash", "cat", "true")

# One write a call, so that calls at the same time do not mix.
_RECORDER = """#!/bin/sh
printf '%s\\0' "$PWD" "$(($# + 1))" "${0##*/}" "$@" >>"$AGENYX_RECORD"
echo "${0##*/}"
[ "${0##*/}" != omega ]
"""


def prepare(directory: Path) -> dict[str, str]:
    """Make the place. Gives the environment that scripts run with."""
    tools = directory / "bin"
    for folder in (tools, directory / "home", directory / "work" / "sub" / "deep", directory / "work" / "other"):
        folder.mkdir(parents=True)
    recorder = directory / "recorder"
    recorder.write_text(_RECORDER, encoding="utf-8")
    recorder.chmod(0o755)
    for name in (*NAMES, FAILS):
        (tools / name).symlink_to(recorder)
    for name in REAL:
        real = next(path for path in (f"/bin/{name}", f"/usr/bin/{name}") if os.path.exists(path))
        (tools / name).symlink_to(real)
    for name in ("a.txt", "b.txt", "sub/c.txt"):
        (directory / "work" / name).write_text("one two\n", encoding="utf-8")
    return {
        "PATH": str(tools),
        "HOME": str(directory / "home"),
        "AGENYX_RECORD": str(directory / "record"),
        "LC_ALL": "C.UTF-8",
    }


def run(directory: Path, env: Mapping[str, str], script: str, seconds: float = 10) -> int:
    """Run a script until all that it started has ended. Gives its exit code; raises subprocess.TimeoutExpired."""
    ends, held = os.pipe()  # open in every process of the script, so that the last one closes it
    try:
        with subprocess.Popen(
            ("/bin/bash", "--noprofile", "--norc", "-c", script),
            cwd=directory / "work",
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(held,),
            start_new_session=True,
        ) as bash:
            os.close(held)
            held = -1
            if not select.select([ends], [], [], seconds)[0]:
                os.killpg(bash.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(script, seconds)
            return bash.wait()
    finally:
        os.close(ends)
        if held >= 0:
            os.close(held)


def places(directory: Path) -> list[tuple[str, list[str]]]:
    """(directory below the one that scripts start in, argv) of each call, in the order in which they were made."""
    record = directory / "record"
    fields = record.read_text(encoding="utf-8").split("\0") if record.exists() else []
    calls: list[tuple[str, list[str]]] = []
    at = 0
    while at + 1 < len(fields):
        count = int(fields[at + 1])
        where = os.path.relpath(fields[at], os.path.realpath(directory / "work"))
        calls.append(("" if where == "." else where, fields[at + 2 : at + 2 + count]))
        at += 2 + count
    return calls


def record(directory: Path) -> list[list[str]]:
    """The argv of each call."""
    return [argv for _, argv in places(directory)]


def generate(rng: Random, wrappers: bool = True) -> str:
    """A script; with `wrappers` also with programs that start others and scripts inside of words.

    What it puts into the background it waits for.
    """
    script = _Script(rng, wrappers)
    text = "\n".join(script.statement(3) for _ in range(rng.randint(1, 4)))
    return f"{text}\nwait\n" if script.background else text


class _Script:
    def __init__(self, rng: Random, wrappers: bool) -> None:
        self.rng = rng
        self.wrappers = wrappers
        self.background = False
        self.functions: list[str] = []
        self.in_function = False
        self.fresh = 0

    def pick(self, weighted: Sequence[tuple[int, str]]) -> str:
        return self.rng.choices([name for _, name in weighted], [weight for weight, _ in weighted])[0]

    def statement(self, depth: int) -> str:
        kinds = _SIMPLE if depth <= 0 else _NESTED if self.wrappers else [k for k in _NESTED if k[1] != "wrapped"]
        return getattr(self, "_" + self.pick(kinds))(depth - 1)

    def body(self, depth: int) -> str:
        return "; ".join(self.statement(depth) for _ in range(self.rng.randint(1, 2)))

    # Commands

    def _call(self, depth: int) -> str:
        words = [self.name(), *(self.word(depth) for _ in range(self.rng.randint(0, 3)))]
        if self.rng.random() < 0.15:
            words.append(self.redirect())
        if self.rng.random() < 0.1:
            words.insert(0, f"V{self.rng.randint(1, 3)}={self.word(0)}")
        return " ".join(words)

    def _variable_call(self, depth: int) -> str:
        self.fresh += 1
        name = self.rng.choice((*NAMES, "alpha one"))
        return f"P{self.fresh}='{name}'; " + self.rng.choice(("$P%d", '"$P%d"', "${P%d}")) % self.fresh + " x"

    def _odd_call(self, depth: int) -> str:
        return self.rng.choice(
            ("alph? a", "$(echo beta) b", "{gamma,one,'two three'}", "`echo delta`", "$NOTHING zeta")
        )

    def _assign(self, depth: int) -> str:
        return f"V{self.rng.randint(1, 3)}={self.word(depth)}"

    def _declare(self, depth: int) -> str:
        return f"{self.rng.choice(('export', 'declare', 'readonly'))} W{self.rng.randint(1, 99)}={self.word(0)}"

    def _move(self, depth: int) -> str:
        place = self.rng.choice(("sub", "sub/deep", "..", "other", "missing", ".", "sub/..", '"$V1"'))
        call = self.name()
        return self.rng.choice(
            (
                f"cd {place} && {call}",
                f"cd {place}; {call}",
                f"(cd {place}; {call}); {call}",
                f"cd {place} || {call}",
                f"cd {place} && {{ {call}; cd ..; }}; {call} c",
                f"pushd {place} && {call} && popd; {call} p",
                f"cd {place} | {call}; {call} q",
                f"if cd {place}; then {call}; else {call} e; fi",
                f"(set -e; cd {place}; {call} s)",
            )
        )

    def _array(self, depth: int) -> str:
        return f'A=({self.word(0)} {self.word(0)}); {self.name()} "${{A[@]}}" ${{A[1]}}'

    def _count(self, depth: int) -> str:
        return f"N={self.rng.randint(0, 9)}; {self.name()} $((N + {self.rng.randint(0, 9)}))"

    # Nesting

    def _list(self, depth: int) -> str:
        return f"{self.statement(depth)} {self.rng.choice(('&&', '||', ';', '|'))} {self.statement(depth)}"

    def _group(self, depth: int) -> str:
        return f"{{ {self.body(depth)}; }}"

    def _subshell(self, depth: int) -> str:
        return f"( {self.body(depth)} )"

    def _later(self, depth: int) -> str:
        self.background = True
        return f"{{ {self.body(depth)}; }} & wait"

    def _if(self, depth: int) -> str:
        return f"if {self.statement(depth)}; then {self.body(depth)}; else {self.body(depth)}; fi"

    def _for(self, depth: int) -> str:
        return f"for V{self.rng.randint(1, 3)} in {self.word(0)} {self.word(0)}; do {self.body(depth)}; done"

    def _while(self, depth: int) -> str:
        self.fresh += 1
        i = f"I{self.fresh}"
        return f"{i}=0; while [ ${i} -lt 2 ]; do {self.body(depth)}; {i}=$(({i} + 1)); done"

    def _c_for(self, depth: int) -> str:
        self.fresh += 1
        i = f"I{self.fresh}"
        return f"for (({i} = 0; {i} < 2; {i}++)); do {self.body(depth)}; done"

    def _case(self, depth: int) -> str:
        first, last = self.statement(depth), self.statement(depth)
        return f"case {self.word(0)} in w1 | *1) {first} {self.rng.choice((';;', ';&'))} *) {last} ;; esac"

    def _function(self, depth: int) -> str:
        if self.in_function:
            return self._call(depth)
        self.fresh += 1
        name = f"f{self.fresh}"
        self.in_function = True
        text = f"{name}() {{ {self.body(depth)}; }}; {name} {self.word(0)}"
        self.in_function = False
        return text

    def _here(self, depth: int) -> str:
        quote = self.rng.choice(("", "'"))
        return f"{{ cat <<{quote}E{quote}\n$({self.statement(depth)}) text `{self.name()}`\nE\n}}"

    def _test(self, depth: int) -> str:
        pattern = self.rng.choice(("w*", '"w1"'))
        return f"[[ {self.word(0)} == {pattern} ]] && {self.statement(depth)}"

    def _wrapped(self, depth: int) -> str:
        call = f"{self.rng.choice(NAMES)} {self.plain()}"
        script = f"{call}; {self.rng.choice(NAMES)} {self.plain()}"
        return self.rng.choice(
            (
                f"env E=1 {call}",
                f'env -i PATH="$PATH" AGENYX_RECORD="$AGENYX_RECORD" {call}',
                f"timeout 5 {call}",
                f"command {call}",
                f"echo w8 w9 | xargs -n1 {call}",
                f"echo w8 | xargs -I{{}} {call} {{}}",
                f"find . -name '*.txt' -exec {call} {{}} \\;",
                f"find . -name '*.txt' -exec {call} {{}} +",
                f"sh -c '{script}'",
                f'bash -c "{script}"',
                "bash -c 'alpha \"$1\" $0' zero one",
                f"eval '{script}'",
                f"eval {call}",
                f"timeout 5 env sh -c '{script}'",
            )
        )

    # Words

    def name(self) -> str:
        name = self.rng.choice((*NAMES, *NAMES, FAILS))
        at = self.rng.randrange(1, len(name))
        form = self.pick(((8, "plain"), (1, "split"), (1, "double"), (1, "backslash"), (1, "ansi"), (1, "line")))
        match form:
            case "split":
                return f"{name[:at]}''{name[at:]}"
            case "double":
                return f'{name[:at]}"{name[at:]}"'
            case "backslash":
                return f"\\{name}"
            case "ansi":
                code = self.rng.choice((f"x{ord(name[0]):02x}", f"{ord(name[0]):03o}"))
                return f"$'\\{code}'{name[1:]}"
            case "line":
                return f"{name[:at]}\\\n{name[at:]}"
            case _:
                return name

    def plain(self) -> str:
        return f"w{self.rng.randint(1, 9)}"

    def word(self, depth: int) -> str:
        word = self.plain()
        variable = f"V{self.rng.randint(1, 3)}"
        match self.pick(_WORDS if depth > 0 else [kind for kind in _WORDS if kind[1] not in ("command", "back")]):
            case "quoted":
                return self.rng.choice(
                    (f"'{word} x'", f'"{word} \\$x"', f"{word}\\ y", f"$'{word}\\tz'", f"'$({word})'")
                )
            case "joined":
                return f"{word}'a b'\"c\"\\;"
            case "variable":
                return self.rng.choice((f"${variable}", f'"${variable}"', f"a${{{variable}}}b", f"'${variable}'"))
            case "default":
                return self.rng.choice((f"${{{variable}:-{word}}}", f'"${{{variable}%1}}"', f"${{#{variable}}}"))
            case "home":
                return self.rng.choice(("~", "~/x", "$HOME", '"$HOME/y"', "'~'", "\\~/z"))
            case "glob":
                return self.rng.choice(("*.txt", "?.txt", "[ab].txt", "'*'.txt", "\\*", "sub/*", "nothing*"))
            case "brace":
                return self.rng.choice(
                    (
                        "{a,b}",
                        f"{word}{{,x}}",
                        "{1..3}",
                        "{a,{b,c}}d",
                        "'{a,b}'",
                        "{a,'b c'}",
                        "{a}",
                        "{}",
                        "{a,b}{c,d}",
                        "\\{a,b}",
                        "{3..1}x",
                        "{a..c}",
                        "{a,$V1}",
                        "{~,b}",
                    )
                )
            case "command":
                return self.rng.choice(("$(%s)", '"$(%s)"', "x$(%s)y", "<(%s)")) % self._call(depth - 1)
            case "back":
                return f"`{self.rng.choice(NAMES)} {word}`"
            case _:
                return word

    def redirect(self) -> str:
        return self.rng.choice(
            (">out", ">>out", "2>/dev/null", "2>&1", "</dev/null", "<<<w", ">|out", "&>out", "3>out")
        )


_SIMPLE = [(8, "call"), (2, "assign"), (1, "declare"), (1, "variable_call"), (1, "count"), (1, "array")]
_NESTED = [
    *_SIMPLE, (1, "odd_call"), (3, "move"), (3, "list"), (1, "group"), (2, "subshell"), (1, "later"), (2, "if"),
    (2, "for"), (1, "while"), (1, "c_for"), (2, "case"), (2, "function"), (2, "here"), (1, "test"), (5, "wrapped"),
]  # fmt: skip
_WORDS = [
    (8, "plain"), (3, "quoted"), (2, "joined"), (4, "variable"), (1, "default"), (1, "home"), (2, "glob"), (2, "brace"),
    (2, "command"), (1, "back"),
]  # fmt: skip
