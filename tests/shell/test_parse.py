"""What a command will run, as the parser sees it. N is a word that only the run knows."""

from __future__ import annotations

import asyncio

import pytest

from agenyx.core.tools import Command, Redirect
from agenyx.proc.spawn import Processes
from agenyx.shell import parse as module
from agenyx.shell.parse import MAX_TEXT, Parsed, parse

N = None

SEEN: list[tuple[str, list[list[str | None]]]] = [
    ("ls -la src", [["ls", "-la", "src"]]),
    ("a; b & c && d || ! e | f |& g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
    ("a\nb", [["a"], ["b"]]),
    ("r\\\nm a", [["rm", "a"]]),
    ("\\rm a", [["rm", "a"]]),
    ("r''m 'a b'\"c\"", [["rm", "a bc"]]),
    ("$'r\\x6d' $'a\\tb' $'\\u00e9' $'\\101'", [["rm", "a\tb", "é", "A"]]),
    ('echo "\\$x \\"y\\" \\z"', [["echo", '$x "y" \\z']]),
    ("rm $HOME \"$x\" ${y} $(z)", [["rm", N, N, N, N], ["z"]]),
    ("rm *.c a?b [ab]c ~ ~/x a=~/x {a,b} {1..3}", [["rm", N, N, N, N, N, N, N, N]]),
    ("rm '*.c' \\*.c \"~\" a~b \\~ {} '{a,b}' \\{a,b}",
     [["rm", "*.c", "*.c", "~", "a~b", "~", "{}", "{a,b}", "{a,b}"]]),
    ('rm {a,"b"}', [["rm", N]]),
    ('echo $"x"', [["echo", N]]),
    ("[ -f x ] && test -d y", [["[", "-f", "x", "]"], ["test", "-d", "y"]]),
    ("[[ -n $(a) ]]", [["a"]]),
    ("((x=$(rm a)))", [["rm", "a"]]),
    ("echo $((1+$(a)))", [["echo", N], ["a"]]),
    ("echo `a \\`b\\``", [["echo", N], ["a", N], ["b"]]),
    ("echo ${x:-$(rm)} ${a[$(rm b)]} ${x//a/$(rm c)}", [["echo", N, N, N], ["rm"], ["rm", "b"], ["rm", "c"]]),
    ('echo "${y:=`rm b`}"', [["echo", N], ["rm", "b"]]),
    ("cat <<E\n$(rm a)\nE", [["cat"], ["rm", "a"]]),
    ("cat <<'E'\n$(rm a)\nE", [["cat"]]),
    ("cat <<<$(rm a)", [["cat"], ["rm", "a"]]),
    ("diff <(a) >(b)", [["diff", N, N], ["a"], ["b"]]),
    ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ("while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
    ("for i in $(a); do b $i; done", [["a"], ["b", N]]),
    ("for ((i=0;i<$(a);i++)); do b; done", [["a"], ["b"]]),
    ("case $(a) in x) b;; *) c;; esac", [["a"], ["b"], ["c"]]),
    ("select x in a; do b; done", [["b"]]),
    ("(a; { b; })", [["a"], ["b"]]),
    ("coproc rm a; ! time -p rm b", [["rm", "a"], ["rm", "b"]]),
    ("declare -x A=1 B=$c; export 'D=2' E; local f=$(rm a)",
     [["declare", "-x", "A=1", N], ["export", "D=2", "E"], ["local", N], ["rm", "a"]]),
    ("a=(x $(rm b))", [[], ["rm", "b"]]),
    # programs that run programs
    ("sudo -u x -n rm a", [["sudo", "-u", "x", "-n", "rm", "a"], ["rm", "a"]]),
    ("env -i A=1 -- B=2 rm a", [["env", "-i", "A=1", "--", "B=2", "rm", "a"], ["rm", "a"]]),
    ("/usr/bin/env rm a", [["/usr/bin/env", "rm", "a"], ["rm", "a"]]),
    ("nice -n5 rm a; nice -5 rm b", [["nice", "-n5", "rm", "a"], ["rm", "a"], ["nice", "-5", "rm", "b"], ["rm", "b"]]),
    ("nohup timeout -s KILL 5m rm a &",
     [["nohup", "timeout", "-s", "KILL", "5m", "rm", "a"], ["timeout", "-s", "KILL", "5m", "rm", "a"], ["rm", "a"]]),
    ("exec -a n rm a", [["exec", "-a", "n", "rm", "a"], ["rm", "a"]]),
    ("command -v rm; command -p rm a", [["command", "-v", "rm"], ["command", "-p", "rm", "a"], ["rm", "a"]]),
    ("builtin echo; \\time -f x rm a", [["builtin", "echo"], ["echo"], ["time", "-f", "x", "rm", "a"], ["rm", "a"]]),
    ("xargs -0rn1 rm -f", [["xargs", "-0rn1", "rm", "-f"], ["rm", "-f", N]]),
    ("xargs -I{} cp {} d/{} e", [["xargs", "-I{}", "cp", "{}", "d/{}", "e"], ["cp", N, N, "e"]]),
    ("env; xargs; timeout 5", [["env"], ["xargs"], ["timeout", "5"]]),
    ("bash -ec 'rm \"a b\"; ls' x", [["bash", "-ec", 'rm "a b"; ls', "x"], ["rm", "a b"], ["ls"]]),
    ("sh -o pipefail -c rm; bash script; bash --norc",
     [["sh", "-o", "pipefail", "-c", "rm"], ["bash", "script"], ["bash", "--norc"], ["rm"]]),
    ("eval rm -- '$x'", [["eval", "rm", "--", "$x"], ["rm", "--", N]]),
    ("bash -c \"sh -c 'eval rm a'\"",
     [["bash", "-c", "sh -c 'eval rm a'"], ["sh", "-c", "eval rm a"], ["eval", "rm", "a"], ["rm", "a"]]),
]  # fmt: skip

OPAQUE = [
    ("$X a", "only when it runs"),
    ("{rm,-rf,/}", "only when it runs"),
    ("r? a", "only when it runs"),
    ("sudo $X", "only when it runs"),
    ("sudo $X rm", "only when it runs"),
    ("xargs -I{} {} a", "only when it runs"),
    ("xargs bash -c", "only when it runs"),
    ('eval "$X"', "only when it runs"),
    ('bash -c "$X"', "only when it runs"),
    ("bash $X rm", "only when it runs"),
    ("bash -c", "missing"),
    ("f() { rm a; }; f", "defines the function f"),
    ("function ls { rm a; }", "defines the function ls"),
    ("sudo -s rm", "option -s of sudo"),
    ("env -S 'rm a'", "option -S of env"),
    ("timeout --unknown 5 rm", "option --unknown of timeout"),
    ("bash --rcfile x -c rm", "option --rcfile of bash"),
    ("zsh -c 'rm a'", "zsh may run code"),
    ("source x", "source may run code"),
    ("trap 'rm a' EXIT", "trap may run code"),
    ("rm a )", "not valid bash"),
    ("echo 'open", "not valid bash"),
    ("echo $((rm a); (rm b))", "not valid bash"),
    ("rm\u00a0a", "U+00A0"),
    ("rm \u202ea", "U+202E"),
    ("rm a\u200b", "U+200B"),
    ("rm a\x00b", "U+0000"),
    ("echo a\r\nb", "U+000D"),
    ("rm \udc80", "U+DC80"),
    ("rm a\x1b[2K", "U+001B"),
    ("bash -c $'rm\\ra'", "U+000D"),
    ("x" * (MAX_TEXT + 1), "longer than"),
    ("echo " + "$(echo " * 70 + ")" * 70, "too deep"),
    ("echo " + "$(echo " * 300 + ")" * 300, "too"),
    ("nice " * 30 + "rm", "too deep"),
    ("bash -c ls;" * 10, "too many scripts"),
]


def run(text: str) -> Parsed:
    async def main() -> Parsed:
        processes = Processes()
        try:
            return await parse(processes, text, {})
        finally:
            await processes.close()

    return asyncio.run(main())


@pytest.mark.parametrize(("text", "expected"), SEEN, ids=[text[:40] for text, _ in SEEN])
def test_every_command_is_seen(text, expected):
    parsed = run(text)
    assert [list(command.argv) for command in parsed.commands] == expected
    assert parsed.opaque == ""


@pytest.mark.parametrize(("text", "reason"), OPAQUE, ids=[ascii(text[:40]) for text, _ in OPAQUE])
def test_what_is_not_seen_is_said(text, reason):
    assert reason in run(text).opaque


def test_commands_beside_an_unseen_one_are_listed():
    parsed = run("rm a; $X; ls")
    assert [command.argv for command in parsed.commands] == [("rm", "a"), (None,), ("ls",)]
    assert parsed.opaque


def test_assignments_and_redirections():
    parsed = run('A=1 B+=2 C=$x D= rm a 2>err >>out <in >&2 &>"$f" 3<<<x\n{ ls; } >all\n>only\nenv Z=1 ls; E=(1)')
    rm, group, ls, only, env, inner, array = parsed.commands
    assert rm.assigns == ("A=1", "B+=2", "C", "D=")
    assert array == Command((), ("E",))
    assert [(r.op, r.target) for r in rm.redirects] == [
        (">", "err"), (">>", "out"), ("<", "in"), (">&", "2"), ("&>", None), ("<<<", "x"),
    ]  # fmt: skip
    assert group == Command((), (), (Redirect(">", "all"),)) and ls == Command(("ls",))
    assert only.redirects == (Redirect(">", "only"),)
    assert env.assigns == () and inner == Command(("ls",), ("Z=1",))


def test_without_the_parser_nothing_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(module.programs, "find", lambda *_: None)
    assert run("ls") == Parsed((), "the parser (shfmt) is not installed")
    for name, body, reason in (
        ("slow", "exec sleep 60", "too long"),
        ("bad", "exit 1", "not valid"),
        ("odd", "echo [1]", "not understood"),
        ("junk", "echo '{'", "too deep"),
        ("new", """echo '{"Type":"File","Stmts":[{"Cmd":{"Type":"Novelty"}}]}'""", "Novelty"),
        ("old", """echo '{"Type":"File","Stmts":[{"Redirs":[{"Op":54}]}]}'""", "version of shfmt"),
        ("none", None, "could not be started"),
    ):
        fake = tmp_path / name
        if body is not None:
            fake.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            fake.chmod(0o755)
        monkeypatch.setattr(module.programs, "find", lambda *_, path=str(fake): path)
        assert reason in run("ls").opaque, name
