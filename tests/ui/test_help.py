"""`--help`, `--version` and the flag reference."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.config.environment import ROWS
from agenyx.ui.completion import COMMANDS, completion
from agenyx.ui.flags import FLAGS, SHELLS
from agenyx.ui.help import help_text, markdown
from agenyx.ui.version import version_text

HEAVY = {"asyncio", "msgspec", "typing", "re", "threading", "signal", "argparse", "logging", "subprocess", "json"}


def run(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-X", "importtime", "-m", "agenyx", *argv]
    return subprocess.run(
        command, cwd=cwd, env={"HOME": "/nonexistent"}, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("argv", [["--version"], ["-v"], ["-V"], ["--help"], ["-h"], ["help"], ["completion", "bash"]])
def test_light_commands_need_no_home_and_import_nothing_heavy(argv: list[str], tmp_path: Path) -> None:
    bare = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "pass"], capture_output=True, text=True, timeout=60, check=False
    )
    done = run(*argv, cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout

    def imported(stderr: str) -> set[str]:
        return {row.rpartition("|")[2].strip() for row in stderr.splitlines() if row.startswith("import time:")}

    # What the interpreter itself brought (site, .pth files) is not ours to answer for.
    ours = imported(done.stderr) - imported(bare.stderr)
    assert not ours & HEAVY
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", ["--version", "-v"])
def test_version_says_what_was_built(flag: str, tmp_path: Path) -> None:
    from agenyx._version import DESCRIBE

    assert run(flag, cwd=tmp_path).stdout == f"agenyx {DESCRIBE}\n" == version_text()


def test_a_tree_that_was_never_built_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "agenyx._version", None)
    assert version_text() == "agenyx unknown\n"


def test_help_names_every_flag_exit_code_and_variable() -> None:
    text = help_text()
    for flag in FLAGS:
        for name in flag.names:
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", text), name
    for code in (0, 1, 2, 3, 5, 6, 75, 129, 130, 143):
        assert re.search(rf"(?m)(^|\s){code} ", text), code
    for variable in ("AGENYX_MODEL", "AGENYX_HOME", "AGENYX_REASONING_EFFORT", "AZURE_OPENAI_DEPLOYMENT"):
        assert variable in text
    for row in ROWS:
        assert row.key_variable in text and row.url_variable in text
    assert max(len(row) for row in text.splitlines()) <= 120


def test_every_example_of_the_help_parses() -> None:
    import shlex

    from agenyx.ui.parse import parse

    examples = [row.strip() for row in help_text().splitlines() if re.match(r"  (agenyx|git diff) .*\"", row)]
    assert len(examples) >= 4
    for example in examples:
        ours = next(part for part in example.split(" | ") if part.startswith("agenyx "))
        assert parse(shlex.split(ours)[1:]).prompt


def test_the_documentation_table_holds_every_flag() -> None:
    text = markdown()
    for flag in FLAGS:
        assert all(f"`{name}" in text for name in flag.names)


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_offers_every_flag(shell: str) -> None:
    script = completion([shell])
    for flag in FLAGS:
        for name in flag.names:
            assert name.lstrip("-") in script
    for command in COMMANDS:
        assert command in script


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        (["agenyx", "--perm"], ["--permission-mode", "--permission-prompt-tool"]),
        (["agenyx", "--permission-mode", "acc"], ["acceptEdits"]),
        (["agenyx", "--output-format", ""], ["text", "json", "stream-json"]),
        (["agenyx", "comp"], ["completion"]),
        (["agenyx", "completion", "z"], ["zsh"]),
    ],
)
def test_bash_completes(line: list[str], offered: list[str], tmp_path: Path) -> None:
    words = " ".join(f"'{word}'" for word in line)
    script = f"{completion(['bash'])}\nCOMP_WORDS=({words}); COMP_CWORD={len(line) - 1}; _agenyx\n"
    script += 'printf "%s\\n" "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == offered
    assert done.stderr == ""


@pytest.mark.parametrize("argv", [[], ["tcsh"], ["bash", "zsh"]])
def test_completion_without_a_known_shell_is_a_usage_error(argv: list[str], tmp_path: Path) -> None:
    done = run("completion", *argv, cwd=tmp_path)
    assert done.returncode == 2
    assert "bash, zsh, fish" in done.stderr
