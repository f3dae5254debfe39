"""What a command will run, as the parser sees it. N is a word that only the run knows."""

from __future__ import annotations

import asyncio

import pytest

from agenyx.core.tools import Command, Redirect
from agenyx.proc.spawn import Processes
from agenyx.shell import parse as module
from agenyx.shell.parse import MAX_TEXT, Parsed, parse

N = None
ENV = {"HOME": "/home/u"}


def run(text: str, dialect="bash", env=None) -> Parsed:
    async def main() -> Parsed:
        processes = Processes()
        try:
            return await parse(processes, text, ENV if env is None else env, dialect=dialect)
        finally:
            await processes.close()

    return asyncio.run(main())


def argvs(parsed: Parsed) -> list[list[str | None]]:
    return [list(command.argv) for command in parsed.commands if command.argv]


SEEN: list[tuple[str, list[list[str | None]]]] = [
    ("ls -la src", [["ls", "-la", "src"]]),
    ("a; b & c && d || ! e | f |& g", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
    ("a\nb", [["a"], ["b"]]),
    ("r\\\nm a", [["rm", "a"]]),
    ("\\rm a", [["rm", "a"]]),
    ("r''m 'a b'\"c\"", [["rm", "a bc"]]),
    ("$'r\\x6d' $'a\\tb' $'\\u00e9' $'\\101'", [["rm", "a\tb", "é", "A"]]),
    ('echo "\\$x \\"y\\" \\z"', [["echo", '$x "y" \\z']]),
    ("rm $X \"$x\" ${y} $(z) $PWD/a ~u ~+ a=~/x", [["rm", N, N, N, N, N, N, N, N], ["z"]]),
    ("rm ~ ~/x $HOME \"$HOME/y\" ${HOME}z '~/q' \\~/r",
     [["rm", "/home/u", "/home/u/x", "/home/u", "/home/u/y", "/home/uz", "~/q", "~/r"]]),
    ("HOME=/x; rm ~ $HOME", [["rm", "/x", "/x"]]),
    ("read HOME; rm ~ $HOME", [["read", "HOME"], ["rm", N, N]]),
    ("rm '*.c' \\*.c \"~\" a~b {} '{a,b}' \\{a,b} {x}", [["rm", "*.c", "*.c", "~", "a~b", "{}", "{a,b}",
        "{a,b}", "{x}"]]),
    ("mkdir -p src/{a,\"b c\"} {1..3} {a,b{c,d}}e", [["mkdir", "-p", "src/a", "src/b c", "1", "2", "3", "ae",
        "bce", "bde"]]),
    ("rm {a..c} {01..3} {a,b}} {1..900}", [["rm", N, N, N, N]]),
    ('echo $"x"', [["echo", N]]),
    ("[ -f x ] && test -d y", [["[", "-f", "x", "]"], ["test", "-d", "y"]]),
    ("[[ -n $(a) ]]", [["a"]]),
    ("((x=1)); echo $((x + $(wc -l <f)))", [["echo", N], ["wc", "-l"]]),
    ("echo `a \\`b\\``", [["echo", N], ["a", N], ["b"]]),
    ("echo ${x:-$(rm)} ${x//a/$(rm c)}", [["echo", N, N], ["rm"], ["rm", "c"]]),
    ('echo "${y:=`rm b`}"', [["echo", N], ["rm", "b"]]),
    ("cat <<E\n$(rm a)\nE", [["cat"], ["rm", "a"]]),
    ("cat <<'E'\n$(rm a) `b` ${c}\nE", [["cat"]]),
    ("cat <<<$(rm a)", [["cat"], ["rm", "a"]]),
    ("diff <(a) >(b)", [["diff", N, N], ["a"], ["b"]]),
    ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
    ("while a; do b; done; until c; do d; done", [["a"], ["b"], ["c"], ["d"]]),
    ("for i in $(a); do b $i; done", [["a"], ["b", N]]),
    ("case $(a) in $(p)) b;& *) c;; esac", [["a"], ["p"], ["b"], ["c"]]),
    ("select x in a; do b; done", [["b"]]),
    ("(a; { b; })", [["a"], ["b"]]),
    ("coproc rm a; ! time -p rm b", [["rm", "a"], ["rm", "b"]]),
    ("declare -x A=1 B=$c; export 'D=2' E; f=$(rm a)",
     [["declare", "-x", "A=1", N], ["export", "D=2", "E"], ["rm", "a"]]),
    ("a=(x $(rm b))", [["rm", "b"]]),
    ("exit; rm a", [["exit"], ["rm", "a"]]),
    # what other programs make of their words is not looked into here
    ("sudo rm a; sh -c 'rm b'; eval 'rm c'", [["sudo", "rm", "a"], ["sh", "-c", "rm b"], ["eval", "rm c"]]),
    # variables
    ("X=rm; $X -r a", [["rm", "-r", "a"]]),
    ("X='rm -r'; \"$X\" a; echo $X", [["rm -r", "a"], ["echo", N]]),
    ("X=a; if b; then X=a; fi; c $X", [["b"], ["c", "a"]]),
    ("X=a; if b; then X=c; fi; d $X", [["b"], ["d", N]]),
    ("X=a; (X=b); { X=c; } | d; e $X", [["d"], ["e", "a"]]),
    # loops
    ("for i in a 'b c'; do x $i \"$i\" \"$i.c\"; done; y $i",
     [["x", "a", "a", "a.c"], ["x", N, "b c", "b c.c"], ["y", N]]),
    ("for i in {a,b}.c; do x ${i%.c}.o; y; done", [["x", "a.o"], ["y"], ["x", "b.o"]]),
    ("for i in a b; do for j in c d; do x $i$j; done; done", [["x", "ac"], ["x", "ad"], ["x", "bc"], ["x", "bd"]]),
    ("for i in a b; do x $i; i=c; y $i; done", [["x", "a"], ["y", "c"], ["x", "b"]]),
    ("for i in a b; do read i; x $i; done", [["read", "i"], ["x", N]]),
    ("for i in a b; do eval $y; x $i; done", [["eval", N], ["x", N]]),
    ("f() { i=c; }; for i in a b; do f; x $i; done", [["f"], ["x", N]]),
    ("for i in a b; do y && continue; x $i; done", [["y"], ["continue"], ["x", "a"], ["x", "b"]]),
    ("for i in rm ls; do $i a; done", [["rm", "a"], ["ls", "a"]]),
    ("for i in a $y; do x $i; done", [["x", N]]),
    ("for i in a *; do x \"$i\"; done", [["x", "a"], ["x", N]]),
    ("for i in {1..16}; do x $i; done", [["x", str(i)] for i in range(1, 17)]),
    ("for i in {1..17}; do x $i; done", [["x", N]]),
    ("for i in {1..16}; do for j in {1..16}; do x $j; done; done", [["x", N]]),
    ("for i in a b; do " + "x;" * 65 + "y $i; done", [["x"]] * 65 + [["y", N]]),
    ("select i in a b; do x $i; done", [["x", N]]),
    ("readonly i; for i in a b; do x $i; done", [["readonly", "i"], ["x", N]]),
    ("f() { X=a; local X; x \"$X\"; X=b; declare X; y \"$X\"; X=c; export X; z $X; }",
     [["local", "X"], ["x", N], ["declare", "X"], ["y", N], ["export", "X"], ["z", "c"]]),
    ("X=a; declare X; x $X", [["declare", "X"], ["x", "a"]]),
    ("X=a; for i in 1 2; do b $X; X=c; done; d $X", [["b", N], ["d", N]]),
    ("X=a Y=$X b $X $Y", [["b", N, N]]),
    ("X=a; X+=b; c $X ${X}d", [["c", "ab", "abd"]]),
    ("X='*'; a $X \"$X\"", [["a", N, "*"]]),
    ("X=a-b; IFS=-; c $X \"$X\"", [["c", N, "a-b"]]),
    ("X=a; f() { X=b; }; f; c $X", [["f"], ["c", N]]),
    ("X=a; . ./f; c $X", [[".", "./f"], ["c", N]]),
    ("X=a; trap 'X=b' DEBUG; c $X; X=a; d $X", [["trap", "X=b", "DEBUG"], ["c", N], ["d", N]]),
    ("declare -u X; X=a; b $X", [["declare", "-u", "X"], ["b", N]]),
    ("readonly X=a; X=b; c $X", [["readonly", "X=a"], ["c", N]]),
    ("X=a; local X=b; c $X", [["local", "X=b"], ["c", N]]),
    ("X=; $X rm a", [[N, "rm", "a"]]),
    ("RANDOM=a; b $RANDOM", [["b", N]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), SEEN, ids=[text[:40] for text, _ in SEEN])
def test_every_command_is_seen(text, expected):
    parsed = run(text)
    assert argvs(parsed) == expected
    assert parsed.opaque == ("the name of a command is known only when it runs" if [N, "rm", "a"] in expected else "")


PLAIN = [
    "i=0; while [ $i -lt 3 ]; do echo $i; i=$((i+1)); done; echo $((i * 2))",
    "for ((i=0; i<10; i++)); do [ $i = 3 ] && continue; echo ${a[i]} ${a[$i]} ${s:i:1}; done",
    "for i in {1..5}; do echo $((i % 2)); done; for i in $(seq 1 5); do ((i > 2)) && break; done",
    "n=$(grep -c 'a b' f || true); [ $n -gt 0 ] && echo $((n + 1)); hash -r; hash make",
    "count=0; for f in *.py; do count=$((count + 1)); ((count++)); done; echo $count",
    "n=$(wc -l < f); m=$(ls | wc -l); echo $((n - m)) $(( $(date +%s) - 5 ))",
    "s=$(date +%s); make; e=$(date +%s); echo $((e - s)) $SECONDS $((RANDOM % 6))",
    "a=(1 2 3); echo \"${a[@]}\" ${#a[@]} ${a[0]} ${a[-1]} ${!a[@]}; t=0; for x in 1 2; do t=$((t + x)); done",
    "declare -A m; m[$k]=1; m[\"a b\"]=2; echo ${m[$k]} ${!m[@]}",
    'for f in *.py; do echo "$f" "${f%.py}" "${f##*/}" ${f:-x} ${f^^} ${#f} ${f@Q}; done',
    'while IFS= read -r line || [ -n "$line" ]; do echo "$line"; done < f',
    '[[ -f $x && $y == *.py && ! $z =~ ^(a|b)+$ ]] && [ -z "$x" ] || [ "$x" = "$y" ] && test ! -e "$z"',
    "[[ $? -eq 0 && $# -gt 1 && ${#x} -le 3 ]]; [ $? -eq 0 ]; [ $# -lt 2 ]",
    "cat > f <<EOF\nhome $HOME $(date)\nEOF",
    "printf '%s\\n' \"$x\"; printf \"x $y\\n\"; printf -v z '%d' 3; unset z; getopts ab: o; wait; cmd & wait $!",
    "set -euo pipefail; shopt -s nullglob globstar; local_thing=1; trap 'rm -f \"$tmp\"' EXIT",
    "declare -i n=5; n=6; n+=1; echo $n; let n++ m=n+2",
    "pids=(); for i in 1 2; do make & pids+=($!); done; wait \"${pids[@]}\";",
    "x=y; echo ${!x}; exec 3>&1; mapfile -t lines < f; read -r -p 'Go? ' answer; export \"P=$x:y\"",
    "case \"$1\" in start|stop) echo ok;; *) exit 1;; esac",
    "f() { local a=$1; echo \"$a\"; return 0; }; f x",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN, ids=[text[:40] for text in PLAIN])
def test_ordinary_scripts_are_wholly_seen(text):
    assert run(text).opaque == ""


OPAQUE = [
    ("$X a", "only when it runs"),
    ("r? a", "only when it runs"),
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
    ("x" * (MAX_TEXT + 1), "longer than"),
    ("echo " + "$(echo " * 70 + ")" * 70, "too deep"),
    ("echo " + "$(echo " * 300 + ")" * 300, "too"),
    ("for i in a; do " * 12 + "X=$Y$X" + "; done" * 12, ""),
    ("a;" * 4000, "too long to be followed"),
    ("time -- rm a", "option of time"),
    # S14: bash evaluates what a text holds
    ("echo ${x@P}", "as a prompt"),
    ('a=("${b[@]@P}")', "as a prompt"),
    ("echo ${!x}", "${!x}"),
    ("x='a[$(id)]'; echo ${!x}", "${!x}"),
    ("echo ${!a[0]}", "${!a}"),
    ("echo $((x))", "more than a number"),
    ("read x; ((x > 1))", "more than a number"),
    ("x='a[$(id)]'; echo $((x))", "more than a number"),
    ("x=y; echo $((x + 1))", "more than a number"),
    ("if a; then x=1; fi; echo $((x))", "more than a number"),
    ("x=1; x=$(cat f); echo $((x))", "more than a number"),
    ("f() { x=$(cat f); }; x=1; f; echo $((x))", "more than a number"),
    ("x=1; eval $y; echo $((x))", "more than a number"),
    ("unset RANDOM; echo $((RANDOM))", "more than a number"),
    ("for x in *; do echo $((x)); done", "more than a number"),
    ("wc() { cat f; }; echo $(( $(wc -l) ))", "more than a number"),
    ("echo ${a[x]}", "more than a number"),
    ("echo ${s:x:1}", "more than a number"),
    ("a[$x]=1", "more than a number"),
    ("declare -A m; ((m[$k]++))", "more than a number"),
    ("echo $(( $1 + 1 ))", "more than a number"),
    ("let 'x=a[$(id)]'", "more than a number"),
    ("builtin let 'x=a[$(id)]'", "let as text"),
    ("[[ $x -eq 1 ]]", "more than a number"),
    ("[[ 'a[$(id)]' -gt 1 ]]", "more than a number"),
    ("[[ -v 'a[$(id)]' ]]", "[[ -v"),
    ("[[ -v $x ]]", "[[ -v"),
    ("test -v 'a[$(id)]'", "word of test"),
    ('[ -v "$x" ]', "word of test"),
    ('[ "$x" "$y" ]', "word of test"),
    ("[ $x = y ]", "word of test"),
    ("printf -v 'a[$(id)]' x", "name is known only"),
    ('printf -v "$x" y', "name is known only"),
    ('printf "$x" y', "format of printf"),
    ("read 'a[$(id)]'", "name is known only"),
    ("read -r \"$x\"", "name is known only"),
    ("unset 'a[$(id)]'", "name is known only"),
    ("mapfile -C 'rm a' -c 1 x", "name is known only"),
    ("declare 'a[$(id)]=1'", "name is known only"),
    ('declare "$x=1"', "name is known only"),
    ("export $x", "name is known only"),
    ("command export \"$x=1\"", "name is known only"),
    ("declare -n r=x", "stand for another"),
    ("declare -i n; n=$x", "evaluated as arithmetic"),
    ("declare -i n; read n", "evaluated as arithmetic"),
    ('wait -p "$x"', "name is known only"),
    # S15: other shells
    ("echo ${(e)x}", "not valid bash"),
    ("echo *(e:rm:)", "extglob"),
    ("echo *.c(.)", "not valid bash"),
    ("!(rm a)", "extglob"),
    ("[[ x == @($(rm a)) ]]", "does not see"),
    ("echo ${ rm a; }", "version of bash"),
    # what changes how the rest is read
    ("shopt -s expand_aliases\nalias ls=rm\nls", "shopt expand_aliases"),
    ("shopt -s lastpipe", "shopt lastpipe"),
    ("enable -n cd; cd /", "means"),
    ("hash -p ./x ls; ls", "means"),
    ("set -k; ls PATH=.", "set -k"),
    ("set -o posix", "set -o posix"),
    ("set $x", "options of the shell"),
    ("POSIXLY_CORRECT=1", "POSIXLY_CORRECT"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "reason"), OPAQUE, ids=[ascii(text[:40]) for text, _ in OPAQUE])
def test_what_is_not_seen_is_said(text, reason):
    assert reason in run(text).opaque


def test_commands_beside_an_unseen_one_are_listed():
    parsed = run("rm a; $X; ls")
    assert [command.argv for command in parsed.commands] == [("rm", "a"), (None,), ("ls",)]
    assert parsed.opaque


def test_a_payload_behind_many_commands_is_seen_or_refused():
    for joint in (" && ", "; ", " | ", " || "):
        for count in (60, 1500):
            parsed = run(joint.join(["true"] * count + ["rm a"]))
            assert parsed.opaque or parsed.commands[-1].argv == ("rm", "a"), (joint, count)
        assert not run(joint.join(["true"] * 60 + ["rm a"])).opaque


def test_what_grows_without_end_is_not_followed():
    for text in (
        "X=aaaa;" + "X=$X$X;" * 600 + "rm $X",
        "X=" + "a" * 4000 + ";rm " + "$X" * 3000,
        "rm " + "{a,b}" * 3000,
    ):
        parsed = run(text)
        assert parsed.opaque or parsed.commands[-1].argv == ("rm", None)


WHERE = [
    # (script, directory of the last command)
    ("x", ""),
    ("cd a && x", "a"),
    ("cd a && cd b && x", "a/b"),
    ("cd a; x", None),
    ("cd a && b; x", None),
    ("cd a || exit 1; x", "a"),
    ("cd a || { echo no; exit; }; x", "a"),
    ("cd a || exit 1 2; x", None),
    ("cd a || true; x", None),
    ("cd a || x", ""),
    ("if cd a; then x; fi", "a"),
    ("if ! cd a; then exit; fi; x", "a"),
    ("if cd a; then b; fi; x", None),
    ("set -e; cd a; x", "a"),
    ("set -euo pipefail\ncd a\nx", "a"),
    ("set -e; cd a || b; x", None),
    ("set -e; set +e; cd a; x", None),
    ("f() { set +e; }; set -e; f; cd a; x", None),
    ("(set -e; cd a; x)", "a"),
    ("if (set -e; cd a; x); then b; fi; x", ""),
    ("(set -e; cd a; x) || true", None),
    ("(cd a && b); x", ""),
    ("(cd a && x)", "a"),
    ("echo $(cd a && b); x", ""),
    ("echo $(cd a && x)", "a"),
    ("cd a && echo $(x)", "a"),
    ("cd a | b; x", ""),
    ("b | cd a; x", ""),
    ("b | { cd a && x; }", "a"),
    ("cd a & x", ""),
    ("b <(cd a && c); x", ""),
    ("{ cd a && b; } && x", "a"),
    ("cd /etc && x", "/etc"),
    ("cd /etc/ssl/.. && x", "/etc"),
    ("cd /.. && x", "/"),
    ("cd .. && x", ".."),
    ("cd ../.. && cd a && x", "../../a"),
    ("cd a && cd .. && x", ""),  # bash goes back the way it came, also through a link
    ("cd a/../b && x", "b"),
    ("cd -P a && cd .. && x", "a/.."),
    ("cd -P a/.. && x", "a/.."),
    ("cd -L -- ./a/ && x", "a"),
    ("command cd a && x", "a"),
    ("builtin cd /etc && x", "/etc"),
    ("\\cd a && x", "a"),
    ("c''d a && x", "a"),
    ("command -v cd && x", ""),
    ("cd && x", None),
    ("cd - && x", None),
    ("cd $D && x", None),
    ("cd \"$D\" && cd /b && x", "/b"),
    ("D=a; cd $D && x", "a"),
    ("cd ~/a && x", "/home/u/a"),
    ("cd a b && x", None),
    ("cd '' && x", None),
    ("CDPATH=/etc; cd a && x", None),
    ("CDPATH=/etc cd a && x", None),
    ("CDPATH=/etc; cd ./a && x", "a"),
    ("read CDPATH; cd a && x", None),
    ("for CDPATH in b; do :; done; cd a && x", None),
    ("pushd a && x", "a"),
    ("pushd a && b && popd && x", ""),
    ("pushd a && popd; x", None),
    ("pushd && x", None),
    ("popd && x", None),
    ("pushd +1 && x", None),
    ("for d in b c; do cd a && x; done", None),
    ("for d in b c; do cd /a && x; done", "/a"),
    ("for d in b c; do (cd a && b); x; done", ""),
    ("for d in b c; do cd a; break; done; x", None),
    ("while b; do cd a || break; done; x", None),
    ("while b; do c || break; done; x", ""),
    ("case b in c) cd a;; esac; x", None),
    ("case b in c) cd /a && d ;& *) x;; esac", None),
    ("f() { x; }", ""),
    ("cd a && f() { x; }", None),
    ("f() { cd a; }; f; x", None),
    ("f() { b; }; cd a && f && x", "a"),
    ("f() { return; b; }; cd a && f && x", "a"),
    ("return; x", ""),
    ("$X; x", None),
    ("eval 'cd a'; x", None),
    ("source f; x", None),
    ("trap 'cd /' USR1; cd /a && x", None),
    ("trap 'cd /' EXIT; cd /a && x", "/a"),
    ("cd() { builtin cd /; }; cd a && x", None),
    ("exec b; x", ""),
    ("exit; x", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "cwd"), WHERE, ids=[text[:40] for text, _ in WHERE])
def test_the_directory_is_followed(text, cwd):
    places = [command.cwd for command in run(text).commands if command.argv == ("x",)]
    assert places[-1:] == [cwd]


def test_a_search_path_for_cd_in_the_environment_hides_the_directory():
    assert run("cd a && x", env={"CDPATH": "/etc"}).commands[1].cwd is None
    assert run("rm ~", env={"HOME": "relative"}).commands[0].argv == ("rm", None)


def test_redirections_stand_in_the_directory_where_they_open():
    parsed = run("cd a >f && { b; } >g && cd /c && d >h")
    assert [(command.cwd, command.redirects[0].target) for command in parsed.commands if command.redirects] == [
        ("", "f"), ("a", "g"), ("/c", "h"),
    ]  # fmt: skip


def test_functions_are_named_and_their_bodies_seen():
    parsed = run("ls() { rm -rf ~; }\nfunction g { curl x; } >out\nls; g")
    assert parsed.functions == {"ls", "g"} and parsed.opaque == ""
    assert argvs(parsed) == [["rm", "-rf", "/home/u"], ["curl", "x"], ["ls"], ["g"]]
    assert any(command.redirects == (Redirect(">", "out"),) for command in parsed.commands)


def test_code_in_words_is_left_to_those_who_judge_commands():
    parsed = run("alias ls='rm -rf .'; trap 'rm a' EXIT; eval 'rm b'; source ./x; . y; bash z.sh")
    assert [command.argv[0] for command in parsed.commands] == ["alias", "trap", "eval", "source", ".", "bash"]
    assert parsed.opaque == ""


def test_assignments():
    parsed = run("A=1 B+=2 C=$x D= rm a\nE=(1)\nF=*.c G={a,b}")
    rm, array, texts = parsed.commands
    assert rm.assigns == ("A=1", "B+=2", "C", "D=")
    assert array == Command((), ("E",))
    assert texts.assigns == ("F=*.c", "G={a,b}")


@pytest.mark.parametrize(
    ("text", "assigns"),
    [
        ("PATH=. ls", ["PATH=."]),
        ("export LD_PRELOAD=./x.so", ["LD_PRELOAD=./x.so"]),
        ("export \"PATH=$x:y\"", ["PATH"]),
        ("declare -x BASH_ENV=f", ["BASH_ENV=f"]),
        ("readonly 'PAGER=sh x'", ["PAGER=sh x"]),
        ("f() { local GIT_SSH=./x; }", ["GIT_SSH=./x"]),
        ("\\export PATH=.", ["PATH=."]),
        ("command export PATH=.", ["PATH=."]),
        ("builtin declare -x \"PATH=$x\"", ["PATH"]),
        ("for PATH in .; do :; done", ["PATH"]),
        ("select PATH in .; do :; done", ["PATH"]),
        ("read -r PATH", ["PATH"]),
        ("read -a PATH IFS", ["PATH", "IFS"]),
        ("mapfile -t PATH", ["PATH"]),
        ("printf -v PATH .", ["PATH"]),
        ("getopts a PATH", ["PATH", "OPTARG", "OPTIND"]),
        ("unset PATH", ["PATH"]),
        ("wait -n -p PATH", ["PATH"]),
        ("((PATH=1))", ["PATH"]),
        ("let PATH=1", ["PATH"]),
        (": ${PATH:=.}", ["PATH"]),
        ("coproc PATH { :; }", ["PATH", "PATH_PID"]),
        ("exec {PATH}>f", ["PATH"]),
    ],
)  # fmt: skip
def test_every_way_to_set_a_variable_is_seen(text, assigns):
    found = [assign for command in run(text).commands for assign in command.assigns]
    assert [assign for assign in assigns if assign not in found] == []


def test_redirections():
    parsed = run('x 2>err >>out <in >&2 2>&1 3<&- 4>&3- >&f &>"$g" &>>h <>i >|j 5>k {fd}>l >! m >/dev/tcp/h/80')
    assert [(r.op, r.target) for r in parsed.commands[0].redirects] == [
        (">", "err"), (">>", "out"), ("<", "in"), (">&", "2"), (">&", "1"), ("<&", "-"), (">&", "3-"), (">&", "f"),
        ("&>", None), ("&>>", "h"), ("<>", "i"), (">|", "j"), (">", "k"), (">", "l"), (">", "!"), (">",
            "/dev/tcp/h/80"),
    ]  # fmt: skip
    assert parsed.commands[0].argv == ("x", "m")
    group, ls, only = run("{ ls; } >all\n>only").commands
    assert group == Command((), (), (Redirect(">", "all"),)) and ls == Command(("ls",))
    assert only.redirects == (Redirect(">", "only"),)
    assert run("x >$f >*.c >{a,b}").commands[0].redirects == tuple(Redirect(">", None) for _ in range(3))


def test_the_text_of_a_here_document_is_its_target():
    parsed = run("a <<E\nx \\$y\nE\nb <<-'E'\n\t$(z)\n\t\tw\n\tE\nc <<E\n$(d)\nE\ne <<< \"f g\"")
    assert [(r.op, r.target) for command in parsed.commands for r in command.redirects] == [
        ("<<", "x $y\n"), ("<<-", "$(z)\nw\n"), ("<<", None), ("<<<", "f g"),
    ]  # fmt: skip
    assert ["d"] in argvs(parsed) and ["z"] not in argvs(parsed)


def test_globs_are_told_beside_the_words():
    (rm,) = run('rm -rf build/* ~/* "$HOME"/.c* a\\*[bc] {x,y}/* $X/*').commands
    assert rm.argv == ("rm", "-rf", *[None] * 7)
    assert rm.globs == (
        (2, "build/*"), (3, "/home/u/*"), (4, "/home/u/.c*"), (5, "a\\*[bc]"), (6, "x/*"), (7, "y/*"),
    )  # fmt: skip


LOOPS = [
    # (script, globs of the commands called x)
    ('for f in src/*.py; do x "$f" -- "${f}"; done', [((1, "src/*.py"), (3, "src/*.py"))]),
    ('for f in *.c a "$HOME"/*; do x "$f"; done', [((1, "*.c"),), (), ((1, "/home/u/*"),)]),
    ('for f in *; do x $f "$f.c" a"$f" "${f%.c}"; done', [()]),  # split, or no longer what the glob gave
    ('for f in *; do (cd a && x "$f"); x 1 "$f"; done', [(), ((2, "*"),)]),
    ('for f in /a/*; do (cd b && x "$f"); done', [((1, "/a/*"),)]),
    ('cd a && for f in *; do x "$f"; done', [((1, "*"),)]),
    ('cd a; for f in *; do x "$f"; done', [()]),
    ('for f in *; do read f; x "$f"; done', [()]),
    ('for f in *; do x "$f"; f=$y; done', [((1, "*"),)]),
    ('for f in *; do y || f=a; x "$f"; done', [()]),
    ('for f in *; do unset f; x "$f"; done', [()]),
    ('for f in *; do . y; x "$f"; done', [()]),
    ('f() { f=$y; }; for f in *; do f; x "$f"; done', [()]),
    ('for f in *; do :; done; x "$f"', [()]),
    ('for f in * $y; do x "$f"; done', [()]),
    ("shopt -s dotglob; x *; for f in *; do x 1 \"$f\"; done", [(), ()]),
    ("f() { shopt -s globstar; }; f; x *", [()]),
    ("(shopt -s nocaseglob); x *", [((1, "*"),)]),
    ("shopt -s nullglob; x *", [((1, "*"),)]),
    ("eval $y; x *", [()]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "globs"), LOOPS, ids=[text[:40] for text, _ in LOOPS])
def test_a_loop_over_a_glob_tells_the_glob_where_its_variable_stands(text, globs):
    found = [command for command in run(text).commands if command.argv[:1] == ("x",)]
    assert [command.globs for command in found] == globs
    assert all(command.argv[at] is None for command in found for at, _ in command.globs)


def test_a_script_within_does_not_know_what_patterns_stand_for():
    assert "what a pattern stands for" in run("shopt -s dotglob; eval 'cat *'").opaque
    assert run("shopt -s dotglob; cat *").opaque == ""


PWD = [
    # (script, what the last command is given)
    ('x $PWD "$PWD/a" ${PWD##*/}', ["/w/s", "/w/s/a", "s"]),
    ("cd a && x $PWD", ["/w/s/a"]),
    ("cd a; x $PWD", [N]),
    ("cd /b && x $PWD", ["/b"]),
    ("cd .. && x $PWD", [N]),
    ("cd -P a && x $PWD", [N]),
    ("cd //a && x $PWD", [N]),
    ("(cd a); x $PWD", ["/w/s"]),
    ("f() { x $PWD; }", ["/w/s"]),
    ("f() { x $PWD; }; cd a && f; : ", [N]),
    ("PWD=/b; x $PWD", [N]),
    ("x $PWD; unset PWD", [N]),
    ("f() { readonly PWD; }; f; cd a && x $PWD", [N]),
    ("eval $y; x $PWD", [N]),
    ("Y=$PWD; cd a && x $Y", ["/w/s"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), PWD, ids=[text[:40] for text, _ in PWD])
def test_the_directory_that_a_script_starts_in_is_known_where_it_is_told(text, expected):
    (argv,) = [argv for argv in argvs(run(text, env=ENV | {"PWD": "/w/s"})) if argv[0] == "x"]
    assert argv[1:] == expected


SH = [
    ("a; b | c && (d)", [["a"], ["b"], ["c"], ["d"]], ""),
    ("export A=1; cd x && a", [["export", "A=1"], ["cd", "x"], ["a"]], ""),
    ("echo {a,b} $'x' {c}", [["echo", N, N, "{c}"]], ""),
    ("X=rm; $X a", [["rm", "a"]], ""),
    ("[[ a ]]", [["[[", "a", "]]"]], "not plain sh"),
    ("((x=1))", [], "not plain sh"),
    ("x+=1", [["x+=1"]], "not plain sh"),
    ("coproc rm a", [["coproc", "rm", "a"]], "not plain sh"),
    ("alias ls=rm\nls", [["alias", "ls=rm"], ["ls"]], "not plain sh"),
    ("a <(b)", [], "not valid sh"),
    ("a &>f", [], "not valid sh"),
    ("a=(b)", [], "not valid sh"),
    ("function f { a; }", [], "not valid sh"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "reason"), SH, ids=[text[:40] for text, _, _ in SH])
def test_plain_sh(text, expected, reason):
    parsed = run(text, "posix")
    assert argvs(parsed) == expected
    assert reason in parsed.opaque and bool(reason) == bool(parsed.opaque)


def test_without_the_parser_nothing_is_seen(monkeypatch, tmp_path):
    monkeypatch.setattr(module.programs, "find", lambda *_: None)
    assert run("ls") == Parsed((), "the parser (shfmt) is not installed")
    for name, body, reason in (
        ("slow", "exec sleep 60", "too long"),
        ("bad", "exit 1", "not valid"),
        ("odd", "echo [1]", "not understood"),
        ("junk", "echo '{'", "too deep"),
        ("new", """echo '{"Type":"File","Stmts":[{"Cmd":{"Type":"Novelty"}}]}'""", "Novelty"),
        ("member", """echo '{"Type":"File","Stmts":[{"Disown":true}]}'""", "Disown"),
        ("old", """echo '{"Type":"File","Stmts":[{"Redirs":[{"Op":54}]}]}'""", "redirects"),
        ("joint", """echo '{"Type":"File","Stmts":[{"Cmd":{"Type":"BinaryCmd","Op":12}}]}'""", "joins"),
        ("blind", """echo '{"Type":"File","Stmts":[{"Cmd":{"Type":"Lit","Value":"a$(b)"}}]}'""", "does not see"),
        ("none", None, "could not be started"),
    ):
        fake = tmp_path / name
        if body is not None:
            fake.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
            fake.chmod(0o755)
        monkeypatch.setattr(module.programs, "find", lambda *_, path=str(fake): path)
        assert reason in run("ls").opaque, name
