"""What a command in Markdown becomes: arguments in text and in the shell, and the files it names."""

from __future__ import annotations

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.errors import UsageError
from agenyx.ext.expansion import MOST_CHARS, Shell, expand, in_shell, split


def text(body: str, args: str = "") -> str:
    return "".join(piece if isinstance(piece, str) else f"<{piece.command}>" for piece in expand(body, args).pieces)


@pytest.mark.parametrize(
    ("body", "args", "wanted"),
    [
        ("a $1 b $2", "x 'y z'", "a x b y z"),
        ("$ARGUMENTS!", "  as it  is", "  as it  is!"),
        ("$ARGUMENTSX $0 $A ${1}", "x", "$ARGUMENTSX $0 $A ${1}\n\nArguments: x"),
        ("$10 $1", "1 2 3 4 5 6 7 8 9 ten", "ten 1"),
        ("$100 and $1.50 and $1,000", "x", "$100 and $1.50 and $1,000\n\nArguments: x"),
        ("\\$1 \\!`a` \\@b \\x", "x", "$1 !`a` @b \\x\n\nArguments: x"),
        ("!`a $1` `b $1` x!`c`", "x", "<a x> `b x` x!`c`"),
        ("```\n!`git log`\n```", "", "```\n<git log>\n```"),
        ("!`a\nb`", "", "!`a\nb`"),
        ("$1", "don't $2 !`x`", "don't"),
    ],
)
def test_places_are_filled(body: str, args: str, wanted: str) -> None:
    assert text(body, args) == wanted


def test_what_is_put_in_is_not_looked_at_again() -> None:
    assert text("$1 $2", "'$2 !`id`' '$1'") == "$2 !`id` $1"
    assert [piece for piece in expand("$1", "!`id`").pieces if isinstance(piece, Shell)] == []


def test_files_are_found_in_the_text_and_in_the_arguments_but_not_in_code() -> None:
    found = expand("See @a.py, (@src/$1) and @$2. Not `@c` nor \\@d nor me@e.f nor !`echo @g`", "b.py 'x y'")
    assert found.files == ("a.py", "src/b.py", "x y")
    assert expand("Look", "at @h.md").files == ("h.md",)


def test_a_text_has_a_bound() -> None:
    with pytest.raises(UsageError, match="longer than"):
        expand("$ARGUMENTS " * 20, "x" * (MOST_CHARS // 10))


_words = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12), max_size=4)


@settings(max_examples=60, deadline=None)
@given(_words)
def test_an_argument_is_one_word_to_a_shell_wherever_it_stands(words: list[str]) -> None:
    args = " ".join(words)
    lines = [
        "printf '%s\\0' \"$1\"",
        "printf '%s\\0' \"[$ARGUMENTS]\"",
        "printf '%s\\0' '['$1']'",
        'x="$(printf "%s" "$1")"; printf "%s\\0" "$x."',
    ]
    wanted = [f"{(words or [''])[0]}", f"[{args}]", f"[{(words or [''])[0]}]", f"{(words or [''])[0]}"]
    script = "\n".join(in_shell(line, args, words) for line in lines)
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True, env={"LC_ALL": "C.UTF-8"})
    out = done.stdout.decode().split("\0")
    assert out[:3] == wanted[:3] and done.stderr == b""
    assert out[3].removesuffix(".") == wanted[3].rstrip("\n")


@pytest.mark.parametrize("args", ["", "a", "a 'b c' d", "don't"])
def test_all_arguments_are_as_many_words(args: str) -> None:
    script = in_shell("printf '%s\\0' - $ARGUMENTS", args, split(args))
    out = subprocess.run(["bash", "-c", script], capture_output=True, check=True).stdout.decode()
    assert out.split("\0")[1:-1] == split(args)


@pytest.mark.parametrize(
    "line",
    [
        "cat <<$1",
        "cat <<< $1",
        "echo ${x:-$1}",
        'echo "${x:-$1}"',
        "echo $((1+$1))",
        'echo "$((1+$1))"',
        "((x=$1))",
        "echo $'$1'",
        'echo $"$1"',
        "echo # $1",
        "echo '$1",
    ],
)
def test_places_without_a_sure_meaning_are_refused(line: str) -> None:
    with pytest.raises(UsageError, match="cannot be put safely"):
        in_shell(line, "x", ["x"])
    assert in_shell(line.replace("$1", "y"), "x", ["x"]) == line.replace("$1", "y")
