"""A short conversation that shows a small model when to look, change, test and stop, better than any rule. Data."""

from __future__ import annotations

from agenyx.core import json
from agenyx.core.messages import Assistant, Entry, Step, Text, ToolCall, ToolResult, User


def _user(text: str) -> User:
    return User((Text(text),))


def _say(text: str) -> Step:
    return Step(Assistant((Text(text),), "end"))


def _use(tool: str, result: str, **arguments: str) -> Step:
    call = ToolCall("", "", tool, json.encode(arguments).decode())
    return Step(Assistant((call,), "calls"), (ToolResult("", "ok", (Text(result),)),))


TOOLS = frozenset({"Grep", "Bash", "Read", "Edit"})
_TEST = "python -m pytest -q"
_FAILED = "FAILED test_banner.py::test_banner\n[exit code 1]"
_EDITED = "Edited banner.py: 1 replacement."

EXAMPLE: tuple[Entry, ...] = (
    _user("Hi!"),
    _say("Hi! What shall I do?"),
    _user("Where is banner defined?"),
    _use("Grep", "banner.py:1:def banner():", pattern="def banner"),
    _say("In banner.py, line 1."),
    _user("Run the tests. Fix the bug."),
    _use("Bash", f"E   assert 'Helo' == 'Hello'\n{_FAILED}", command=_TEST),
    _use("Read", '     1→def banner():\n     2→    return "Helo"', file_path="banner.py"),
    _use("Edit", _EDITED, file_path="banner.py", old_string='    return "Helo"', new_string='    return "Hllo"'),
    _use("Bash", f"E   assert 'Hllo' == 'Hello'\n{_FAILED}", command=_TEST),
    _use("Edit", _EDITED, file_path="banner.py", old_string='    return "Hllo"', new_string='    return "Hello"'),
    _use("Bash", "1 passed", command=_TEST),
    _say("I corrected the spelling in banner.py; the test passes now."),
)
