"""/permissions: which rules hold now."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from agenyx.app.settings import Settings
from agenyx.core.verdict import Rule
from agenyx.proc.spawn import Processes
from agenyx.ui.repl.commands.context import Context
from agenyx.ui.repl.commands.permissions import permissions
from agenyx.ui.repl.talk import Talk
from agenyx.ui.repl.transcript import Transcript
from agenyx.ui.spans import ASCII, plain

from .fakes import FakeTalk


class Host:
    def __init__(self, talk: FakeTalk) -> None:
        self.transcript = Transcript(lambda: 100, ASCII, lambda: 0.0)
        self.talk: Talk | None = talk

    def steer(self, text: str) -> bool:
        return False

    def leave(self) -> None: ...

    async def replace(self, talk: Talk, *, close: bool) -> None: ...

    async def reopen(self, session: str) -> None: ...


def shown(work: Path, *rules: Rule) -> str:
    talk = FakeTalk(lambda event: None)
    talk.held = rules
    host = Host(talk)
    context = Context(host, Settings(str(work)), dict(os.environ), str(work), str(work), Processes())
    asyncio.run(permissions(context, ""))
    return "\n".join(plain(spans) for spans in host.transcript.take())


def test_rules_are_listed_by_what_wins_with_their_origin(tmp_path: Path) -> None:
    text = shown(
        tmp_path,
        Rule("allow", "Bash", "npm test", "user", "/h/settings.toml:3"),
        Rule("allow", "Bash", "git add:*", "session"),
        Rule("deny", "Read", ".env", "flag", "--disallowed-tools"),
        Rule("ask", "WebFetch", "", "workspace"),
    )
    assert text.split("\n")[:4] == [
        "deny   Read(.env)  (--disallowed-tools)",
        "ask    WebFetch  (the workspace)",
        "allow  Bash(npm test)  (/h/settings.toml:3)",
        "allow  Bash(git add:*)  (this session)",
    ]
    assert "mode default" in text


def test_without_a_rule_that_is_said(tmp_path: Path) -> None:
    assert shown(tmp_path).startswith("There are no rules")


def test_a_rule_cannot_write_to_the_terminal(tmp_path: Path) -> None:
    text = shown(tmp_path, Rule("allow", "Bash", "echo \x1b[2J\n deny"))
    assert "allow  Bash(echo \\x1b[2J deny)" in text
