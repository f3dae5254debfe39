"""The tool Skill opens nothing but the folders of skills: no link, no path out, nothing protected, nothing huge."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from agenyx.app.start import open_root
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.tools import Effects
from agenyx.core.verdict import Scope
from agenyx.ext.skills.reading import Skills, read
from agenyx.ext.skills.tool import FILE_BYTES, Ports, Skill
from agenyx.ext.sources import of_person
from agenyx.policy.decide import Policy, decide
from agenyx.policy.rules import parse_rule
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Look, Outcome, describe


class Bench:
    """The skills of a person, and a workspace beside them."""

    def __init__(self, folder: Path) -> None:
        self.person, self.work = folder / "person", folder / "work"
        self.home = self.person / ".agenyx"
        self.work.mkdir(parents=True)
        self.home.mkdir(parents=True)
        self.root = open_root(str(self.work), str(self.home), str(self.person))
        self.shell = Shell(Processes(), str(self.work), str(folder / "shell"), {})
        self.ran: list[str] = []
        self.forked: list[tuple[str, str, str]] = []
        self.refuse = False

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.person / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return file

    def skills(self) -> Skills:
        return read(of_person("skills", str(self.home), str(self.person))[0])

    async def _printed(self, command: str) -> str:
        self.ran.append(command)
        if self.refuse:
            raise AgenyxError("it was refused", "Denied: no rule allows it.")
        return f"<{command}>"

    async def _fork(self, call: str, text: str, scope: Scope, agent: str) -> Outcome:
        self.forked.append((call, text, agent))
        return Outcome.ok("the answer of the subagent")

    def tool(self, *, forks: bool = False) -> Skill:
        fork = self._fork if forks else None
        return Skill(Ports(self.skills, self._printed, fork, "sess", lambda: ("m", ""), str(self.home)))

    def project(self, **args: Any) -> Effects:
        tool = self.tool()
        return asyncio.run(tool.project(self._args(tool, args), Look(self.root, {}, self.shell)))

    def run(self, *, forks: bool = False, **args: Any) -> Outcome:
        tool = self.tool(forks=forks)
        context = Context(self.root, {}, self.shell, self.shell.processes, lambda _: None, call="call_1")
        return asyncio.run(tool.run(self._args(tool, args), context))

    def _args(self, tool: Skill, args: dict[str, Any]) -> Any:
        return parse_args(tool, json.encode(args).decode())

    def verdict(self, *rules: str, **args: Any) -> str:
        tool, effects = self.tool(), self.project(**args)
        policy = Policy(rules=tuple(parse_rule(rule, "deny", "user") for rule in rules), workspace=str(self.work))
        return decide("Skill", effects, policy, tool.subject(self._args(tool, args))).decision


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    made = Bench(tmp_path)
    made.write(".claude/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: d\nallowed-tools: Read\n---\nDo $1.")
    made.write(".claude/skills/pdf/references/a.md", "the reference\n")
    return made


def text(outcome: Outcome) -> str:
    return "".join(getattr(block, "text", "") for block in outcome.content)


def test_the_text_the_folder_and_the_scope(bench: Bench) -> None:
    outcome = bench.run(skill="pdf", arguments=["it"])
    assert outcome.status == "ok" and "Do it." in text(outcome)
    assert f"{bench.person}/.claude/skills/pdf" in text(outcome) and "references/a.md" in text(outcome)
    assert outcome.scope == bench.skills().found["pdf"].scope
    assert bench.verdict(skill="pdf") == "allow"
    assert "Do it now." in text(bench.run(skill="PDF", arguments='"it now"'))


def test_a_skill_without_a_scope_ends_the_one_before(bench: Bench) -> None:
    bench.write(".claude/skills/free/SKILL.md", "---\ndescription: d\n---\nx")
    assert bench.run(skill="free").scope == Scope()


def test_a_file_of_a_skill_is_read_unasked_and_changes_no_scope(bench: Bench) -> None:
    outcome = bench.run(skill="pdf", file="references/a.md")
    assert (text(outcome), outcome.status, outcome.scope) == ("the reference\n", "ok", UNSET)
    assert bench.verdict(skill="pdf", file="references/a.md") == "allow"
    assert bench.verdict(f"Read(/{bench.person}/**)", skill="pdf", file="references/a.md") == "deny"


def test_the_home_of_agenyx_gives_its_skills_and_nothing_else(bench: Bench) -> None:
    bench.write(".agenyx/skills/own/SKILL.md", "---\ndescription: d\n---\nx")
    bench.write(".agenyx/skills/own/a.md", "mine")
    bench.write(".agenyx/auth.json", "the key")
    assert bench.verdict(skill="own", file="a.md") == "allow"
    assert text(bench.run(skill="own", file="a.md")) == "mine"
    os.symlink("../../auth.json", bench.home / "skills" / "own" / "key")
    assert "the key" not in text(bench.run(skill="own", file="key"))


@pytest.mark.parametrize(
    "path", ["../../../secret", "/etc/passwd", "..", "link", "folder/secret", "fifo", "references"]
)
def test_no_way_out_of_the_folder(bench: Bench, path: str) -> None:
    bench.write("secret", "the secret")
    top = bench.person / ".claude" / "skills" / "pdf"
    os.symlink(bench.person / "secret", top / "link")
    os.symlink(bench.person, top / "folder")
    os.mkfifo(top / "fifo")
    outcome = bench.run(skill="pdf", file=path)
    assert outcome.status == "error" and "the secret" not in text(outcome)


def test_protected_files_of_a_skill_are_asked_about(bench: Bench) -> None:
    bench.write(".claude/skills/pdf/.env", "KEY=1")
    assert bench.verdict(skill="pdf", file=".env") == "ask"


def test_huge_and_binary_files_are_not_handed_over(bench: Bench) -> None:
    bench.write(".claude/skills/pdf/huge", b"x" * (FILE_BYTES + 1))
    bench.write(".claude/skills/pdf/binary", b"\x00\x01\x02" * 100)
    assert "too large" in text(bench.run(skill="pdf", file="huge"))
    assert "is not text" in text(bench.run(skill="pdf", file="binary"))


def test_what_the_user_keeps_for_himself_is_refused(bench: Bench) -> None:
    bench.write(".claude/skills/mine/SKILL.md", "---\ndescription: d\ndisable-model-invocation: true\n---\nx")
    for file in ("", "SKILL.md"):
        outcome = bench.run(skill="mine", file=file)
        assert outcome.status == "denied" and "/mine" in text(outcome)
    assert "mine" not in text(bench.run(skill="nothing")) and "pdf" in text(bench.run(skill="nothing"))


def test_rules_name_skills(bench: Bench) -> None:
    assert bench.verdict("Skill(pdf)", skill="pdf") == "deny"
    assert bench.verdict("Skill(pdf)", skill="/PDF") == "deny", "whatever the model calls it"
    assert bench.verdict("Skill(p*)", skill="pdf") == "deny"
    assert bench.verdict("Skill(other)", skill="pdf") == "allow"
    assert bench.verdict("load_skill", skill="pdf") == "deny"


def test_commands_go_to_the_port(bench: Bench) -> None:
    bench.write(".claude/skills/sh/SKILL.md", "---\ndescription: d\nallowed-tools: Bash(git:*)\n---\nNow: !`git log`!")
    assert "Now: <git log>!" in text(bench.run(skill="sh"))
    assert bench.ran == ["git log"]
    bench.refuse = True
    refused = bench.run(skill="sh")
    assert refused.status == "ok" and "[git log was not run: Denied: no rule allows it.]" in text(refused)
    bench.write(".claude/skills/sh/SKILL.md", "---\ndescription: d\n---\n" + "!`x` " * 50)
    bench.ran.clear()
    bench.run(skill="sh")
    assert len(bench.ran) == 20


def test_one_for_a_subagent_runs_as_one_where_there_can_be_one(bench: Bench) -> None:
    bench.write(".claude/skills/far/SKILL.md", "---\ndescription: d\ncontext: fork\nagent: explore\n---\nLook at $1.")
    assert text(bench.run(skill="far", arguments="it", forks=True)) == "the answer of the subagent"
    ((call, told, agent),) = bench.forked
    assert (call, agent) == ("call_1", "explore") and "Look at it." in told
    here = bench.run(skill="far", arguments="it")
    assert "Look at it." in text(here) and "there can be none here" in text(here)


def test_a_wish_for_another_model_is_told(bench: Bench) -> None:
    bench.write(".claude/skills/big/SKILL.md", "---\ndescription: d\nmodel: opus\n---\nx")
    assert "asks for the model opus; the session goes on with m" in text(bench.run(skill="big"))


def test_it_takes_little_room_in_requests(bench: Bench) -> None:
    spec = describe(bench.tool())
    assert len(json.encode((spec.name, spec.description, spec.schema))) < 700
