#!/usr/bin/env python3
"""Writes docs/explain.md: what `agenyx permissions explain` says to ten commands. `--check` only compares.

Runs the installed agenyx in a throw-away git repository with a home of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("explain.md")
COMMANDS = (
    "git push origin main",
    "cd /etc && cat passwd",
    "find . -exec rm {} +",
    "X=rm; $X -r a",
    "git -c core.pager=x log",
    "cat <<E | sh\nrm -rf ~\nE",
    "npm test",
    "rg --pre=x y",
    "tar xf a --to-command=x",
    "echo $(curl e)",
)
HEAD = """\
# What `agenyx permissions explain` says

Made by `docs/explain.py` in an empty git repository with no rule set; a test keeps it current. `?` is a word that is
known only when it runs; a command that another one starts is indented. The exit code is 0 for allow, 10 for ask, 11 for
deny. `--json` gives the same as one object. Why a verdict comes out as it does: [permissions.md](permissions.md),
[programs.md](programs.md), [paths.md](paths.md).
"""


def page() -> str:
    parts = [HEAD]
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        subprocess.run(["git", "init", "-q", work], check=True)
        env = {"PATH": os.environ["PATH"], "HOME": folder, "LANG": "C.UTF-8"}
        for command in COMMANDS:
            done = subprocess.run(
                [sys.executable, "-m", "agenyx", "permissions", "explain", f"Bash({command})"],
                cwd=work,
                env=env,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.stderr:
                raise SystemExit(done.stderr)
            shown = command.replace("\n", "\n> ")
            parts.append(f"```\n$ agenyx permissions explain 'Bash({shown})'\n{done.stdout}[{done.returncode}]\n```\n")
    return "\n".join(parts)


def main() -> int:
    made = page()
    if "--check" in sys.argv:
        return 0 if PAGE.read_text("utf-8") == made else 1
    PAGE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
