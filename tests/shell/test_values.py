from __future__ import annotations

import os
import subprocess

import pytest

from agenyx.shell.values import KEYED, NUMBER, Match, Place, State, first, is_number, join, lost, widen


@pytest.mark.parametrize(
    "moves",
    [
        ["a"], ["a/b"], ["link"], ["link", ".."], ["link/.."], ["a/b", "..", "../link"], ["-P link", ".."],
        ["-P link/.."],
        ["link", "-P .."], ["a", "../link/../a"], [".."], ["../.."], ["link", "../.."], ["-P a", "b", ".."],
        ["/", "tmp"],
        ["a//b/."], ["-P link", "..", "link"], ["link/up", "..", ".."],
    ],
    ids=" ".join,
)  # fmt: skip
def test_a_place_is_where_bash_ends(tmp_path, moves):
    root = tmp_path / "root"
    (root / "a" / "b").mkdir(parents=True)
    (tmp_path / "far" / "deep" / "up").mkdir(parents=True)
    (root / "link").symlink_to("../far/deep")
    (tmp_path / "far" / "link").symlink_to("deep")
    place = Place()
    for move in moves:
        operand = move.removeprefix("-P ")
        place = place.to(operand, physical=operand != move)
    script = "; ".join(f"cd {move} || exit" for move in moves)
    real = os.path.realpath(root)
    done = subprocess.run(
        ("/bin/bash", "-c", f"{script}; pwd -P"), cwd=real, env={"PWD": real}, stdout=-1, text=True, check=True
    )
    assert os.path.realpath(os.path.join(real, place.text)) == done.stdout.strip()


@pytest.mark.parametrize(
    "script", ["", "cd a", "cd a/link", "cd a; cd ..", "cd a/../a/.", "cd /", "cd /; cd tmp", "cd ./a//link; cd .."]
)
def test_the_directory_in_pwd_is_what_bash_has_there(tmp_path, script):
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "link").symlink_to("b")
    real = os.path.realpath(tmp_path)
    state = first({"PWD": real})
    for move in script.split("; ") if script else ():
        state = state.at((state.place or Place()).to(move.removeprefix("cd ")))
    done = subprocess.run(("/bin/bash", "-c", f'{script}\necho "$PWD"'), cwd=real, stdout=-1, text=True, check=True)
    assert state.lookup("PWD", True) == done.stdout.strip()


def test_a_directory_that_is_not_sure_is_not_known():
    assert all(
        first({"PWD": where}).values.get("PWD") is None for where in ("", "a", "/a/", "/a/../b", "//a", "/\udc80")
    )
    state = first({"PWD": "/a"})
    for place in (None, Place().to(".."), Place().to("b", physical=True), Place().to("/b", physical=True)):
        assert state.at(place).lookup("PWD", True) is None
    assert state.assigned("PWD", "/b").lookup("PWD", True) is None


def test_a_match_of_a_glob_is_one_only_where_the_glob_stood():
    state = first({}).assigned("F", Match("a/*", Place())).assigned("G", Match("/a/*", Place()))
    away = state.at(Place().to("b"))
    assert (state.glob("F"), state.glob("G"), away.glob("F"), away.glob("G")) == ("a/*", "/a/*", None, "/a/*")
    assert state.lookup("F", True) is None and state.glob("HOME") is None and not is_number(state.values["F"])
    assert join(state, state.assigned("F", "x")) == state.without("F")


def test_what_holds_on_both_ways():
    one = State(Place().to("a"), (Place(),), {"X": "x", "N": "1", "M": "1", "K": KEYED, "O": "o"}, errexit=True)
    other = State(Place().to("a"), (), {"X": "x", "N": NUMBER, "M": "2", "K": KEYED, "Z": "z"})
    assert join(one, other) == State(
        Place().to("a"), None, {"X": "x", "N": NUMBER, "M": NUMBER, "K": KEYED}, errexit=False
    )
    assert join(one, None) is one and join(None, other) is other and join(None, None) is None
    assert join(one, one.at(Place()).assigned("X", "y")) == State(
        None, (Place(),), {"N": "1", "M": "1", "K": KEYED, "O": "o"}, errexit=True
    )


def test_what_does_not_settle_is_forgotten():
    before = State(values={"X": "x", "Y": "y"})
    assert widen(before, before.assigned("X", "xx").at(Place().to("a"))) == State(None, (), {"Y": "y"})


def test_what_is_a_number():
    assert all(map(is_number, ("1", " -12 ", "+3", "0x1F", "", NUMBER)))
    assert not any(map(is_number, ("a", "1+1", "a[0]", "1 2", KEYED, None)))


def test_variables_of_the_shell_hold_what_it_puts_there():
    state = first({"HOME": "/h", "CDPATH": "/c", "IFS": "x"})
    assert state.values == {"HOME": "/h", "IFS": " \t\n"}
    assert state.assigned("RANDOM", "rm") == state == state.assigned("BASH_SUBSHELL", "1")
    assert state.globs and not lost().globs and not (join(state, State()) or state).globs
    assert State(haunted=True).assigned("X", "x").values == {}
    assert State(haunted=True).at(Place()).cwd is None
