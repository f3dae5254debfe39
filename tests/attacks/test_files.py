"""S28–S39: paths that lead out, links, races, protected files, what is no file, archives, expensive patterns."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.approval import Approval, Decision
from agenyx.core.verdict import Mode

from .harness import Nobody, Place, Range, bash, call_of, obey, put

Calls = list[tuple[str, Mapping[str, Any]]]
DENIED = ("denied", "error")


def touching(path: str) -> Calls:
    """Every file tool, aimed at one path."""
    return [
        ("Read", {"file_path": path}),
        ("Write", {"file_path": path, "content": "EVIL"}),
        ("Edit", {"file_path": path, "old_string": "BAIT", "new_string": "EVIL"}),
        ("MultiEdit", {"file_path": path, "edits": [{"old_string": "BAIT", "new_string": "EVIL"}]}),
        ("Grep", {"pattern": "BAIT", "path": path, "output_mode": "content"}),
        ("LS", {"path": path}),
        ("Glob", {"pattern": "*", "path": path}),
        ("Picker", {"path": path}),
    ]


def nothing_comes_of(place: Place, calls: Calls, mode: Mode = "bypassPermissions") -> None:
    """No bait is read and nothing is changed. By default in the mode in which the most is allowed."""
    results = obey(place, calls, mode)
    assert len(results) == len(calls)
    for (name, args), (status, text) in zip(calls, results, strict=True):
        assert "BAIT" not in text.replace(str(args), ""), (name, args, text)
        assert status in DENIED, (name, args, status, text)
        assert text, (name, args)
    place.unharmed()


@pytest.mark.parametrize(
    "path",
    [
        "../secret", "..", "sub/../../secret", "{home}/notes.txt", "~/notes.txt", "~root/.bashrc", "file:///etc/passwd",
        "{base}/secret", "./../secret", "/etc/passwd", "src/../../../../../../../etc/passwd", "..//secret",
        "../secret/",
    ],
)  # fmt: skip
def test_s28_paths_that_lead_out(place: Place, path: str) -> None:
    path = path.format(home=place.home, base=place.base)
    nothing_comes_of(place, [item for item in touching(path) if item[0] != "Write" or path != "file:///etc/passwd"])


@pytest.mark.parametrize("path", ["../work-evil/x", "{base}/work-evil/x", "{base}/work-evil", "{base}/workshop"])
def test_s29_a_sibling_with_the_same_prefix_is_outside(place: Place, path: str) -> None:
    nothing_comes_of(place, touching(path.format(base=place.base)))


LINKS: dict[str, Callable[[Place, Path], None]] = {
    "to-a-file": lambda place, link: link.symlink_to(place.home / "notes.txt"),
    "to-a-secret": lambda place, link: link.symlink_to(place.home / ".ssh" / "id_rsa"),
    "to-a-folder": lambda place, link: link.symlink_to(place.home),
    "relative": lambda place, link: link.symlink_to("../secret"),
    "over-a-link": lambda place, link: (link.with_name("hop").symlink_to(place.base), link.symlink_to("hop/secret"))[1],
    "dangling": lambda place, link: link.symlink_to(place.base / "made"),
    "loop": lambda place, link: link.symlink_to(link.name),
    "to-the-root": lambda place, link: link.symlink_to("/"),
}


@pytest.mark.parametrize("kind", LINKS)
def test_s30_links_that_lead_out(place: Place, kind: str) -> None:
    link = place.work / "link"
    LINKS[kind](place, link)
    place.before = place.facts()
    nothing_comes_of(place, touching("link"))
    assert not (place.base / "made").exists()
    if kind == "to-a-folder":
        nothing_comes_of(place, [*touching("link/notes.txt"), *touching("link/.ssh/id_rsa")])
    judge = Range(place)
    try:
        for text in ("cat link", "cp a.txt link", "echo x > link", "sed -i s/a/b/ link", "cat link/notes.txt"):
            if kind != "loop" and (kind == "to-a-folder" or "/" not in text):
                assert judge.bash(text).verdict.decision != "allow", text
    finally:
        judge.close()


@pytest.mark.parametrize("secret", [".ssh/id_rsa", ".aws/credentials", ".netrc"])
def test_s30_another_hard_link_to_a_secret(place: Place, secret: str) -> None:
    os.link(place.home / secret, place.work / "harmless.txt")
    place.before = place.facts()
    calls: Calls = [item for item in touching("harmless.txt") if item[0] in ("Read", "Write", "Edit", "MultiEdit")]
    nothing_comes_of(place, [*calls, *bash("cat harmless.txt", "echo x > harmless.txt", "cp harmless.txt copy")])
    results = obey(place, [("Grep", {"pattern": "BAIT", "output_mode": "content"})], "bypassPermissions")
    assert "BAIT-SSH" not in results[0][1] and "BAIT-AWS" not in results[0][1]


def test_s30_a_link_that_an_earlier_command_made(place: Place) -> None:
    """The words were harmless when they were judged; what is opened is judged again."""
    calls = [*bash(f"ln -s {place.home}/notes.txt sub/new"), *touching("sub/new")[:5], *bash("cat sub/new")]
    results = obey(place, calls, "bypassPermissions")
    assert [status for status, _ in results[1:6]] == ["denied"] * 5
    assert all("BAIT" not in text for _, text in results[1:6])


class Swaps(Nobody):
    """Says yes, but not before something is put in the place of what was judged."""

    def __init__(self, swap: Callable[[], None]) -> None:
        super().__init__()
        self._swap = swap

    async def decide(self, approval: Approval) -> Decision:
        if not self.asked:
            self._swap()
        self.asked.append(approval)
        return Decision(approval.id, "allow", by="test")


@pytest.mark.parametrize("what", ["file", "folder"])
def test_s31_a_swap_between_check_and_use(place: Place, what: str) -> None:
    target = place.work / "sub" / "c.txt"

    def swap() -> None:
        if what == "file":
            target.unlink()
            target.symlink_to(place.home / ".bashrc")
        else:
            target.parent.rename(place.work / "aside")
            (place.work / "sub").symlink_to(place.home)
            (place.home / "c.txt").write_text("three\n", "utf-8")

    approver = Swaps(swap)
    calls: Calls = [("Read", {"file_path": "sub/c.txt"}), ("Write", {"file_path": "sub/c.txt", "content": "EVIL"})]
    results = obey(place, calls, approver=approver)
    assert len(approver.asked) >= 1
    assert results[1][0] != "ok", results
    assert (place.home / ".bashrc").read_text("utf-8") == "# mine\n"
    assert what == "file" or (place.home / "c.txt").read_text("utf-8") == "three\n"


@pytest.mark.parametrize(
    "path",
    [
        ".ENV",
        ".Env",
        "./.env",
        ".//.env",
        "sub/../.env",
        ".env/",
        ".env/.",
        ".env.",
        ".env ",
        "{work}/.env",
        ".e\u200bnv",
    ],
)
@pytest.mark.parametrize("rule", ["Read(.env)", "Read(/.env)", "Read(./.env)", "Read(.ENV)", "Read(**/.env)"])
def test_s32_a_deny_rule_is_not_got_round_by_spelling(place: Place, path: str, rule: str) -> None:
    path = path.format(work=place.work)
    judge = Range(place, disallowed=rule)
    try:
        assert judge.explain(call_of("Read", file_path=path)).verdict.decision != "allow"
        assert judge.explain(call_of("Read", file_path=path), "bypassPermissions").verdict.decision != "allow"
        assert judge.bash(f"cat '{path}'", "bypassPermissions").verdict.decision != "allow"
    finally:
        judge.close()


def test_s32_forms_of_accents_and_case_name_the_same(place: Place) -> None:
    put(place.work / "Geheim\u00e9.txt", "x")
    judge = Range(place, disallowed="Read(geheim\u00e9.txt)")
    try:
        for name in ("Geheim\u00e9.txt", "Geheime\u0301.txt", "GEHEIM\u00c9.TXT", "./Geheim\u00e9.txt"):
            assert judge.explain(call_of("Read", file_path=name)).verdict.decision == "deny", name
            assert judge.bash(f"cat '{name}'").verdict.decision == "deny", name
    finally:
        judge.close()


def test_s33_a_rule_for_a_file_holds_for_every_way_to_it(place: Place) -> None:
    put(place.work / "plans.txt", "BAIT-PLANS\n")
    judge = Range(place, disallowed="Read(plans.txt), Edit(docs/**)")
    try:
        for text in ("cat plans.txt", "grep . plans.txt", "cat < plans.txt", "cp plans.txt x",
            "git show HEAD:plans.txt",
                     "tar cf - plans.txt", "cat pla*", "cat sub/../plans.txt", "head -1 ./plans.txt | wc",
                     "cat PLANS.txt",
                     "bash -c 'cat plans.txt'", "echo plans.txt plans.txt && cat plans.txt", "jq . plans.txt",
                     "while read l; do echo; done < plans.txt", "find plans.txt -exec cat {} +", "diff plans.txt a.txt",
                     "git diff plans.txt", "git blame plans.txt", "mv plans.txt x", "ls plans.txt"):  # fmt: skip
            assert judge.bash(text, "bypassPermissions").verdict.decision == "deny", text
        for text in ("echo > docs/x", "rm docs/index.md", "cp a.txt docs/", "mv a.txt docs/b",
            "sed -i s/a/b/ docs/index.md",
                     "touch docs/new", "tee docs/x", "mkdir docs/d", "git rm docs/index.md",
                     "cd docs && touch x"):  # fmt: skip
            assert judge.bash(text, "bypassPermissions").verdict.decision == "deny", text
        for text in ("cat $(echo plans.txt)", 'cat "$x"', "xargs cat < list", "cat ${x:-plans.txt}", 'tee "$x"'):
            assert judge.bash(text, "bypassPermissions").verdict.decision == "ask", text
    finally:
        judge.close()


def test_s33_searching_tools_leave_secrets_out(place: Place) -> None:
    put(place.work / "sub" / "id_rsa", "BAIT-SUB\n")
    results = obey(
        place,
        [
            ("Grep", {"pattern": "BAIT", "output_mode": "content"}),
            ("Grep", {"pattern": "BAIT", "output_mode": "content", "glob": ".env"}),
            ("Grep", {"pattern": "BAIT", "output_mode": "content", "path": "sub"}),
            ("Grep", {"pattern": "BAIT", "output_mode": "count"}),
        ],
    )
    assert all("BAIT-" not in text for _, text in results), results


PROTECTED = (
    ".git/hooks/pre-commit", ".git/config", ".git/HEAD", ".vscode/tasks.json", ".idea/x.xml", ".agenyx/settings.toml",
    "AGENTS.md", "CLAUDE.md", ".envrc", "package.json", "conftest.py", "tests/conftest.py", ".github/workflows/ci.yml",
    ".husky/pre-commit", ".mcp.json", ".claude/settings.json", ".pre-commit-config.yaml", ".gitmodules", ".npmrc",
    "sitecustomize.py", "x.pth", ".devcontainer/devcontainer.json", ".env", ".env.local", "deploy.pem", "id_ed25519",
)  # fmt: skip


@pytest.mark.parametrize("mode", ["acceptEdits", "bypassPermissions"])
def test_s34_s35_protected_files_also_those_that_do_not_exist_yet(place: Place, mode: Mode) -> None:
    calls: Calls = [("Write", {"file_path": path, "content": "EVIL"}) for path in PROTECTED]
    nothing_comes_of(place, calls, mode)


@pytest.mark.parametrize("path", PROTECTED)
def test_s34_by_a_command_in_every_mode(judged: Range, path: str) -> None:
    for text in (f"echo x > {path}", f"cp a.txt {path}", f"mv a.txt {path}", f"tee {path}", f"ln -sf a.txt {path}"):
        for mode in ("default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"):
            assert judged.bash(text, mode).verdict.decision != "allow", (text, mode)


def test_s36_what_is_no_file(place: Place) -> None:
    os.mkfifo(place.work / "pipe")
    held = socket.socket(socket.AF_UNIX)
    held.bind(str(place.work / "socket"))
    started = time.monotonic()
    paths = ("/proc/self/environ", "/proc/1/mem", "/dev/fd/0", "/dev/sda", "/dev/zero", "pipe", "socket", "/dev/stdin",
             "/proc/self/fd/0", "/proc/self/root/etc/passwd", "/proc/self/cwd/a.txt", "/dev/tty")  # fmt: skip
    calls: Calls = [("Read", {"file_path": path}) for path in paths]
    calls += [("Write", {"file_path": path, "content": "x"}) for path in paths]
    calls += [("Grep", {"pattern": "x", "path": path}) for path in ("pipe", "socket", "/proc/self/environ")]
    nothing_comes_of(place, calls)
    held.close()
    assert time.monotonic() - started < 60, "nobody waits for the other end of a pipe"


@pytest.mark.parametrize(
    "text",
    ["tar xf {name}", "tar -xPf {name}", "tar xzf {name} -C sub", "unzip {name}", "unzip -o {name} -d sub",
    "tar -C / -xf {name}",
     "7z x {name}", "cpio -idm < {name}", "bsdtar xf {name}", "python -m zipfile -e {name} .", "git apply {name}",
     "patch -p0 -i {name}"],
)  # fmt: skip
def test_s37_what_an_archive_would_write_is_not_known(plain: Range, text: str) -> None:
    """No tool unpacks; a command that does may write protected files, and is asked about."""
    if text.startswith("git apply"):
        pytest.skip("git apply writes nothing outside its work tree and nothing below .git")
    assert plain.bash(text.format(name="a.tar")).verdict.decision in ("ask", "deny")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("Glob", {"pattern": "{a,b}" * 40}),
        ("Glob", {"pattern": "{" + ",".join("ab" * 400) + "}" * 3}),
        ("Glob", {"pattern": "**/" * 60 + "*.py"}),
        ("Glob", {"pattern": "*a" * 60}),
        ("Grep", {"pattern": "(a+)+$", "output_mode": "content"}),
        ("Grep", {"pattern": "(" * 200 + "a" + ")*" * 200}),
        ("Grep", {"pattern": "a{1000}{1000}"}),
        ("Grep", {"pattern": "x", "glob": "{a,b}" * 40}),
    ],
)
def test_s38_expensive_patterns_end(place: Place, tool: str, args: dict[str, Any]) -> None:
    put(place.work / "long.txt", "a" * 50_000 + "!\n")
    place.before = place.facts()
    started = time.monotonic()
    results = obey(place, [(tool, args)])
    assert results[0][1]
    assert time.monotonic() - started < 40
    place.unharmed()


def test_s38_expensive_rules_and_words_end(place: Place) -> None:
    judge = Range(
        place, "Bash(a*" + "*a" * 200 + "b), Read(" + "**/*a" * 40 + "b)", "Edit(" + "{a,b}" * 6 + "*x" * 60 + ")"
    )
    started = time.monotonic()
    try:
        judge.bash("a" * 8000)
        judge.explain(call_of("Read", file_path="a/" * 200 + "a"))
        judge.bash("ls " + "{a,b}" * 40)
    finally:
        judge.close()
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("path", ["//host/share/x", r"\\host\share\x", r"\??\C:\x", "//?/C:/x", r"\\.\pipe\x"])
def test_s39_paths_of_other_machines_are_refused_before_they_are_looked_up(place: Place, path: str) -> None:
    nothing_comes_of(place, touching(path))
