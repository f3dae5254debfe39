"""Links are followed as the system follows them, and what no path may lead to is recognised."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agenyx.workspace.resolve import forbidden, harmless, resolve

LINUX = sys.platform == "linux"


def at(path: Path | str) -> bytes:
    return os.fsencode(path)


def test_links_are_followed_and_named(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path))
    (top / "a/b").mkdir(parents=True)
    (top / "a/b/f").touch()
    (top / "one").symlink_to("a")
    (top / "two").symlink_to(top / "one")
    (top / "three").symlink_to("two/b/../b/f")
    found = resolve(at(top / "three"))
    assert (found.real, found.problem) == (at(top / "a/b/f"), "")
    assert found.via == (at(top / "three"), at(top / "two"), at(top / "one"))
    assert resolve(at(top / "two/new/x")).real == at(top / "a/new/x")
    assert resolve(at(top / "one/../f")).real == at(top / "f")
    assert resolve(b"//" + at(top)[1:] + b"///a/./b/").real == at(top / "a/b")
    assert resolve(b"/../..").real == b"/"


def test_a_link_at_the_end_may_stand_for_itself(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path))
    (top / "dir").mkdir()
    (top / "link").symlink_to("dir")
    assert resolve(at(top / "link"), follow=False).real == at(top / "link")
    assert resolve(at(top / "link") + b"/", follow=False).real == at(top / "dir")
    assert resolve(at(top / "link") + b"/.", follow=False).real == at(top / "dir")
    assert resolve(at(top / "link/x"), follow=False).real == at(top / "dir/x")


def test_loops_and_long_chains_are_problems(tmp_path: Path) -> None:
    top = Path(os.path.realpath(tmp_path))
    (top / "a").symlink_to("b")
    (top / "b").symlink_to("a/x")
    (top / "self").symlink_to("self")
    for name in ("a", "self", "self/x"):
        assert "loop" in resolve(at(top / name)).problem
    (top / "end").touch()
    (top / "l0").symlink_to("end")
    for number in range(1, 60):
        (top / f"l{number}").symlink_to(f"l{number - 1}")
    assert resolve(at(top / "l39")).real == at(top / "end")
    assert resolve(at(top / "l59")).problem


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(["a", "b", "up", "in", "abs", "..", ".", "", "f", "new"]), max_size=8))
def test_it_agrees_with_the_standard_library(tmp_path: Path, parts: list[str]) -> None:
    top = Path(os.path.realpath(tmp_path))
    if not (top / "a").exists():
        (top / "a/b").mkdir(parents=True)
        (top / "a/up").symlink_to("../a")
        (top / "a/in").symlink_to("b/../b")
        (top / "a/abs").symlink_to(top)
        (top / "f").symlink_to("a/b/missing")
    path = "/".join([str(top), *parts])
    assert resolve(at(path)).real == os.path.realpath(at(path))


@pytest.mark.parametrize(
    "path",
    ["/dev/null", "/dev/zero", "/dev/urandom", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/7"],
)
def test_harmless_devices_stay_themselves(path: str) -> None:
    found = resolve(at(path))
    assert found.problem == "" and harmless(found.real) and not forbidden(found.real, None)
    assert resolve(at(path + "/x")).problem


@pytest.mark.skipif(not LINUX, reason="the files of the kernel are those of Linux")
def test_the_files_of_a_process_are_no_way_to_other_files(tmp_path: Path) -> None:
    (tmp_path / "way").symlink_to("/proc/self/cwd")
    (tmp_path / "fd").symlink_to("/proc/self/fd/0")
    for path in ("/proc/self/cwd/x", "/proc/1/root/etc/shadow", f"/proc/{os.getpid()}/fd/0", tmp_path / "way/x"):
        assert "process" in resolve(at(path)).problem, path
    assert "process" in resolve(at(f"/proc/thread-self/task/{os.getpid()}/../../cwd/x")).problem
    assert harmless(resolve(at(tmp_path / "fd")).real)


@pytest.mark.parametrize(
    "path",
    [
        "/proc/self/environ", "/proc/1/mem", "/proc/123/task/124/environ", "/proc/thread-self/auxv", "/proc/kcore",
        "/proc/kmsg", "/proc/sysrq-trigger", "/dev/mem", "/dev/kmsg", "/dev/port", "/dev/sda", "/dev/sda1",
        "/dev/nvme0n1p2", "/dev/mapper/root", "/dev/disk/by-id/x", "/dev/rdisk0", "/dev/input/event0", "/dev/uinput",
        "/sys/firmware/efi/efivars/Boot0000",
    ],
)  # fmt: skip
def test_memory_disks_and_secrets_of_the_kernel_are_forbidden_by_name(path: str) -> None:
    assert forbidden(at(path), None)


@pytest.mark.parametrize(
    "path", ["/proc/cpuinfo", "/proc/self/status", "/dev/shm/x", "/dev/null", "/w/mem", "/sys/class"]
)
def test_the_rest_of_the_kernel_is_not_forbidden(path: str) -> None:
    assert forbidden(at(path), None) == ""


@pytest.mark.skipif(not LINUX or os.geteuid() != 0, reason="only root makes devices")
def test_a_disk_is_forbidden_under_any_name(tmp_path: Path) -> None:
    import stat

    for name, mode, device, bad in (
        ("disk", stat.S_IFBLK, os.makedev(7, 0), True),
        ("memory", stat.S_IFCHR, os.makedev(1, 1), True),
        ("zero", stat.S_IFCHR, os.makedev(1, 5), False),
    ):
        path = tmp_path / name
        try:
            os.mknod(path, mode | 0o600, device)
        except PermissionError:
            pytest.skip("devices cannot be made here")
        assert bool(forbidden(at(path), os.stat(path))) is bad, name


@pytest.mark.skipif(not LINUX, reason="uses /proc")
def test_it_is_what_a_program_would_open(tmp_path: Path) -> None:
    """`cat` of a harmless path through a link reads its own input, not ours."""
    (tmp_path / "in").symlink_to("/dev/stdin")
    assert harmless(resolve(at(tmp_path / "in")).real)
    ended = subprocess.run(["cat", str(tmp_path / "in")], input=b"mine", capture_output=True, check=True, timeout=30)
    assert ended.stdout == b"mine"
