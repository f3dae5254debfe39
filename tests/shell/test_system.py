from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess

import pytest

from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell import program, system
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
    "of ours only the mark is exported": ("env | grep -i agenyx | cut -d= -f1", "AGENYX_RUN\n"),
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


@pytest.fixture
def no_usual_shells(monkeypatch, root):
    """No /bin/bash and no /bin/sh; a PATH that holds only the workspace's own, which are never taken."""
    bin_ = root / "bin"
    bin_.mkdir()
    for name in ("bash", "sh"):
        (bin_ / name).write_text("#!/bin/cat\nevil\n", encoding="utf-8")
        (bin_ / name).chmod(0o755)
    monkeypatch.setattr(program, "_BASH", "/no/such/bash")
    monkeypatch.setattr(program, "_SH", "/no/such/sh")
    return bin_


@pytest.mark.parametrize(
    ("choice", "words", "dialect"),
    [("auto", "neither bash nor sh", "bash"), ("bash", "bash was not", "bash"), ("sh", "sh was not", "posix")],
)
def test_no_shell_is_told(drive, root, tmp_path, no_usual_shells, choice, words, dialect):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), {"PATH": str(no_usual_shells)}, choice)
        assert shell.dialect == dialect
        with pytest.raises(ShellError) as caught:
            await shell.run("true", 30)
        return caught.value

    error = drive(body)
    assert words in error.message and error.fix


def test_auto_takes_bash_and_else_sh(drive, root, tmp_path, no_usual_shells):
    async def body(processes: Processes, *names: str):
        other = tmp_path / "-".join(names)
        other.mkdir()
        for name in names:
            (other / name).symlink_to(shutil.which(name))
        shell = Shell(processes, str(root), str(tmp_path / "state"), {"PATH": f"{no_usual_shells}:{other}"})
        result = await shell.run("cd sub; echo ${BASH_VERSION:+bash}; pwd", 30)
        return shell.dialect, result.output.head.decode(), shell.where()

    both = drive(lambda processes: body(processes, "bash", "sh"))
    assert both == ("bash", f"bash\n{root}/sub\n", f"{root}/sub")
    assert drive(lambda processes: body(processes, "sh"))[0] == "posix"


def sh(processes: Processes, root, tmp_path, **env: str) -> Shell:
    return Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)) | env, "sh")


SH_LEAVES = {
    "exit 3": 3,
    "set -e; false; echo not-here": 1,
    "set -u; echo $nope; echo not-here": None,
    "(exit 4)": 4,
    "set -C -x -e": 0,
    "trap 'echo bye' EXIT": 0,
    "exec 1>&- 2>&-": 0,
    "f() { return 9; }; f": 9,
    "eval 'echo ('": None,
    "-n 2>/dev/null": 127,
}


@pytest.mark.parametrize("leave", SH_LEAVES)
def test_sh_keeps_its_state_however_the_command_ends(drive, root, tmp_path, leave):
    async def body(processes: Processes):
        shell = sh(processes, root, tmp_path)
        return [
            await shell.run(command, 30)
            for command in (
                f"cd sub; export KEPT='a b\n\"'; f() {{ :; }}; {leave}",
                'echo "$KEPT"; pwd; f || echo no f',
            )
        ]

    first, second = drive(body)
    code = SH_LEAVES[leave]
    assert (first.code == code) if code is not None else first.code > 0
    assert b"not-here" not in first.output.head
    lines = second.output.head.decode().splitlines()
    assert lines[0] == 'a b\\n"' or lines[:2] == ["a b", '"']  # dash's echo reads \n as a line end
    assert f"{root}/sub" in lines and lines[-1] == "no f" and second.note == ""


def test_sh_runs_no_startup_file_and_sees_no_variable_of_ours(drive, root, tmp_path):
    (tmp_path / "hook").write_text("echo hooked\n", encoding="utf-8")

    async def body(processes: Processes):
        shell = sh(processes, root, tmp_path, ENV=str(tmp_path / "hook"), BASH_ENV=str(tmp_path / "hook"))
        return await shell.run('echo "$0" "$#"; echo "${__AGENYX_COMMAND-unset}"; ulimit -S -c', 30)

    assert drive(body).output.head == b"/bin/sh 0\nunset\n0\n"


def test_sh_job_waits_for_what_it_put_into_the_background(drive, root, tmp_path):
    async def body(processes: Processes):
        spawn = sh(processes, root, tmp_path).detached("(sleep 0.1; echo late) & exit 5")
        seen = bytearray()
        ended = await processes.run(spawn, seen.extend)
        return ended.code, bytes(seen)

    assert drive(body) == (5, b"late\n")


def test_where_follows_no_way_out(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        places = [shell.where()]
        await shell.run("cd sub/deep", 30)
        places.append(shell.where())
        shutil.rmtree(root / "sub" / "deep")
        places.append(shell.where())
        (root / "sub" / "deep").symlink_to(tmp_path)
        places.append(shell.where())
        result = await shell.run("pwd", 30)
        return places, result.output.head.decode()

    places, printed = drive(body)
    assert places == [str(root), f"{root}/sub/deep", str(root), str(root)]
    assert printed == f"{root}\n"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("export PATH=$PWD/bin:$PATH", ""),
        ("unset HOME; export GIT_DIR=x", "GIT_DIR, HOME"),
        ("export NODE_OPTIONS=x LD_PRELOAD=y", "LD_PRELOAD, NODE_OPTIONS"),
        ("export FOO=1 PYTHONUNBUFFERED=1 DEBUG=x; cd sub", ""),
        ("PATH=. true; (export PATH=.); GIT_DIR=x", ""),
        ("ls() { :; }; alias cat=rm; shopt -s extglob expand_aliases; set -o posix; hash -p /bin/rm ls", ""),
    ],
)
def test_changed_lookup_variables_are_told(drive, root, tmp_path, command, words):
    async def body(processes: Processes):
        env = child_env(dict(os.environ) | {"HOME": "/root"})
        shell = Shell(processes, str(root), str(tmp_path / "state"), env)
        assert shell.altered() == ""
        await shell.run(command, 30)
        again = Shell(processes, str(root), str(tmp_path / "state"), env)
        return shell.altered(), again.altered()

    now, resumed = drive(body)
    assert now == resumed == (f"an earlier command changed {words}" if words else "")


def test_a_changed_path_is_told_of_the_names_that_it_moves(drive, root, tmp_path):
    (root / "bin").mkdir()
    (root / "bin" / "ls").write_text("#!/bin/sh\n")
    (root / "bin" / "ls").chmod(0o755)

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        first = shell.moved("ls")
        await shell.run("export PATH=$PWD/bin:$PATH", 30)
        there = shell.moved("ls"), shell.moved("cat"), shell.moved("./ls")
        await shell.run("export PATH=.:/usr/bin", 30)
        return first, there, shell.moved("cat")

    first, there, relative = drive(body)
    assert first == "" and there == (f"{root}/bin/ls", "", "")
    assert relative == "a place that depends on the directory"


def test_no_name_outlives_its_command(run_all):
    shadow = (
        "shopt -s expand_aliases extglob; set -o posix; alias cat='echo hit'; hash -p /bin/echo ls\n"
        "ls() { echo hit; }; export -f ls; trap 'echo hit' DEBUG EXIT; enable -n echo; IFS=:; export IFS\n"
        "PROMPT_COMMAND='echo hit'; export PROMPT_COMMAND; command_not_found_handle() { echo hit; }"
    )
    look = 'cat /dev/null; ls -d .; type -t echo; no-such-program 2>/dev/null; a="x y:z"; printf "<%s>" $a'
    assert run_all(shadow, look)[1][1] == ".\nbuiltin\n<x><y:z>"


def test_bash_is_plain_whatever_the_environment_asks_for(run_all):
    ask = "shopt -q extglob && echo extglob; [[ -o posix ]] && echo posix; [[ -o xtrace ]] && echo xtrace; echo $BASH"
    env = {"SHELLOPTS": "posix:xtrace", "BASHOPTS": "extglob", "POSIXLY_CORRECT": "1", "BASH_COMPAT": "32"}
    assert run_all(f"{ask}; echo $BASH_COMPAT", SHELL="/usr/bin/zsh", ZDOTDIR="/etc", **env)[0][1] == "/bin/bash\n\n"


def test_it_is_never_the_persons_own_shell(run_all):
    code, output, *_ = run_all("echo =ls; a='x y'; printf '<%s>' $a; echo ${ZSH_VERSION-none}", SHELL="/bin/zsh")[0]
    assert (code, output) == (0, "=ls\n<x><y>none\n")


def test_state_lies_in_private_files_that_nobody_can_guess(drive, root, tmp_path):
    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        see = f"stat -c '%a %n' '{tmp_path}/state' '{tmp_path}'/state/*"
        return [(await shell.run(f"export A={number}; {see}", 30)).output.head.decode() for number in range(2)]

    first, second = (text.splitlines() for text in drive(body))
    assert first[0] == f"700 {tmp_path}/state"
    assert all(line.startswith("600 ") for line in first[1:] + second[1:])
    assert set(first[1:]).isdisjoint(second[1:])
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["shell"]


@pytest.mark.parametrize(
    "attack",
    [
        "for f in {state}/*; do rm $f; ln -s /etc/passwd $f; done",
        "for f in {state}/*; do rm $f; mkfifo $f; done",
        "rm -r {state}; touch {state}",
        "trap 'for f in {state}/*; do head -c 9000000 /dev/zero >$f; done' EXIT",
        "trap 'for f in {state}/*; do printf \"=x\\0BASH_ENV=/hook\\0A=\\377\\0ok\\0/etc\" >$f; done' EXIT",
    ],
)
def test_a_command_that_writes_to_the_state_harms_only_itself(drive, root, tmp_path, attack):
    async def body(processes: Processes):
        def fresh() -> Shell:
            return Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))

        shell = fresh()
        await shell.run("export A=1", 30)
        await shell.run(attack.format(state=tmp_path / "state"), 30)
        return [await one.run("echo $BASH_ENV; pwd", 30) for one in (shell, fresh())]

    for result in drive(body):
        assert (result.code, result.output.head.decode()) == (0, f"\n{root}\n")


def test_a_flood_is_ended(drive, root, tmp_path, monkeypatch):
    monkeypatch.setattr(system, "MAX_OUTPUT", 20 << 20)

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        return await shell.run("yes", 40), await shell.run("echo next", 30)

    flood, after = drive(body)
    assert flood.code < 0 and not flood.timed_out and "was ended" in flood.note
    assert len(flood.output.head) + len(flood.output.tail) < 200_000
    assert after.output.head == b"next\n"


def lives(pid: str) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except OSError:
        return False


def test_a_burst_of_forks_ends_with_its_command(drive, root, tmp_path):
    burst = (
        "for i in {1..40}; do (exec 2>/dev/null; (echo $BASHPID >>pids; exec sleep 600) & ) & done; setsid sleep 600 &"
    )

    async def body(processes: Processes):
        shell = Shell(processes, str(root), str(tmp_path / "state"), child_env(dict(os.environ)))
        wait = 'until [ "$(wc -l <pids)" = 41 ]; do sleep 0.01; done'
        return await shell.run(f"{burst} echo $! >>pids; {wait}; echo all; sleep 600", 3)

    result = drive(body)
    assert result.timed_out and result.output.head.endswith(b"all\n")
    assert not any(map(lives, (root / "pids").read_text("utf-8").split()))


def test_no_core_files_unless_asked_for(run_all):
    assert run_all("ulimit -S -c; kill -SEGV $BASHPID")[0][:2] == (-signal.SIGSEGV, "0\n")
    hard = subprocess.run(("bash", "-c", "ulimit -H -c"), stdout=subprocess.PIPE, check=True).stdout.decode()
    assert run_all("ulimit -H -c")[0][1] == hard


@pytest.mark.skipif(shutil.which("dash") is None, reason="needs a sh that is not bash")
@pytest.mark.parametrize(
    "script",
    [
        "a=(1 2); [ ${#a[@]} = 2 ]",
        "[[ a == a ]]",
        "((1 + 1))",
        "cat <<< x",
        "cat <(echo x)",
        "[ {1..3} = '1 2 3' ] || set -- {1..3}; [ $# = 3 ]",
        "[ $'a\\tb' != '$a\\tb' ] && [ \"$(printf %s $'\\t' | wc -c)\" = 1 ]",
        "true &> f; wait; [ -s f ]; sh -c 'echo x >&2' &> f; wait; [ -s f ]",
        'x=aa; [ "${x//a/b}" = bb ]',
        "set -o pipefail; ! false | true",
        "mapfile x </dev/null",
        "source /dev/null",
    ],
)
def test_what_the_note_says_is_not_there_is_not_there_in_sh(drive, root, tmp_path, monkeypatch, script):
    monkeypatch.setattr(program, "_SH", shutil.which("dash"))

    async def body(processes: Processes):
        shell = sh(processes, root, tmp_path)
        assert shell.dialect == "posix" and program.POSIX_NOTE.startswith("The shell is POSIX sh")
        bash = Shell(processes, str(root), str(tmp_path / "other"), child_env(dict(os.environ)), "bash")
        return (await shell.run(script, 30)).code, (await bash.run(script, 30)).code

    in_sh, in_bash = drive(body)
    if "pipefail" in script and not in_sh:
        pytest.skip("this dash has pipefail")
    assert in_sh != 0 and in_bash == 0
