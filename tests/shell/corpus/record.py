"""Snippets of the kind coding agents write, with what bash 5.2 printed and how it ended.

Each file holds cases: a line `#: name` with words behind it (`posix`: it means the same to any POSIX shell;
`needs=a,b`: programs that not every machine has), the command, and `#> 0` with the exit code, followed by the output.
A case may go on with a line `#+` and another command for the same shell. A `\\` behind the exit code: the output ends
without a line end. ROOT stands for the directory that it runs in.

`python tests/shell/corpus/record.py` runs all of it with plain bash (not with the code under test) and writes down
what came out. To add a case, write it with `#> 0` and no output, record, and read what was written.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from msgspec import Struct

HERE = Path(__file__).parent
PATH = "/usr/local/bin:/usr/bin:/bin"
_HEAD = re.compile(r"#: (?P<name>\S.*?)(?P<posix> posix)?(?: needs=(?P<needs>[\w,.-]+))?")
_END = re.compile(r"#> (?P<code>-?\d*)(?P<open> \\)?")
_BREAK = "\0agenyx-corpus\0"


class Call(Struct):
    """One command with its recorded exit code and output (stdout and stderr together)."""

    command: str
    code: int = 0
    output: str = ""


class Case(Struct):
    name: str
    posix: bool
    needs: tuple[str, ...]
    calls: list[Call]

    @property
    def missing(self) -> list[str]:
        from shutil import which

        return [program for program in self.needs if which(program, path=PATH) is None]


def environment(root: str) -> dict[str, str]:
    """What every case runs in. No file of the person who runs it is read."""
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in _GIT.items()}
    none = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {"PATH": PATH, "HOME": root, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"} | who | none


_GIT = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2024-02-29T12:00:00Z"}


def load(path: Path) -> list[Case]:
    """The cases of one file. Raises ValueError where it is no such file."""
    cases: list[Case] = []
    into: list[str] = []
    for number, line in enumerate(path.read_text("utf-8").split("\n")[:-1], 1):
        if line.startswith("#: "):
            head = _HEAD.fullmatch(line)
            if head is None:
                raise ValueError(f"{path.name}:{number}: not a head: {line}")
            needs = tuple(filter(None, (head["needs"] or "").split(",")))
            cases.append(Case(head["name"], head["posix"] is not None, needs, [Call("")]))
            into = []
        elif line == "#+":
            cases[-1].calls.append(Call(""))
            into = []
        elif line.startswith("#> "):
            end = _END.fullmatch(line)
            if end is None:
                raise ValueError(f"{path.name}:{number}: not an end: {line}")
            call = cases[-1].calls[-1]
            call.command, call.code = "\n".join(into), int(end["code"] or 0)
            into, open_end = [], end["open"] is not None
        elif not cases:
            if line and not line.startswith("# "):
                raise ValueError(f"{path.name}:{number}: before the first case: {line}")
            continue
        else:
            into.append(line)
            call = cases[-1].calls[-1]
            if call.command:
                call.output = "\n".join(into) + ("" if open_end else "\n")  # pyright: ignore[reportPossiblyUnbound]
    return cases


def dump(cases: list[Case], title: str) -> str:
    """The text of a file: what `load` reads."""
    lines = [title]
    for case in cases:
        needs = f" needs={','.join(case.needs)}" if case.needs else ""
        lines.append(f"#: {case.name}{' posix' if case.posix else ''}{needs}")
        for number, call in enumerate(case.calls):
            open_end = bool(call.output) and not call.output.endswith("\n")
            lines += ["#+"] if number else []
            lines += [call.command, f"#> {call.code}" + " \\" * open_end]
            lines += [call.output.removesuffix("\n")] if call.output else []
    return "\n".join(lines) + "\n"


def _record(case: Case) -> None:
    """Run a case with plain bash: alone where it is one call, else the calls one after the other in one bash."""
    with tempfile.TemporaryDirectory(prefix="corpus ") as place:
        root = os.path.realpath(place)
        if len(case.calls) == 1:
            script = case.calls[0].command
        else:
            parts = [f"eval {_quote(call.command)}; printf '{_FORMAT}' $?" for call in case.calls]
            script = "\n".join(parts)
        argv = ("/bin/bash", "--noprofile", "--norc", "-c", script)
        ended = subprocess.run(
            argv,
            cwd=root,
            env=environment(root),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        text = ended.stdout.decode().replace(root, "ROOT")
        if len(case.calls) == 1:
            case.calls[0].code, case.calls[0].output = ended.returncode, text
            return
        pieces = text.split(_BREAK)
        if len(pieces) != 2 * len(case.calls) + 1:
            raise SystemExit(f"{case.name}: a call left the shell; write it as a case of its own")
        for call, output, code in zip(case.calls, pieces[::2], pieces[1::2], strict=False):
            call.code, call.output = int(code), output


_FORMAT = r"\0agenyx-corpus\0%d\0agenyx-corpus\0"


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def main() -> None:
    for path in sorted(HERE.glob("*.txt")):
        title, _, _ = path.read_text("utf-8").partition("\n")
        cases = load(path)
        for case in cases:
            if not case.missing:
                _record(case)
            elif case.calls[0].output == "":
                sys.stderr.write(f"{case.name}: not recorded, needs {', '.join(case.missing)}\n")
        text = dump(cases, title)
        path.write_text(text, "utf-8")
        if dump(load(path), title) != text:
            raise SystemExit(f"{path.name}: an output looks like a mark of the file")


if __name__ == "__main__":
    main()
