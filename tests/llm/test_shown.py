"""Images and documents on every wire: what the vendors' own types accept, the stable prefix, limits and words."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenyx.core.messages import Assistant, Entry, Media, Step, Text, ToolCall, ToolResult, User, UserBlock
from agenyx.llm.anthropic_encode import AnthropicEncoder, strip_marks
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import COMPATIBLE, MESSAGES_ANTHROPIC, RESPONSES_COMPATIBLE, RESPONSES_OPENAI
from agenyx.llm.encode import Encoder
from agenyx.llm.request import Request
from agenyx.llm.responses_encode import ResponsesEncoder
from agenyx.llm.schema_encode import SchemaEncoder
from agenyx.llm.shown import LIMITS
from support.pictures import GIF, JPEG, PDF, PNG
from support.wires import request, user

MAKERS: dict[str, Callable[[], Encoder | SchemaEncoder]] = {
    "chat": lambda: ChatEncoder(COMPATIBLE, "me"),
    "responses": lambda: ResponsesEncoder(RESPONSES_OPENAI, "me"),
    "responses lenient": lambda: ResponsesEncoder(RESPONSES_COMPATIBLE, "me"),
    "anthropic": lambda: AnthropicEncoder(MESSAGES_ANTHROPIC, "me"),
    "schema": lambda: SchemaEncoder(COMPATIBLE, "me"),
}
BYTES = {hashlib.sha256(data).hexdigest(): data for data in (PNG, JPEG, GIF, PDF)}


def media(data: bytes, mime: str, name: str) -> Media:
    kind: Any = "document" if mime == "application/pdf" else "image"
    return Media(kind, mime, hashlib.sha256(data).hexdigest(), len(data), name)


SHOT, PHOTO = media(PNG, "image/png", "shot.png"), media(JPEG, "image/jpeg", "photo.jpg")
MOVING, PAPER = media(GIF, "image/gif", ""), media(PDF, "application/pdf", "paper.pdf")


def load(one: Media) -> bytes | None:
    return BYTES.get(one.sha256)


def asked(*entries: Entry, **changes: Any) -> Request:
    return request(*entries, **{"sees": ("images", "documents"), "media": load, **changes})


def step(*contents: tuple[UserBlock, ...]) -> Step:
    calls = tuple(ToolCall(f"c{n}", f"call_{n}", "Read", "{}") for n in range(len(contents)))
    results = tuple(ToolResult(c.id, "ok", content) for c, content in zip(calls, contents, strict=True))
    return Step(Assistant(calls, "calls", binding="me"), results)


HISTORY: tuple[Entry, ...] = (
    User((Text("What is this?"), SHOT, PAPER)),
    step((Text("photo.jpg: image/jpeg"), PHOTO), (Text("plain"),), (MOVING,)),
    user("and now?"),
)


def sent(wire: str, *entries: Entry, **changes: Any) -> Any:
    return json.loads(MAKERS[wire]().encode(asked(*entries, **changes)))


def url(data: bytes, mime: str) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


# --- the shapes ------------------------------------------------------------------------------------------------------


def test_chat_shows_images_to_the_user_and_those_of_results_behind_them() -> None:
    system, first, assistant, one, two, three, below, last = sent("chat", *HISTORY)["messages"]
    assert first["content"] == [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": url(PNG, "image/png")}},
        {
            "type": "text",
            "text": f"[document 'paper.pdf', application/pdf, {len(PDF)} bytes: attached, "
            "but it cannot be shown to you]",
        },
    ]
    assert [m["role"] for m in (system, assistant, one, two, three, below, last)] == [
        "system", "assistant", "tool", "tool", "tool", "user", "user",
    ]  # fmt: skip
    assert one["content"] == "photo.jpg: image/jpeg\n\n[image 'photo.jpg': see below]"
    assert (two["content"], three["content"]) == ("plain", "[image: see below]")
    assert below["content"] == [
        {"type": "text", "text": "[image 'photo.jpg' of the result of Read (call_0)]"},
        {"type": "image_url", "image_url": {"url": url(JPEG, "image/jpeg")}},
        {"type": "text", "text": "[image of the result of Read (call_2)]"},
        {"type": "image_url", "image_url": {"url": url(GIF, "image/gif")}},
    ]


def test_responses_shows_them_in_place() -> None:
    first, *calls, one, two, three, last = sent("responses", *HISTORY)["input"]
    assert first["content"][1:] == [
        {"type": "input_image", "image_url": url(PNG, "image/png"), "detail": "auto"},
        {"type": "input_file", "filename": "paper.pdf", "file_data": url(PDF, "application/pdf")},
    ]
    assert len(calls) == 3 and last["content"] == [{"type": "input_text", "text": "and now?"}]
    image = {"type": "input_image", "image_url": url(JPEG, "image/jpeg"), "detail": "auto"}
    assert one["output"] == [{"type": "input_text", "text": "photo.jpg: image/jpeg"}, image]
    assert two["output"] == "plain" and [part["type"] for part in three["output"]] == ["input_image"]
    *_, one, two, three, below, last = sent("responses lenient", *HISTORY)["input"]
    assert [one["output"], three["output"]] == [
        "photo.jpg: image/jpeg\n\n[image 'photo.jpg': see below]",
        "[image: see below]",
    ]
    assert [part["type"] for part in below["content"]] == ["input_text", "input_image"] * 2


def test_messages_shows_them_in_place_and_keeps_its_mark_in_the_last_block() -> None:
    first, _, results, last = sent("anthropic", *HISTORY)["messages"]
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(PNG).decode()}
    paper = {"type": "base64", "media_type": "application/pdf", "data": base64.b64encode(PDF).decode()}
    assert first["content"][1:] == [
        {"type": "image", "source": source},
        {"type": "document", "source": paper, "title": "paper.pdf"},
    ]
    one, two, three = results["content"]
    assert [part["type"] for part in one["content"]] == ["text", "image"] and two["content"] == "plain"
    assert [part["type"] for part in three["content"]] == ["image"]
    assert last["content"][0]["cache_control"] == {"type": "ephemeral"}
    (ends,) = sent("anthropic", User((SHOT,)))["messages"]
    assert ends["content"] == [{"type": "image", "source": source, "cache_control": {"type": "ephemeral"}}]
    *_, ends = sent("anthropic", *HISTORY[:2])["messages"]
    assert ends["content"][-1]["cache_control"] and ends["content"][-1]["content"][0]["type"] == "image"


def test_messages_shows_those_of_a_failure_behind_the_results() -> None:
    call = ToolCall("c", "call_0", "Read", "{}")
    failed = Step(Assistant((call,), "calls"), (ToolResult("c", "error", (Text("no"), SHOT)),))
    *_, said = sent("anthropic", user("go"), failed)["messages"]
    result, label, image = said["content"]
    assert result["content"] == "no\n\n[image 'shot.png': see below]" and result["is_error"] is True
    assert label["text"] == "[image 'shot.png' of the result of Read (call_0)]" and image["type"] == "image"


@pytest.mark.parametrize("wire", ["chat", "responses", "responses lenient", "anthropic"])
def test_the_vendors_own_types_accept_them(wire: str) -> None:
    pydantic = pytest.importorskip("pydantic")
    body = sent(wire, *HISTORY)
    if wire == "anthropic":
        types = pytest.importorskip("anthropic.types")
        kind, messages = types.MessageParam, body["messages"]
    elif wire == "chat":
        types = pytest.importorskip("openai.types.chat")
        kind, messages = types.ChatCompletionMessageParam, body["messages"]
    else:
        types = pytest.importorskip("openai.types.responses")
        kind, messages = types.ResponseInputItemParam, body["input"]
    adapter = pydantic.TypeAdapter(kind)
    for message in messages:
        drain(adapter.validate_python(message))
    key, holder = ("content", messages[-2]) if wire == "chat" else ("content", messages[0])
    broken = {**holder, key: [*holder[key], {"type": "image_url" if wire == "chat" else "image"}]}
    with pytest.raises(pydantic.ValidationError):
        drain(adapter.validate_python(broken))


def drain(value: Any) -> None:
    """Lists are checked by pydantic only when they are gone through."""
    if isinstance(value, dict):
        for member in value.values():
            drain(member)
    elif not isinstance(value, str | bytes | int | float | None):
        for item in value:
            drain(item)


def test_a_model_without_tools_of_its_own_sees_results_too() -> None:
    said = [m["content"] for m in sent("schema", *HISTORY)["messages"] if m["role"] == "user"]
    kinds = [[part["type"] for part in content] for content in said if not isinstance(content, str)]
    assert kinds == [["text", "image_url", "text"], ["text", "image_url", "text"], ["text", "image_url", "text"]]


# --- what is not shown -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", MAKERS)
def test_without_the_ability_the_words_are_what_they_always_were(wire: str) -> None:
    body = MAKERS[wire]().encode(asked(*HISTORY, sees=()))
    assert body == MAKERS[wire]().encode(request(*HISTORY))
    assert (
        b"base64" not in body
        and f"image/png, {len(PNG)} bytes: attached, but it cannot be shown to you]".encode() in body
    )


@pytest.mark.parametrize("wire", ["chat", "responses", "anthropic"])
def test_what_is_gone_or_too_large_or_too_much_is_said(wire: str) -> None:
    limits = LIMITS[wire]
    gone = Media("image", "image/png", "0" * 64, 10, "gone.png")
    large = Media("image", "image/png", "1" * 64, limits.item + 1, "large.png")
    text = str(sent(wire, User((Text("?"), gone, large))))
    assert "its bytes are gone" in text and f"at most {limits.item:,} bytes" in text and "base64," not in text
    many = sent(wire, *(User((SHOT,)) for _ in range(limits.count + 1)))
    assert str(many).count(base64.b64encode(PNG).decode()) == limits.count
    assert "/compact" in str(many["messages" if wire != "responses" else "input"][-1])
    big = limits.item - 10
    data = b"x" * big
    one = Media("image", "image/png", "2" * 64, big, "big.png")
    count = limits.total // big
    body = MAKERS[wire]().encode(asked(*(User((one,)) for _ in range(count + 2)), media=lambda _: data))
    assert body.count(b"big.png") == 2 and len(body) < 64 << 20


def test_a_blank_text_beside_an_image_is_left_out() -> None:
    (said,) = sent("anthropic", User((Text(" "), SHOT)))["messages"]
    assert [part["type"] for part in said["content"]] == ["image"]


# --- cost and prefix -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wire", MAKERS)
def test_the_bytes_are_asked_for_and_encoded_once(wire: str) -> None:
    loads: list[str] = []

    def counted(one: Media) -> bytes | None:
        loads.append(one.sha256)
        return load(one)

    encoder, history = MAKERS[wire](), list[Entry]()
    for entry in (*HISTORY, *(user(str(n)) for n in range(20))):
        history.append(entry)
        encoder.encode(asked(*history, media=counted, prefix_id="h"))
    assert len(loads) == len(set(loads)) <= 4


def test_another_ability_is_encoded_anew() -> None:
    encoder = MAKERS["chat"]()
    assert b"base64" in encoder.encode(asked(*HISTORY, prefix_id="h"))
    assert b"base64" not in encoder.encode(asked(*HISTORY, prefix_id="h", sees=()))


contents = st.lists(
    st.sampled_from([Text("a"), Text(""), SHOT, PHOTO, MOVING, PAPER, Media("image", "image/png", "0", 1, "n")]),
    max_size=4,
)
entries = st.one_of(
    contents.map(lambda blocks: User((Text("u"), *blocks))),
    st.lists(contents.map(tuple), max_size=3).map(lambda c: step(*c)),
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(entries, max_size=8),
    st.sampled_from(sorted(MAKERS)),
    st.sampled_from([(), ("images",), ("images", "documents")]),
)
def test_each_request_is_a_prefix_of_the_next_and_equals_one_made_from_scratch(
    history: list[Entry], wire: str, sees: Any
) -> None:
    encoder, before = MAKERS[wire](), b""
    for count in range(len(history) + 1):
        now = asked(*history[:count], sees=sees, prefix_id="h")
        made = encoder.encode(now)
        assert made == MAKERS[wire]().encode(now)
        plain = strip_marks(made) if wire == "anthropic" else made
        assert plain.endswith(b"]}") and plain.startswith(before)
        before = plain[:-2]
        json.loads(made)
