from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from agenyx.shell.state import State, load, parse_dump, save

NAMES = st.text(st.characters(codec="ascii", categories=("Lu", "Ll")), min_size=1, max_size=6).map("V".__add__)
VALUES = st.binary(max_size=20).map(lambda b: os.fsdecode(b.replace(b"\0", b"")))


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_what_a_shell_leaves_comes_back(tmp_path_factory, base, after):
    dump = b"".join(os.fsencode(f"{name}={value}") + b"\0" for name, value in after.items()) + b"ok\0/w/\xff\n\n"
    state = parse_dump(dump, base, State())
    assert state is not None and state.cwd == "/w/\udcff\n"
    assert state.env(base) == after
    path = str(tmp_path_factory.mktemp("state") / "shell")
    save(path, state)
    assert load(path) == state
    assert os.stat(path).st_mode & 0o777 == 0o600


def test_half_a_dump_keeps_the_variables_of_before():
    before = State("/w", {"A": "1"}, ("B",))
    assert parse_dump(b"", {}, before) is None
    assert parse_dump(b"/w/sub\n", {}, before) == State("/w/sub", {"A": "1"}, ("B",))
    assert parse_dump(b"A=2\0C", {}, before) == State("C", {"A": "1"}, ("B",))
    assert parse_dump(b"A=2\0ok\0", {}, before) == State("", {"A": "2"}, ())


def test_links_and_pipes_are_not_read(tmp_path):
    target = tmp_path / "target"
    save(str(target), State("/w", {"A": "1"}))
    (tmp_path / "link").symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    assert load(str(tmp_path / "link")) == load(str(tmp_path / "pipe")) == load(str(tmp_path)) == State()
