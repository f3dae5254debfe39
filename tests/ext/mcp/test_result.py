from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from agenyx.core.messages import Media, Text
from agenyx.ext.mcp.answers import called, contents, prompted
from agenyx.ext.mcp.result import outcome, resource_text, texts

PNG = base64.b64encode(b"\x89PNG").decode()


def shown(content: Any = None, structured: Any = None, **more: Any) -> str:
    status, blocks = outcome(called({"content": content, "structuredContent": structured, **more}))
    assert status == "ok" and len(blocks) == 1
    return blocks[0].text


def text(value: str) -> dict[str, str]:
    return {"type": "text", "text": value}


def test_texts_are_joined():
    assert shown([text("one"), text("two")]) == "one\ntwo"


@pytest.mark.parametrize("content", [None, [], "text", 7, {}])
def test_what_is_no_list_is_no_content(content):
    assert shown(content) == ""


def test_an_error_is_one():
    assert outcome(called({"content": [text("no")], "isError": True})) == ("error", (Text("no"),))
    assert outcome(called({"content": [text("no")], "isError": "yes"}))[0] == "ok"


def test_structured_content_is_shown_once():
    value = {"a": 1, "b": [True]}
    assert json.loads(shown([], value)) == value
    assert shown([text(json.dumps(value, indent=4))], value) == json.dumps(value, indent=4)
    assert shown([text("a table")], value).startswith("a table\n{")
    assert shown([text("plain")], {"result": "plain"}) == "plain"
    assert shown([text("[1, 2]")], {"items": [1, 2]}) == "[1, 2]"
    assert shown([text("[1, 2]")], {"items": [1, 2], "more": 0}).count("more") == 1


def test_pictures_and_sound_are_named_where_there_is_no_place_for_them():
    assert shown([{"type": "image", "mimeType": "image/png", "data": PNG}]) == (
        "[image, image/png, 4 bytes: it cannot be shown here]"
    )
    assert shown([{"type": "audio", "data": "%%"}]) == "[audio, of no type: it could not be decoded]"


def test_pictures_are_kept_where_there_is_one():
    kept: list[tuple[bytes, str]] = []

    def keep(data: bytes, mime: str) -> Media | None:
        kept.append((data, mime))
        return Media("image", mime, "hash", len(data), "") if mime == "image/png" else None

    blocks = [
        {"type": "image", "mimeType": "image/png", "data": PNG},
        {"type": "image", "mimeType": "image/x", "data": PNG},
        {"type": "audio", "mimeType": "image/png", "data": PNG},
    ]
    _, found = outcome(called({"content": blocks}), keep)
    assert isinstance(found[0], Text) and found[0].text.count("cannot be shown") == 2
    assert found[1:] == (Media("image", "image/png", "hash", 4, ""),)
    assert kept == [(b"\x89PNG", "image/png"), (b"\x89PNG", "image/x")]
    assert outcome(called({"content": blocks[:1]}), keep)[1] == (Media("image", "image/png", "hash", 4, ""),)


def test_resources_stand_in_the_text_and_links_are_only_named(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden")
    blocks = [
        {"type": "resource", "resource": {"uri": "note://1", "mimeType": "text/plain", "text": "the note"}},
        {"type": "resource", "resource": {"uri": "note://2", "blob": PNG}},
        {"type": "resource_link", "uri": f"file://{secret}", "name": "Look", "description": "a\u202eb"},
        {"type": "resource", "resource": None},
        {"type": "hologram"},
        {},
    ]
    told = shown(blocks)
    assert told.startswith(
        "[resource note://1, text/plain]\nthe note\n[resource note://2] [content, of no type, 4 bytes"
    )
    assert f"[link to file://{secret} (Look): a\\u202eb; it was not followed]" in told
    assert "hidden" not in told
    assert "kind that Agenyx does not know: hologram]" in told


def test_lone_surrogates_do_no_harm():
    assert shown([text("a\ud800b")]) == "a\ufffdb"


def test_contents_of_resources():
    found = contents({"contents": [{"uri": "a", "text": "one"}, {"uri": "b", "blob": PNG}, "x", {"blob": "%"}]})
    assert [one.data for one in found] == [None, b"\x89PNG", None, None]
    assert resource_text(found).startswith("one\n[content, of no type, 4 bytes")
    assert contents({}) == ()


def test_prompts_become_text():
    answer = {
        "messages": [
            {"role": "user", "content": text("one")},
            {"role": "assistant", "content": [text("two"), {"type": "image"}]},
            {"role": "system", "content": text("three")},
            "x",
        ]
    }
    found = prompted(answer)
    assert [one.role for one in found] == ["user", "assistant", "assistant", "user", "user"]
    assert texts(one.block for one in found[:2]) == "one\ntwo"
