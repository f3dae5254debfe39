"""Writing is all or nothing: modes, links, full disks, read-only places, races."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root

as_user = pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_new_file_gets_its_directories_and_the_usual_mode(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    mask = os.umask(0o022)
    try:
        assert root.replace(root.ref("a/b/c.txt"), b"hello", "") == sha(b"hello")
    finally:
        os.umask(mask)
    assert (tmp_path / "a/b/c.txt").read_bytes() == b"hello"
    assert (tmp_path / "a/b/c.txt").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o755
    assert names(tmp_path / "a/b") == ["c.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o755, 0o664, 0o4755])
def test_the_mode_is_kept_without_set_user_bits(tmp_path: Path, mode: int) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "f").chmod(mode)
    root.replace(root.ref("f"), b"new", sha(b"old"))
    assert (tmp_path / "f").stat().st_mode & 0o7777 == mode & 0o1777
    assert (tmp_path / "f").read_bytes() == b"new"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "f").write_bytes(b"old")
    os.chown(tmp_path / "f", 1234, 2345)
    root.replace(root.ref("f"), b"new")
    facts = (tmp_path / "f").stat()
    assert (facts.st_uid, facts.st_gid) == (1234, 2345)


def test_another_hard_link_keeps_the_old_content(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "a").write_bytes(b"old")
    os.link(tmp_path / "a", tmp_path / "b")
    assert root.read_bytes(root.ref("a")).links == 2
    root.replace(root.ref("a"), b"new")
    assert (tmp_path / "b").read_bytes() == b"old"
    assert (tmp_path / "a").read_bytes() == b"new"


def test_content_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "f").write_bytes(b"theirs")
    with pytest.raises(FileProblem, match="changed meanwhile"):
        root.replace(root.ref("f"), b"ours", sha(b"before"))
    with pytest.raises(FileProblem, match="appeared"):
        root.replace(root.ref("f"), b"ours", "")
    with pytest.raises(FileProblem, match="removed"):
        root.replace(root.ref("gone"), b"ours", sha(b"before"))
    assert names(tmp_path) == ["f"]
    assert (tmp_path / "f").read_bytes() == b"theirs"


def test_a_file_marked_read_only_is_respected_also_for_root(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "f").chmod(0o444)
    with pytest.raises(FileProblem, match="read-only"):
        root.replace(root.ref("f"), b"new")
    assert (tmp_path / "f").read_bytes() == b"old"


def test_a_directory_in_the_place_is_refused(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "d").mkdir()
    for text in ("d", "."):
        with pytest.raises(FileProblem, match="directory"):
            root.replace(root.ref(text), b"x")
    (tmp_path / "f").touch()
    with pytest.raises(FileProblem, match="not a directory"):
        root.replace(root.ref("f/x"), b"x")


@as_user
def test_a_read_only_directory_is_a_clear_error(tmp_path: Path) -> None:
    root = Root(str(tmp_path))
    (tmp_path / "d").mkdir()
    (tmp_path / "d/f").write_bytes(b"old")
    (tmp_path / "d").chmod(0o555)
    try:
        for name in ("d/f", "d/new"):
            with pytest.raises(FileProblem, match="permission denied"):
                root.replace(root.ref(name), b"new")
        assert names(tmp_path / "d") == ["f"]
    finally:
        (tmp_path / "d").chmod(0o755)


LIMITED = """
import resource, sys
from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root
root = Root(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
for name in ("old.txt", "new/dir/new.txt"):
    try:
        root.replace(root.ref(name), b"x" * 5000)
    except FileProblem as problem:
        print(problem)
"""


def test_running_out_of_space_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(b"precious")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 2 and all("used up" in line for line in lines), done.stdout
    assert names(tmp_path) == ["old.txt"]
    assert (tmp_path / "old.txt").read_bytes() == b"precious"


FULL = """
import os, sys
from agenyx.workspace.files import FileProblem
from agenyx.workspace.root import Root
root = Root(sys.argv[1])
root.replace(root.ref("old.txt"), b"precious")
for name in ("old.txt", "sub/new.txt"):
    try:
        root.replace(root.ref(name), os.urandom(3 << 20))
    except FileProblem as problem:
        print(problem)
print(sorted(os.listdir(sys.argv[1])), open(os.path.join(sys.argv[1], "old.txt")).read())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a mount namespace")
def test_a_full_disk_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    mount = 'mount -t tmpfs -o size=1m none "$1" && exec "$2" -c "$3" "$1"'
    argv = ["unshare", "-Urm", "sh", "-c", mount, "sh", str(tmp_path), sys.executable, FULL]
    try:
        probe = subprocess.run(["unshare", "-Urm", "true"], capture_output=True, timeout=60, check=False)
    except FileNotFoundError:
        pytest.skip("no unshare")
    if probe.returncode:
        pytest.skip("no user namespaces")
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if "mount" in done.stderr:
        pytest.skip("mounting is not permitted")
    assert done.stdout.count("used up") == 2, done.stdout + done.stderr
    assert "['old.txt'] precious" in done.stdout
