"""What of a call is edited, and what comes of it."""

from __future__ import annotations

import json

import pytest

from agenyx.core.approval import Approval
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Verdict
from agenyx.ui.amend import Amendable, amendable


def subject(args: str, effects: Effects, edited: str | None = None) -> Amendable:
    return amendable(Approval("a", ToolCall("c", "w", "T", args), Verdict("ask", ()), effects, args=edited))


def test_a_main_text_is_edited_alone_and_the_rest_is_kept() -> None:
    one = subject('{"command":"ls","timeout":5}', Effects(script="ls", preview="ls\n(in the background)"))
    assert one.text == "ls"
    assert json.loads(one.amended('ls "-l"\n')) == {"command": 'ls "-l"\n', "timeout": 5}
    with pytest.raises(ValueError, match="nothing is left"):
        one.amended(" \n")


def test_what_was_edited_before_is_edited_again() -> None:
    assert subject('{"command":"ls"}', Effects(script="pwd"), edited='{"command":"pwd"}').text == "pwd"


def test_other_arguments_are_edited_as_json() -> None:
    one = subject('{"path":"a","n":1}', Effects(preview="+x"))
    assert one.text == '{\n  "path": "a",\n  "n": 1\n}'
    assert json.loads(one.amended('{"path": "b"}')) == {"path": "b"}


@pytest.mark.parametrize("text", ["", "{", '{"a":1', "[1]", "1", '{"a": \x01}'])
def test_what_is_no_json_object_is_told(text: str) -> None:
    with pytest.raises(ValueError, match=r"JSON"):
        subject('{"path":"a"}', Effects()).amended(text)


def test_an_empty_text_is_no_main_text() -> None:
    assert subject('{"command":""}', Effects()).field == ""
