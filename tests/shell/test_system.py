from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess

import pytest

from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell import system
from agenyx.shell.system import MAX_COMMAND, Shell, ShellError


def last(results):
    return results[-1]


def test_output_and_code(run_all):
    assert run_all("echo out; echo err >&2; exit 3") == [(3, "out\nerr\n", "", ".")]


def test_directory_and_exports_stay(run_all, root):
    results = run_all("cd sub && export A='x y\n\"$z' && B=no", 'pwd; echo "[$A] [$B]"; unset A', 'echo "[$A]"; cd -')
    assert results[1] == (0, f'{root}/sub\n[x y\n"$z] []\n', "", "sub")
    assert results[2][1].startswith("[]\n") and results[2][3] == "."


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        ("exit 3", 3),
        ("set -e; false; echo not-here", 1),
        ("set -u; echo $nope; echo not-here", 127),
        ("(exit 4)", 4),
        ("set -C -x -e", 0),
        ("trap 'echo bye' EXIT", 0),
        ("exec 1>&- 2>&-", 0),
        ("set -o posix", 0),
        ("f() { return 9; }; f", 9),
    ],
)
def test_state_is_kept_however_the_command_ends(run_all, leave, code):
    results = run_all(f"cd sub; export KEPT=1; {leave}", "echo $KEPT")
    assert results[0][0] == code and "not-here" not in results[0][1]
    assert results[1][1:] == ("1\n", "", "sub")


def test_exit_trap_of_the_command_runs(run_all):
    assert run_all("trap 'echo bye' EXIT; echo hi")[0][:2] == (0, "hi\nbye\n")
    assert run_all("trap 'echo bye' EXIT; exit 5")[0][:2] == (5, "bye\n")


@pytest.mark.parametrize("leave", ["exec true", "kill -KILL $$", "trap : EXIT; exit 0"])
def test_without_a_state_the_old_one_stays(run_all, leave):
    results = run_all("cd sub; export A=1", f"cd deep; export A=2; {leave}", "echo $A")
    assert results[2][1:] == ("1\n", "", "sub")


def test_tracing_shows_only_the_command(run_all):
    code, output, *_ = last(run_all("set -x; true"))
    assert (code, output) == (0, "++ true\n")
    assert run_all("set -x; exit 4")[0][:2] == (4, "++ exit 4\n")


HARD = {
    "quotes": ("""echo 'a"b' "c'd" $'e\\'f' "\\$g" '$h' "`echo i`" """, "a\"b c'd e'f $g $h i\n"),
    "here document": ("cat <<'E'\n$x `y` '\"\nE\ncat <<E\n$((1+1)) \"'\nE", "$x `y` '\"\n2 \"'\n"),
    "open here document": ("cat <<E\nrest", None),
    "function": ('f() {\n  local x="$1"\n  echo "<$x>"\n}\nf \'a b\'', "<a b>\n"),
    "looks like the end of a quote": ("echo '\"; exit 9; \"'", '"; exit 9; "\n'),
    "case": ("case x in x) echo one;; esac", "one\n"),
    "comment at the end": ("echo one # two", "one\n"),
    "backslash at the end": ("echo one \\", "one \\\n"),
    "option-like": ("-n 2>/dev/null; echo $?", "127\n"),
    "line numbers": ("\n\necho $LINENO", "3\n"),
    "not ascii": ("echo 'ä→🙂'", "ä→🙂\n"),
    "arguments": ('echo "$#"', "0\n"),
    "our variable is not exported": ("env | grep -ci agenyx", "0\n"),
    "arrays": ('a=(1 "2 3"); echo "${#a[@]}" "${a[1]}"', "2 2 3\n"),
    "process substitution": ("while read -r l; do echo \"<$l>\"; done < <(printf 'a\\nb\\n')", "<a>\n<b>\n"),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_text_runs_as_written(run_all, name):
    command, expected = HARD[name]
    code, output, *_ = run_all(command)[0]
    if expected is None:
        assert "rest" in output
    else:
        assert output == expected
    assert code in (0, 1)


@pytest.mark.parametrize(
    "broken", ["echo 'open", "if true; then", "echo $(", "fi", "}; echo escaped", ")", "'; exit 0 #"]
)
def test_broken_text_fails_and_harms_nothing(run_all, broken):
    results = run_all("export A=1; cd sub", broken, "echo $A")
    assert results[1][0] != 0 and "escaped" not in results[1][1].replace(broken, "")
    assert results[2] == (0, "1\n", "", "sub")


def test_shell_with_redefined_builtins_still_ends(run_all):
    results = run_all(
        "exit() { :; }; builtin() { :; }; trap() { :; }; eval() { :; }; printf() { :; }; echo ok; (exit 6)"
    )
    assert results[0][1] == "ok\n"


def test_a_new_shell_over_the_same_state_goes_on(run_all, root, tmp_path):
    run_all("cd sub; export A=1; unset HOME")
    assert run_all('echo "$A ${HOME-none}"; pwd') == [(0, f"1 none\n{root}/sub\n", "", "sub")]
    state = tmp_path / "state"
    assert state.stat().st_mode & 0o777 == 0o700
    assert [(file.name, file.stat().st_mode & 0o777) for file in state.iterdir()] == [("shell", 0o600)]


def test_leaving_the_workspace_is_undone_and_told(run_all, tmp_path, root):
    (root / "way").symlink_to(tmp_path)
    results = run_all("cd sub", "cd /; export A=1", "pwd; echo $A", "cd ../way", "pwd")
    assert "outside the workspace" in results[1][2] and str(root / "sub") in results[1][2]
    assert results[2] == (0, f"{root}/sub\n1\n", "", "sub")
    assert "outside the workspace" in results[3][2]
    assert results[4][1] == f"{root}/sub\n"


def test_a_sibling_with_the_same_beginning_is_outside(run_all, root):
    os.mkdir(f"{root}2")
    assert "outside" in last(run_all(f"cd '{root}2'"))[2]


def test_command_that_removes_its_own_directory(run_all, root):
    results = run_all("mkdir gone; cd gone; rmdir ../gone", "pwd")
    assert "no longer exists" in results[0][2]
    assert results[1] == (0, f"{root}\n", "", ".")


def test_directory_that_vanishes_between_commands(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        await shell.run("cd sub/deep", 30)
        shutil.rmtree(root / "sub")
        return await shell.run("pwd", 30), await shell.run("pwd", 30)

    first, second = drive(body)
    assert first.output.head.decode() == f"{root}\n" and "no longer exists" in first.note
    assert second.note == ""


@pytest.mark.parametrize(
    "content", [b"", b"9\0/", b"1", b"1\0/etc\0+A=1", b"\xff\xfe", b"1\0relative\0+", b"1\0\0-HOME"]
)
def test_a_damaged_state_file_does_no_harm(run_all, tmp_path, root, content):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "shell").write_bytes(content)
    assert run_all("pwd")[0] == (0, f"{root}\n", "", ".")


def test_state_file_is_data_and_not_code(run_all, tmp_path, root):
    run_all("export A='$(touch hit)`touch hit`\n; touch hit'")
    run_all('echo "$A"', "true")
    assert not (root / "hit").exists()


def test_no_place_for_a_state(drive, root, tmp_path):
    (tmp_path / "file").write_bytes(b"")

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "file" / "state"), child_env(dict(os.environ)))
        return await shell.run("cd sub; echo ran", 30)

    result = drive(body)
    assert result.output.head == b"ran\n" and "could not be saved" in result.note


def test_startup_hooks_do_not_run(run_all, tmp_path):
    hook = tmp_path / "hook"
    hook.write_text("echo hooked\n", encoding="utf-8")
    results = run_all(
        f"echo one; export BASH_ENV={hook} ENV={hook}; f() {{ echo hooked; }}; export -f f; export PROMPT_COMMAND=x",
        "echo two; f",
        BASH_ENV=str(hook),
        ENV=str(hook),
        SHELLOPTS="xtrace",
        **{"BASH_FUNC_echo%%": "() { builtin echo hooked; }"},
    )
    assert results[0][1] == "one\n"
    assert results[1][1].startswith("two\n") and "hooked" not in results[1][1]


def test_locale_is_utf8_and_the_users_own_where_it_is(run_all):
    assert run_all("echo $LC_ALL", LANG="C", LC_ALL="")[0][1].strip().upper().endswith("UTF-8")
    assert run_all("echo [$LC_ALL]$LANG", LANG="C.UTF-8", LC_ALL="")[0][1] == "[]C.UTF-8\n"


WAITS = [
    "git log",
    "read x; echo $?",
    "cat",
    "git commit --amend",
    "python3 -c 'input()'",
    "man bash | cat",
    "git rebase -i HEAD~1",
]


@pytest.mark.parametrize("command", WAITS)
def test_nothing_waits_for_a_person(run_all, root, command):
    git = ("git", "-c", "user.name=u", "-c", "user.email=u@x", "-C", str(root))
    subprocess.run((*git, "init", "-q"), check=True)
    for number in range(2):
        subprocess.run((*git, "commit", "-q", "--allow-empty", "-m", f"{number}\n" * 300), check=True)
    code, output, *_ = run_all(f"git config user.name u; git config user.email u@x; {command}")[0]
    if command == "git log":
        assert code == 0 and "Author: u <u@x>" in output


def test_foreign_repository_does_not_leak_in(run_all, root, tmp_path, monkeypatch):
    for place in (root, tmp_path / "other"):
        subprocess.run(("git", "init", "-q", str(place)), check=True)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert run_all("git rev-parse --show-toplevel")[0][1] == f"{root}\n"


def test_timeout_keeps_the_output_and_the_next_command_works(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        return await shell.run("echo begun; sleep 600", 2), await shell.run("echo next", 30)

    first, second = drive(body)
    assert first.timed_out and first.code == -signal.SIGTERM and first.output.head == b"begun\n"
    assert second.output.head == b"next\n"
    assert sorted(file.name for file in (tmp_path / "state").iterdir()) in (["shell"], [])


def test_cancel_leaves_nothing(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        begun = asyncio.Event()
        task = asyncio.create_task(shell.run("echo; sleep 600", 60, lambda _: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await shell.run("echo next", 30)

    assert drive(body).output.head == b"next\n"
    assert not [file for file in (tmp_path / "state").iterdir() if file.name.startswith("dump")]


def test_background_server_survives_the_command(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        result = await shell.run("sleep 600 >log 2>&1 & echo $!", 30)
        again = await shell.run(f"kill -0 {result.survivors[0]} && echo alive", 30)
        return result, again

    result, again = drive(body)
    assert result.survivors == (int(result.output.head),)
    assert again.output.head == b"alive\n"


def test_pkill_does_not_hit_its_own_shell(run_all):
    assert run_all("pkill -f some-server-that-is-not-there; echo after")[0][1] == "after\n"


def test_long_commands(run_all):
    filler = "x" * (MAX_COMMAND - 100)
    assert run_all(f"echo {filler} | wc -c")[0][1].strip() == str(len(filler) + 1)
    with pytest.raises(ShellError, match="longer than"):
        run_all("x" * (MAX_COMMAND + 1))


def test_no_bash(drive, root, tmp_path, monkeypatch):
    monkeypatch.setattr(system, "_BASH", "/no/such/bash")
    bin_ = root / "bin"
    bin_.mkdir()
    (bin_ / "bash").write_text("#!/bin/sh\necho evil\n", encoding="utf-8")
    (bin_ / "bash").chmod(0o755)

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), {"PATH": str(bin_)})
        with pytest.raises(ShellError) as caught:
            await shell.run("true", 30)
        return caught.value

    error = drive(body)
    assert "bash was not found" in error.message and error.fix
