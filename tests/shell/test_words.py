"""What words come to: compared with what bash makes of them, and what only the run knows."""

from __future__ import annotations

import json
import os
import re
import subprocess

import pytest

from agenyx.proc import programs
from agenyx.shell import words
from agenyx.shell.words import Expanded, ansi_c, expand, pattern, value

VALUES = {"HOME": "/home/u", "X": "ab", "S": "a b", "F": "a/b.py", "G": "*", "E": ""}
N = None


def lookup(name: str, quoted: bool) -> str | None:
    text = VALUES.get(name)
    return text if quoted or re.fullmatch(r"[\w/.]+", text or "") else None


def tree(text: str, dialect: str = "bash") -> list[dict]:
    """The words of a command after its name."""
    shfmt = programs.find("shfmt", os.environ)
    assert shfmt is not None
    done = subprocess.run((shfmt, "-ln", dialect, "--to-json"), input=f"x {text}".encode(), stdout=-1, check=True)
    return json.loads(done.stdout)["Stmts"][0]["Cmd"]["Args"][1:]


SAME = [
    "a", "''", "a''b", "'a b'", '"a b"', "a\\ b", "\\a\\\\", "'a\\b'", '"a\\b\\\\\\$\\"\\`"', "a\\\nb", '"a\\\nb"',
    "$'a\\tb\\'\\x41\\101\\u00e9\\q'", "'a'\"b\"c\\d$'e'", "$X", '"$X"', "${X}c", '"$S"', '"$G"', "'$X'",
    "\\$X", '"$E"',
    "${F%.py}", '"${F%.py}.txt"', "${F##*/}", '"${F%/*}"', "${F%%.*}x", "${F#*/}", "${F#b}", '"${F%*.py}"',
    "${F##*}''", '"${F%%/*b.}"', "${F%*b*}a" , "${F#a/*.}", "${F##a*/}", '"${S%b}"', "${F%}", "${F#a/b.py.tar.gz}x",
    "$X''", "~", "~/a", "~/'a b'", "'~'", "\\~", '"~/a"', "a~b", "$HOME/x", "~''/a",
    "{a,b}", "x{a,b}y", "{a,b}{c,d}", "{a,{b,c}}", "a{,b}", "{,}", "{a,''}", "{a,'b c'}", '{a,"$S"}', "{$X,c}", "{~,b}",
    "{1..3}", "{3..1}", "{-1..1}x", "{0..0}", "{a}", "{}", "a{}b", "{a{b,c}}", "'{a,b}'", "\\{a,b}",
    "{a\\,b}", "{'a,b'}",
    "{a,b\\}}", "{a..}", "a,b", "a=b", "a=~b", "[", "]", "a]b", "!", "a#b", "%", "+(", "=ls", "-n", "--", "^a", "@",
]  # fmt: skip


@pytest.mark.parametrize("text", [text for text in SAME if text != "+("])
def test_a_word_comes_to_what_bash_makes_of_it(text):
    (word,) = tree(text)
    known = expand(word, lookup)
    if None in known.texts:
        assert text in ("${F%*b*}a", "~''/a", "{a,b\\}}", "a=~b", "{a..}"), "needlessly unknown"
        return
    script = 'printf \'%s\\0\' "$#" "$@"'
    done = subprocess.run(
        ("/bin/bash", "--noprofile", "--norc", "-c", f"f() {{ {script}; }}; f {text}"),
        env=VALUES | {"LC_ALL": "C.UTF-8"},
        cwd="/var/empty" if os.path.isdir("/var/empty") else "/",
        stdout=-1,
        check=True,
    )
    count, *fields = done.stdout.decode().split("\0")[:-1]
    assert (str(len(known.texts)), list(known.texts)) == (count, fields)


@pytest.mark.parametrize(
    "text",
    [
        "$Y", '"$Y"', "a$Y", "$S", "$G", "$E", "$E$X", "$1", '"$@"', "$*", "$(a)", '"`a`"', "$((1))",
        "${X:-a}", "${#X}", "${X%?}", "${X%[a]}", "${X%'a'}", "${X%$X}", "${X#~}", "${Y%a}", "${S%b}",
        "${X/a}", "${X^}",
        "${!X}", "${X[0]}", "<(a)", '$"a"', "~u", "~+", "a=~/b", "a:~", "{a..c}", "{01..3}", "{1..9..2}",
        "{a,b}}", "{1..99}",
        "$'\\0'", "$'\\xff'", "$'\\cA'",
    ],
)  # fmt: skip
def test_what_only_the_run_knows(text):
    (word,) = tree(text)
    assert expand(word, lookup) == Expanded((None,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*", "*"), ("a/*.c", "a/*.c"), ("a?[bc]", "a?[bc]"), ("'*'*", "\\**"), ("\\[a]*", "\\[a]*"), ("~/*",
            "/home/u/*"), ("$G*", N),
        ('"$G"*', "\\**"), ("$X*", "ab*"), ('"a b"*', "a b*"), ("*{a,b}", N), ("a", N), ("$Y*", N),
            ("*.[ch]{,x}", N), ("{*,}", "*"),
    ],
)  # fmt: skip
def test_the_pattern_of_a_glob(text, expected):
    (word,) = tree(text)
    assert pattern(word, lookup) == expected


def test_braces_over_globs_give_a_pattern_each():
    (word,) = tree("{a,b/*,c*}")
    assert expand(word, lookup) == Expanded(("a", None, None), ((1, "b/*"), (2, "c*")))


def test_what_is_assigned_stays_one_word():
    for text, expected in (
        ("*", "*"),
        ("{a,b}", "{a,b}"),
        ("$S", "a b"),
        ("$G$E", "*"),
        ("~/a", "/home/u/a"),
        ("a:~", N),
        ("$Y", N),
    ):
        (word,) = tree(text)
        assert value(word, lookup) == expected, text


def test_sh_is_not_taken_for_bash():
    for text, expected in (
        ("{a,b}", N),
        ("{1..3}", N),
        ("{}", "{}"),
        ("$'a'", N),
        ('$"a"', N),
        ("~/a", "/home/u/a"),
        ("$X", "ab"),
    ):
        (word,) = tree(text, "posix")
        assert expand(word, lookup, "posix").texts == (expected,), text


def test_how_a_word_begins():
    for text, expected in (
        ("a$Y", "a"), ('"a b$Y"c', "a b"), ("$X-$Y", "ab-"), ("$Y", ""), ('"P=$HOME:$Y"', "P=/home/u:"),
            ("-*", "-"), ("'a'*b$Y", "a"),
    ):  # fmt: skip
        (word,) = tree(text)
        assert words.head(word, lookup) == expected, text


def test_a_variable_alone_in_quotes():
    for text in ('"$Y"', '"${Y}"'):
        assert words.quoted_variable(*tree(text)) == "Y", text
    for text in ("$Y", '"$Y."', '"${Y%a}"', '""', "a", '$"$Y"', '"$Y"a', '"${#Y}"', '"${Y[0]}"', '"$Y$Y"'):
        assert words.quoted_variable(*tree(text)) == "", text


def test_one_word_or_many():
    for text in ("a", '"$Y"', '"a$(b)"', "$?", "$#", "$((1))", '"$*"', '"${a[0]}"', '"${a[*]}"'):
        assert words.single(*tree(text)), text
    for text in ("$Y", "$(a)", '"$@"', '"${a[@]}"', '"x${a[@]:1}"', "a$Y", "${#a}$Y"):
        assert not words.single(*tree(text)), text


def test_ansi_c_quotes():
    assert ansi_c('\\e[1m\\E\\?\\"') == '\x1b[1m\x1b?"'
    assert ansi_c("\\U1F600\\u41x") == "😀Ax"
    assert ansi_c("\\ud800") is None and ansi_c("\\U110000") is None
