"""Paths: what is inside, what is refused, and that what was shown leads back."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import pytest

from agenyx.workspace.files import FileProblem, Missing
from agenyx.workspace.root import Root


@pytest.fixture
def box(tmp_path: Path) -> Path:
    (tmp_path / "app").mkdir()
    return tmp_path


@pytest.fixture
def root(box: Path) -> Root:
    return Root(str(box / "app"))


def test_relative_and_absolute_paths_name_the_same_file(box: Path, root: Root) -> None:
    (box / "app/src").mkdir()
    (box / "app/src/a.py").write_text("x", "utf-8")
    one, other = root.ref("src/a.py"), root.ref(str(box / "app/src/../src/./a.py"))
    assert one == other
    assert (one.shown, one.root, one.problem) == ("src/a.py", root.path, "")
    facts = os.stat(box / "app/src/a.py")
    assert one.identity == (facts.st_dev, facts.st_ino)
    assert root.ref(".").shown == "."
    assert root.ref("new/file").identity is None


@pytest.mark.parametrize("text", ["../../etc/passwd", "..", "/etc/passwd", "/", "../app-evil/x", "src/../../x"])
def test_outside_is_outside(root: Root, text: str) -> None:
    ref = root.ref(text)
    assert "outside the workspace" in ref.problem
    assert ref.root is None
    with pytest.raises(FileProblem, match="outside the workspace"):
        root.read_bytes(ref)
    with pytest.raises(FileProblem, match="outside the workspace"):
        root.replace(ref, b"x")


def test_a_sibling_with_the_same_prefix_is_outside(box: Path, root: Root) -> None:
    (box / "app-evil").mkdir()
    (box / "app-evil/x").write_text("secret", "utf-8")
    assert "outside" in root.ref(str(box / "app-evil/x")).problem


@pytest.mark.parametrize(
    "text", ["~/x", "~root/x", "~", "", "   ", "a\0b", "a\\x00b", "file:///etc/passwd", "a/" * 4000]
)
def test_odd_spellings_are_refused_with_a_reason(root: Root, text: str) -> None:
    ref = root.ref(text)
    assert ref.problem
    assert ref.real == b""
    with pytest.raises(FileProblem):
        root.read_bytes(ref)


@pytest.mark.parametrize(
    "text", ["//host/share/x", "\\\\host\\share", "\\??\\C:\\x", "\\\\?\\UNC\\host\\x", "//?/C:/x", "//./pipe/x"]
)
def test_other_machines_are_refused_before_anything_is_looked_up(
    root: Root, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looked(*_: object, **__: object) -> object:
        raise AssertionError("the path was looked up")

    for name in ("stat", "lstat", "readlink", "open"):
        monkeypatch.setattr(os, name, looked)
    assert "another machine" in root.ref(text).problem
    assert root.ref(text).real == b""


def test_doubled_slashes_and_dots_name_the_same_file(box: Path, root: Root) -> None:
    (box / "app/a").mkdir()
    (box / "app/a/f").touch()
    for text in ("a//f", "./a/./f", "a/../a/f", f"//{box}/app/a/f", "a/f/"):
        assert root.ref(text) == root.ref("a/f"), text


@pytest.mark.parametrize("text", ["/dev/zero", "/proc/self/environ", "/dev/fd/0", "/sys/kernel"])
def test_devices_and_kernel_files_are_refused(root: Root, text: str) -> None:
    problem = root.ref(text).problem
    assert "device" in problem or "outside" in problem


def test_a_very_long_name_is_a_problem_not_an_exception(root: Root) -> None:
    assert "too long" in root.ref("a" * 300).problem


def test_links_are_followed_before_judging(box: Path, root: Root) -> None:
    (box / "secret").write_text("s", "utf-8")
    (box / "app/inside").write_text("i", "utf-8")
    (box / "app/to_secret").symlink_to(box / "secret")
    (box / "app/up").symlink_to("..")
    (box / "app/to_inside").symlink_to("inside")
    (box / "app/dangling").symlink_to(box / "not-yet")
    (box / "app/dangling_inside").symlink_to("later")
    for text in ("to_secret", "up/secret", "dangling"):
        assert "outside" in root.ref(text).problem, text
    assert root.ref("to_inside").shown == "inside"
    assert root.ref("dangling_inside").shown == "later"
    assert root.read_bytes(root.ref("to_inside")).data == b"i"


def test_a_write_through_a_dangling_link_makes_its_target_and_keeps_the_link(box: Path, root: Root) -> None:
    (box / "app/link").symlink_to("later")
    root.replace(root.ref("link"), b"x")
    assert (box / "app/later").read_bytes() == b"x"
    assert (box / "app/link").is_symlink()


def test_link_loops_are_refused(box: Path, root: Root) -> None:
    (box / "app/a").symlink_to("b")
    (box / "app/b").symlink_to("a")
    for text in ("a", "a/x"):
        ref = root.ref(text)
        assert "loop" in ref.problem or ref.identity is None
    with pytest.raises(FileProblem):
        root.read_bytes(root.ref("a"))


def test_a_name_that_begins_with_a_tilde_can_be_written_with_a_dot(box: Path, root: Root) -> None:
    (box / "app/~draft").write_text("d", "utf-8")
    ref = root.ref("./~draft")
    assert (ref.problem, ref.shown) == ("", "./~draft")
    assert root.ref(ref.shown) == ref


@pytest.mark.skipif(sys.platform == "darwin", reason="the file system takes only UTF-8 names")
@pytest.mark.parametrize("name", [b"caf\xe9.txt", b"a\nb", b"lit\\x41eral", b"mix\xc3\xa9\xff"])
def test_what_is_shown_leads_back(box: Path, root: Root, name: bytes) -> None:
    path = os.path.join(os.fsencode(box / "app"), name)
    with open(path, "wb") as file:
        file.write(b"content")
    ref = root.at(path)
    assert ref.shown.isprintable()
    again = root.ref(ref.shown)
    assert again == ref
    assert root.read_bytes(again).data == b"content"
    assert [entry.name for entry in root.entries(root.ref("."))[0]] == [name]


def test_a_literal_backslash_name_is_found_as_a_person_types_it(box: Path, root: Root) -> None:
    (box / "app/a\\x41").write_text("x", "utf-8")
    assert root.read_bytes(root.ref("a\\x41")).data == b"x"


def test_protection_is_asked_for_the_real_path(box: Path) -> None:
    root = Root(str(box / "app"), lambda real: "secrets" if real.endswith(b"/.env") else "")
    (box / "app/.env").write_text("K=1", "utf-8")
    (box / "app/link").symlink_to(".env")
    assert root.ref("link").protected == "secrets"
    assert root.ref("other").protected == ""


def test_another_name_of_a_protected_file_is_protected(box: Path) -> None:
    root = Root(str(box / "app"), lambda real: "secrets" if real.endswith(b"/.env") else "")
    (box / "app/sub").mkdir()
    (box / "app/.env").write_text("K=1", "utf-8")
    os.link(box / "app/.env", box / "app/sub/notes.txt")
    os.link(box / "app/sub/notes.txt", box / "app/sub/more.txt")
    assert ".env" in root.ref("sub/notes.txt").protected
    (box / "app/free").write_text("x", "utf-8")
    os.link(box / "app/free", box / "app/also_free")
    assert root.ref("also_free").protected == ""


def test_directories_fifos_sockets_and_devices_are_not_opened(box: Path, root: Root) -> None:
    (box / "app/dir").mkdir()
    os.mkfifo(box / "app/pipe")
    here = os.open(box / "app", os.O_RDONLY)
    try:
        server = socket.socket(socket.AF_UNIX)
        try:
            server.bind(f"/proc/self/fd/{here}/sock" if sys.platform == "linux" else str(box / "app/sock"))
            for name, word in (("dir", "directory"), ("pipe", "FIFO"), ("sock", "socket")):
                with pytest.raises(FileProblem, match=word):
                    root.read_bytes(root.ref(name))
                with pytest.raises(FileProblem, match=word):
                    root.replace(root.ref(name), b"x")
        finally:
            server.close()
    finally:
        os.close(here)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
def test_a_device_in_the_workspace_is_refused(box: Path, root: Root) -> None:
    try:
        os.mknod(box / "app/zero", 0o20666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("devices cannot be made here")
    with pytest.raises(FileProblem, match="device"):
        root.read_bytes(root.ref("zero"))


def test_too_large_is_said_before_anything_is_read(box: Path, root: Root) -> None:
    with open(box / "app/big", "wb") as file:
        os.truncate(file.fileno(), 1 << 40)
    with pytest.raises(FileProblem, match="too large") as caught:
        root.read_bytes(root.ref("big"))
    assert "offset" in caught.value.fix


def test_missing_files_are_told_apart(root: Root) -> None:
    with pytest.raises(Missing):
        root.read_bytes(root.ref("nothing"))
    with pytest.raises(Missing):
        root.read_bytes(root.ref("no/such"))


def test_a_link_that_appears_between_judging_and_opening_is_not_followed(box: Path, root: Root) -> None:
    (box / "secret").write_text("s", "utf-8")
    (box / "app/dir").mkdir()
    (box / "app/dir/f").write_text("x", "utf-8")
    (box / "away").mkdir()
    (box / "away/f").write_text("s", "utf-8")
    ref = root.ref("dir/f")
    (box / "app/dir/f").unlink()
    (box / "app/dir/f").symlink_to(box / "secret")
    with pytest.raises(FileProblem, match="link"):
        root.read_bytes(ref)
    with pytest.raises(FileProblem, match="link"):
        root.replace(ref, b"x")
    (box / "app/dir/f").unlink()
    (box / "app/dir").rmdir()
    (box / "app/dir").symlink_to(box / "away")
    with pytest.raises(FileProblem):
        root.read_bytes(ref)
    with pytest.raises(FileProblem):
        root.replace(ref, b"x")
    assert (box / "secret").read_text("utf-8") == "s"
    assert (box / "away/f").read_text("utf-8") == "s"


def test_listing_is_bounded_and_says_so(box: Path, root: Root) -> None:
    for number in range(12):
        (box / f"app/f{number}").touch()
    found, more = root.entries(root.ref("."), 10)
    assert (len(found), more) == (10, True)
    with pytest.raises(FileProblem, match="not a directory"):
        root.entries(root.ref("f1"))


def test_a_file_that_was_replaced_between_judging_and_reading_is_not_read(box: Path, root: Root) -> None:
    (box / "app/f").write_text("judged", "utf-8")
    (box / "app/secret").write_text("secret", "utf-8")
    ref, folder = root.ref("f"), root.ref(".")
    assert root.read_bytes(ref).data == b"judged"
    (box / "app/f").unlink()
    os.link(box / "app/secret", box / "app/f")
    with pytest.raises(FileProblem, match="replaced meanwhile"):
        root.read_bytes(ref)
    with pytest.raises(FileProblem, match="replaced meanwhile"), root.opened(ref):
        pass
    assert root.read_bytes(root.ref("f")).data == b"secret"  # judged anew, it is what was judged
    assert len(root.entries(folder)[0]) == 2


def test_a_folder_that_was_replaced_is_neither_listed_nor_entered(box: Path, root: Root) -> None:
    (box / "app/d").mkdir()
    (box / "app/d/f").touch()
    ref = root.ref("d")
    with root.standing(ref) as place:
        assert os.listdir(place) == [b"f"]
        (box / "app/d").rename(box / "app/old")
        (box / "app/d").mkdir()
        if sys.platform == "linux":
            assert os.listdir(place) == [b"f"]  # still the folder that was judged
    with pytest.raises(FileProblem, match="replaced meanwhile"):
        root.entries(ref)
    with pytest.raises(FileProblem, match="replaced meanwhile"), root.standing(ref):
        pass


def test_a_replaced_workspace_is_not_the_one_that_was_opened(box: Path, root: Root) -> None:
    (box / "app/f").write_text("x", "utf-8")
    (box / "other").mkdir()
    (box / "other/f").write_text("y", "utf-8")
    (box / "app").rename(box / "away")
    (box / "other").rename(box / "app")
    for act in (lambda ref: root.read_bytes(ref), lambda ref: root.replace(ref, b"z"), lambda ref: root.entries(ref)):
        with pytest.raises(FileProblem, match="replaced meanwhile"):
            act(root.ref("f"))
    assert (box / "app/f").read_text("utf-8") == "y"


def test_words_of_a_command(box: Path, root: Root) -> None:
    (box / "app/src").mkdir()
    (box / "app/src/f").touch()
    (box / "app/out").symlink_to(box)
    assert root.word("src/f") == root.word("f", str(box / "app/src")) == root.word("../app/src/f") == root.ref("src/f")
    outside = root.word("../x")
    assert (outside.root, outside.problem, outside.real) == (None, "", os.fsencode(os.path.realpath(box / "x")))
    assert root.word("out/x") == outside and root.word("..", str(box / "app/src")) == root.ref(".")
    assert root.word("/etc/hosts").problem == "" and root.word("~").shown == "./~"
    assert root.word("", str(box / "app/src")).shown == "src"
    assert root.word("out", removing=True).shown == "out"
    assert root.word("out/", removing=True).real == os.fsencode(os.path.realpath(box))


@pytest.mark.parametrize("word", ["a\0b", "x" * 5000, "/proc/self/environ", "/proc/1/root/etc/passwd", "/dev/sda"])
def test_what_no_command_may_use(root: Root, word: str) -> None:
    assert root.word(word).problem


def test_a_loop_in_a_command_is_a_problem_too(box: Path, root: Root) -> None:
    (box / "app/a").symlink_to("a")
    assert "loop" in root.word("a").problem
    assert root.word("a", removing=True).problem == ""  # removing the link itself is harmless


@pytest.mark.parametrize("word", ["/dev/null", "/dev/stdout", "/dev/fd/3", "/dev/tty", "/dev/urandom"])
def test_harmless_devices_count_as_inside_for_commands_only(root: Root, word: str) -> None:
    ref = root.word(word, writing=True)
    assert (ref.root, ref.protected, ref.problem) == ("/dev", "", "")
    assert root.ref(word).problem


@pytest.mark.skipif(not os.path.exists("/dev/ptmx"), reason="there is no such device")
def test_other_devices_are_asked_about(box: Path, root: Root) -> None:
    (box / "app/way").symlink_to("/dev/ptmx")
    for word in ("/dev/ptmx", "way"):
        assert root.word(word).protected and not root.word(word).problem
        assert root.ref(word).problem


def test_words_never_raise(box: Path, root: Root) -> None:
    for word in ("\udcff", "\ud800", "a/" * 2000, "/" * 4000, "\\x00", "../" * 500, "." * 300, "x" * 300):
        root.word(word)
        root.word(word, removing=True)
        root.ref(word)
