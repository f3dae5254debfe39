from __future__ import annotations

import asyncio
import os
import signal

import pytest

from agenyx.proc.spawn import ProcessError, Processes, Spawn


def test_exit_code_and_output_in_order(drive, bash):
    script = "for i in {1..300}; do echo o$i; echo e$i >&2; done; exit 7"
    ended = drive(lambda p: p.run(bash(script)))
    assert ended.code == 7
    assert ended.output.head.decode().split() == [f"{c}{i}" for i in range(1, 301) for c in "oe"]
    assert (ended.timed_out, ended.capped, ended.survivors, ended.output.spill) == (False, False, (), None)


def test_death_by_signal_is_a_negative_code(drive, bash):
    assert drive(lambda p: p.run(bash("kill -SEGV $$"))).code == -signal.SIGSEGV


def test_stderr_apart_or_dropped(drive, bash):
    script = "echo out; echo err >&2"
    apart = drive(lambda p: p.run(bash(script, stderr="separate")))
    assert (apart.output.head, apart.errors) == (b"out\n", b"err\n")
    dropped = drive(lambda p: p.run(bash(script, stderr="drop")))
    assert (dropped.output.head, dropped.errors) == (b"out\n", b"")


def test_much_stderr_is_capped_and_does_not_block(drive, bash):
    ended = drive(lambda p: p.run(bash("head -c 3000000 /dev/zero >&2; echo done", stderr="separate")))
    assert ended.output.head == b"done\n"
    assert len(ended.errors) == 65536


def test_stdin_bytes_come_back_whole(drive):
    data = os.urandom(3_000_000)
    spawn = Spawn(argv=("cat",), cwd="/", env={"PATH": "/usr/bin:/bin"}, stdin=data, head=4_000_000)
    assert drive(lambda p: p.run(spawn)).output.head == data


def test_stdin_that_nobody_reads(drive, bash):
    assert drive(lambda p: p.run(bash("exec true", stdin=b"x" * 3_000_000))).code == 0


def test_stdin_is_empty_by_default(drive, bash):
    ended = drive(lambda p: p.run(bash("cat; read x; echo $?")))
    assert ended.output.head == b"1\n"


def test_environment_is_the_one_given(drive):
    spawn = Spawn(argv=("/usr/bin/env",), cwd=b"/", env={"ONLY": "this\udcff"})
    assert drive(lambda p: p.run(spawn)).output.head == b"ONLY=this\xff\n"


def test_directory_may_be_bytes(drive, tmp_path):
    place = os.fsencode(tmp_path) + b"/\xff\xfe"
    os.mkdir(place)
    spawn = Spawn(argv=("/bin/sh", "-c", "pwd -P"), cwd=place, env={})
    assert drive(lambda p: p.run(spawn)).output.head == os.path.realpath(place) + b"\n"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_child_inherits_no_descriptor(drive, bash):
    async def body(p: Processes):
        await p.run(bash("true"))  # the janitor's pipe is open now
        return await p.run(bash("exec ls /proc/self/fd"))

    assert drive(body).output.head.split() == [b"0", b"1", b"2", b"3"]  # 3 is the listing's own


def test_child_has_no_terminal(drive, bash):
    assert drive(lambda p: p.run(bash("(: </dev/tty) 2>/dev/null || echo none"))).output.head == b"none\n"


DAEMONS = {
    "silent": ("sleep 600 &", True),
    "chatty": ("while :; do echo x; sleep 0.01; done &", True),
    "flooding": ("yes &", False),  # ends by a broken pipe once nobody reads
    "nohup": ("nohup sleep 600 &", True),
    "nohup, redirected": ("nohup sleep 600 >/dev/null 2>&1 &", True),
    "double fork": ("( (sleep 600 & echo $! >$0) & ); until [ -s $0 ]; do sleep 0.01; done", True),
    "setsid": ("setsid sleep 600 & sleep 0.05", False),  # has left the group
}


@pytest.mark.parametrize("name", DAEMONS)
def test_daemon_does_not_hold_the_call(drive, bash, lives, until, tmp_path, name):
    script, visible = DAEMONS[name]
    left: list[int] = []

    async def body(p: Processes):
        spawn = bash(f"echo here; {script}\necho pid=$!", timeout=60, head=1 << 20)
        ended = await p.run(Spawn(argv=(*spawn.argv, str(tmp_path / "pid")), **_fields(spawn)))
        pid = ended.output.head.partition(b"pid=")[2].split(b"\n")[0]
        if pid.strip().isdigit():
            left.append(int(pid))
        if visible:
            assert any(lives(pid) for pid in ended.survivors)
        left.extend(ended.survivors)
        return ended

    ended = drive(body)
    assert ended.code == 0 and not ended.timed_out
    assert b"here\n" in ended.output.head
    assert ended.seconds < 30
    if name == "setsid":
        os.kill(left[0], signal.SIGKILL)
    until(lambda: not any(map(lives, left)))  # Processes.close has ended the rest


def _fields(spawn: Spawn) -> dict[str, object]:
    return {name: getattr(spawn, name) for name in spawn.__struct_fields__ if name != "argv"}


TREE = "sleep 600 & echo $!; (trap '' TERM; sleep 600 & echo $!; wait) & echo $!; echo $$; wait"


def test_timeout_ends_the_tree_and_keeps_the_output(drive, bash, lives):
    ended = drive(lambda p: p.run(bash(TREE, timeout=3)))
    assert ended.timed_out and ended.code < 0
    pids = [int(word) for word in ended.output.head.split() if word.isdigit()]
    assert len(pids) == 4
    assert not any(map(lives, pids))
    assert ended.survivors == ()


@pytest.mark.parametrize("twice", [False, True])
def test_cancel_ends_the_tree(drive, bash, lives, until, twice):
    printed = bytearray()

    async def body(p: Processes):
        ready = asyncio.Event()

        def see(data: bytes) -> None:
            printed.extend(data)
            if len(printed.split()) == 4 and printed.endswith(b"\n"):
                ready.set()

        task = asyncio.create_task(p.run(bash(TREE), see))
        await ready.wait()
        task.cancel()
        if twice:
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        pids = [int(word) for word in printed.split() if word.isdigit()]
        if not twice:
            assert not any(map(lives, pids))
        return pids

    pids = drive(body)
    assert len(pids) == 4
    until(lambda: not any(map(lives, pids)))


def test_interrupt_comes_first_where_asked(drive, bash):
    script = "trap 'echo int; exit 5' INT; trap 'echo term; exit 6' TERM; while :; do sleep 0.02; done"
    assert drive(lambda p: p.run(bash(script, timeout=1, interrupt=True))).output.head.endswith(b"int\n")
    assert drive(lambda p: p.run(bash(script, timeout=1))).output.head.endswith(b"term\n")


def test_stop_after_ends_a_flood(drive, bash):
    ended = drive(lambda p: p.run(bash("yes", stop_after=100_000, head=10, tail=10)))
    assert ended.capped and not ended.timed_out
    assert 100_000 <= ended.output.total < 10_000_000
    assert ended.code < 0


def test_much_output_is_capped_and_spilled(drive, bash, tmp_path):
    spill = tmp_path / "spill"
    spawn = bash("seq 1 7000000; echo end", spill=str(spill), spill_cap=1_000_000, head=1000, tail=1000)
    ended = drive(lambda p: p.run(spawn))
    output = ended.output
    assert output.total > 50_000_000
    assert (len(output.head), len(output.tail), output.omitted) == (1000, 1000, output.total - 2000)
    assert output.head.startswith(b"1\n2\n3\n") and output.tail.endswith(b"7000000\nend\n")
    assert output.spill == str(spill)
    assert spill.stat().st_size == 1_000_000 and spill.stat().st_mode & 0o777 == 0o600
    assert spill.read_bytes()[:1000] == output.head


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
def test_memory_does_not_grow_with_the_output(drive, bash):
    def resident() -> int:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    async def body(p: Processes):
        await p.run(bash("head -c 1000000 /dev/zero"))
        before = resident()
        ended = await p.run(bash("head -c 400000000 /dev/zero"))
        return ended.output.total, resident() - before

    total, growth = drive(body)
    assert total == 400_000_000
    assert growth < 40_000_000


def test_output_is_live(drive, bash):
    async def body(p: Processes):
        seen = asyncio.Event()
        task = asyncio.create_task(p.run(bash("echo now; sleep 600"), lambda _: seen.set()))
        await seen.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    drive(body)


@pytest.mark.parametrize(
    ("spawn", "word"),
    [
        (Spawn(argv=("no-such-program",), cwd="/", env={"PATH": "/bin"}), "no-such-program"),
        (Spawn(argv=("/bin/sh",), cwd="/no/such/place", env={}), "/no/such/place"),
        (Spawn(argv=("/etc/passwd",), cwd="/", env={}), "executed"),
        (Spawn(argv=("/bin/sh", "a\0b"), cwd="/", env={}), "NUL"),
        (Spawn(argv=("/bin/sh", "x" * 3_000_000), cwd="/", env={}), "too long"),
    ],
)
def test_what_cannot_start(drive, spawn, word):
    with pytest.raises(ProcessError) as caught:
        drive(lambda p: p.run(spawn))
    assert word in caught.value.message
    assert caught.value.fix.endswith(".")


def test_no_descriptor_is_left_open(drive, bash):
    async def body(p: Processes):
        await p.run(bash("true"))
        before = len(os.listdir("/dev/fd"))
        for _ in range(5):
            await p.run(bash("sleep 600 &", stdin=b"x", stderr="separate"))
            with pytest.raises(ProcessError):
                await p.run(Spawn(argv=("/no/such",), cwd="/", env={}))
        return len(os.listdir("/dev/fd")) - before

    assert drive(body) == 0


def test_child_gives_lines_and_ends_with_its_group(drive, bash, lives):
    async def body(p: Processes):
        # Not bash's own printf: that writes line by line, and the stop could come between.
        child = await p.start(bash("sleep 600 & echo $!; env printf 'port 1\\nrest'; wait"))
        helper = int(await child.line())
        assert await child.line() == b"port 1\n"
        assert lives(child.pid) and lives(helper)
        await child.stop()
        await child.stop()
        assert (await child.line(), await child.line()) == (b"rest", b"")
        assert await child.wait() == -signal.SIGTERM
        return child.pid, helper

    assert not any(map(lives, drive(body)))


def test_close_ends_children_and_running_calls(drive, bash, lives):
    async def body(p: Processes):
        child = await p.start(bash("echo up; sleep 600"))
        await child.line()
        ready = asyncio.Event()
        call = asyncio.create_task(p.run(bash("echo up; sleep 600"), lambda _: ready.set()))
        await ready.wait()
        await p.close()
        assert (await call).code < 0
        return child.pid

    assert not lives(drive(body))
