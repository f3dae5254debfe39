from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from agenyx.shell.state import State, altered, load, parse_dump, save

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


def test_variables_that_no_program_could_be_started_with_are_dropped(tmp_path):
    path = str(tmp_path / "shell")
    save(path, State("/w", {f"V{number}": "x" * 100_000 for number in range(20)}, ("B",)))
    assert load(path) == State("/w", {}, ("B",))
    save(path, State("/w", {"A": "x" * (5 << 20)}))
    assert load(path) == State()
    dump = b"A=" + b"x" * (2 << 20) + b"\0ok\0/w\n"
    assert parse_dump(dump, {}, State("/v", {"A": "1"})) == State("/w", {"A": "1"})


def test_what_shells_and_spawns_set_themselves_is_not_kept(tmp_path):
    dump = b"AGENYX_RUN=x.1\0PWD=/x\0SHLVL=3\0_=y\0=odd\0BASH_FUNC_f%%=() { :; }\0ENV=x\0A=1\0ok\0/w\n"
    assert parse_dump(dump, {"SHLVL": "1"}, State()) == State("/w", {"A": "1"})
    path = tmp_path / "shell"
    path.write_bytes(b"1\0/w\0+AGENYX_RUN=x.1\0+=odd\0+BASH_ENV=x\0+A=1")
    assert load(str(path)) == State("/w", {"A": "1"})


def test_lookups_are_told_by_name():
    assert altered(State("/w", {"HOME": "x", "FOO": "y"}, ("LC_ALL",))) == "an earlier command changed HOME"
    assert altered(State("/w", {"PATH": "x"})) == ""
    assert altered(State("/w", {"PATHS": "x", "MY_PATH": "y", "PYTHONUTF8": "1", "TERM": "dumb"})) == ""
    many = {f"GIT_X{number}": "" for number in range(7)}
    assert altered(State("", many)) == "an earlier command changed GIT_X0, GIT_X1, GIT_X2, GIT_X3, GIT_X4 and 2 more"
    for name in (
        "LD_PRELOAD",
        "PYTHONPATH",
        "PERL5OPT",
        "RUBYOPT",
        "JAVA_TOOL_OPTIONS",
        "PAGER",
        "EDITOR",
        "GIT_PAGER",
    ):
        assert name in altered(State("", {name: "x"})) and name in altered(State("", {}, (name,)))
