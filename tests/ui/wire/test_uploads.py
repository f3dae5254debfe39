"""Files of an AgentX host: what is taken, what is refused and why; each upload ends once (AgentX §7.7, §10)."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.json import decode, encode
from agenyx.core.messages import Media
from agenyx.ui.wire.uploads import MOST_ITEM, PIECE, Uploads
from support.pictures import png
from support.raw_server import RawServer
from support.wire_host import Host, says

PROMPT = "0b7a6c1e-2d3f-4a5b-8c9d-0e1f2a3b4c5d"
OTHER = "1b7a6c1e-2d3f-4a5b-8c9d-0e1f2a3b4c5d"
PICTURE = png(4, 4)


def begin(data: bytes = PICTURE, number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        **named("begin", number),
        "prompt_uuid": PROMPT,
        "attachment_id": f"att_{number}",
        "name": "a.png",
        "size_bytes": len(data),
        "mime_type": "image/png",
        "sha256": hashlib.sha256(data).hexdigest(),
        **more,
    }


def named(operation: str, number: int = 1) -> dict[str, Any]:
    return {"type": "attachment_import", "version": 1, "operation": operation, "upload_id": f"upl_{number}"}


def piece(data: bytes, sequence: int = 0, number: int = 1) -> dict[str, Any]:
    return {**named("chunk", number), "sequence": sequence, "data": base64.b64encode(data).decode()}


class Desk:
    def __init__(self) -> None:
        self.told: list[dict[str, Any]] = []
        self.taken: set[str] = set()
        self.usable = True
        self.kept: list[bytes] = []
        self.uploads = Uploads(
            lambda record: self.told.append(decode(encode(record))),
            self._keep,
            self.taken.__contains__,
            lambda: self.usable,
        )

    def _keep(self, data: bytes, name: str) -> Media:
        self.kept.append(data)
        return Media("image", "image/png", hashlib.sha256(data).hexdigest(), len(data), name)

    def do(self, *records: dict[str, Any]) -> list[str]:
        """What the records come to, in short."""
        before = len(self.told)
        for record in records:
            self.uploads.take(record)
        return [one["reason"] if "reason" in one else one["status"] for one in self.told[before:]]

    def sent(self, number: int = 1, **more: Any) -> dict[str, Any]:
        self.do(begin(number=number, **more), piece(PICTURE, number=number), named("commit", number))
        return {"type": "attachment_ref", **self.told[-1]["attachment"]}


def test_a_file_comes_in_pieces() -> None:
    desk = Desk()
    assert desk.do(begin(), piece(PICTURE[:9]), piece(PICTURE[9:], 1), named("commit")) == [
        "accepted",
        "accepted",
        "accepted",
        "committed",
    ]
    assert [one["terminal"] for one in desk.told] == [False, False, False, True]
    assert desk.kept == [PICTURE]
    digest = hashlib.sha256(PICTURE).hexdigest()
    assert desk.told[-1]["attachment"] == {
        "attachment_id": "att_1",
        "kind": "image",
        "name": "a.png",
        "mime_type": "image/png",
        "size_bytes": len(PICTURE),
        "sha256": digest,
        "storage_id": f"blob_sha256_{digest}",
    }


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"mime_type": "image/gif"}, "unsupported_media"),
        ({"size_bytes": MOST_ITEM + 1}, "resource_limit"),
        ({"size_bytes": 0}, "unsupported_operation"),
        ({"size_bytes": True}, "unsupported_operation"),
        ({"name": "../a.png"}, "unsupported_operation"),
        ({"name": "a\u202egnp.exe"}, "unsupported_operation"),
        ({"name": "n" * 256}, "unsupported_operation"),
        ({"sha256": "X"}, "unsupported_operation"),
        ({"attachment_id": "1"}, "unsupported_operation"),
        ({"upload_id": "upl_" + "a" * 64}, "unsupported_operation"),
        ({"upload_id": 7}, "unsupported_operation"),
        ({"prompt_uuid": "first"}, "unsupported_operation"),
        ({"version": 2}, "unsupported_operation"),
        ({"operation": "append"}, "unsupported_operation"),
        ({"more": 1}, "unsupported_operation"),
    ],
)
def test_what_cannot_begin_is_rejected_with_a_reason(more: dict[str, Any], why: str) -> None:
    desk = Desk()
    assert desk.do(begin(**more)) == [why]
    assert (desk.told[0]["type"], desk.told[0]["terminal"]) == ("attachment_import_rejected", False)


def test_a_begin_without_one_of_its_fields_is_rejected() -> None:
    for name in ("prompt_uuid", "name", "size_bytes", "mime_type", "sha256", "attachment_id"):
        record = begin()
        del record[name]
        assert Desk().do(record) == ["unsupported_operation"], name


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([piece(PICTURE, 1)], "invalid_sequence"),
        ([piece(PICTURE[:5]), piece(PICTURE[5:], 0)], "invalid_sequence"),
        ([{**piece(PICTURE), "data": "a b c d"}], "invalid_base64"),
        ([{**piece(PICTURE), "data": ""}], "invalid_base64"),
        ([{**piece(PICTURE), "data": 3}], "invalid_base64"),
        ([piece(b"x" * (PIECE + 1))], "invalid_base64"),
        ([piece(PICTURE + b"x")], "size_mismatch"),
        ([piece(PICTURE[:-1]), named("commit")], "size_mismatch"),
        ([piece(bytes(len(PICTURE))), named("commit")], "digest_mismatch"),
        ([named("abort")], "caller_abort"),
    ],
)
def test_an_upload_that_goes_wrong_ends_once(records: list[dict[str, Any]], why: str) -> None:
    desk = Desk()
    assert desk.do(begin(), *records)[-1] == why
    assert desk.told[-1]["terminal"] is True
    assert desk.do(named("commit"), piece(PICTURE), named("abort")) == ["upload_already_terminal"] * 3
    assert sum(one["terminal"] for one in desk.told) == 1
    assert desk.kept == []


@pytest.mark.parametrize(
    ("data", "mime", "why"),
    [
        (b"no picture at all", "image/png", "mime_mismatch"),
        (PICTURE, "image/jpeg", "mime_mismatch"),
        (b"%PDF-1.4 cut", "application/pdf", "malformed_media"),
        (PICTURE[:20], "image/png", "malformed_media"),
    ],
)
def test_what_is_not_what_it_says_is_not_kept(data: bytes, mime: str, why: str) -> None:
    desk = Desk()
    assert desk.do(begin(data, mime_type=mime), piece(data), named("commit"))[-1] == why
    assert desk.kept == []


def test_names_are_used_once_and_the_ninth_upload_waits_for_another_time() -> None:
    desk = Desk()
    assert desk.do(begin(), begin(), begin(upload_id="upl_x")) == ["accepted", "duplicate_upload", "duplicate"]
    for number in range(2, 9):
        assert desk.do(begin(number=number, prompt_uuid=OTHER)) == ["accepted"]
    assert desk.do(begin(number=9, prompt_uuid=OTHER)) == ["resource_limit"]


def test_a_prompt_takes_so_many_bytes() -> None:
    desk = Desk()
    given = [begin(number=number, size_bytes=MOST_ITEM) for number in (1, 2, 3)]
    assert desk.do(*given) == ["accepted", "accepted", "resource_limit"]


def test_nothing_is_taken_for_a_prompt_that_came_or_a_model_that_sees_nothing() -> None:
    desk = Desk()
    desk.taken.add(PROMPT)
    assert desk.do(begin()) == ["prompt_already_accepted"]
    desk.taken.clear()
    desk.usable = False
    assert desk.do(begin()) == ["attachments_unavailable"]


def test_an_upload_expires_and_is_given_up_at_the_end() -> None:
    desk = Desk()
    desk.do(begin(), begin(number=2))
    desk.uploads.expire("upl_1")
    desk.uploads.expire("upl_1")
    desk.uploads.close("eof")
    assert [(one["status"], one["reason"]) for one in desk.told[2:]] == [("expired", "timeout"), ("aborted", "eof")]


def test_a_prompt_names_all_that_was_committed_for_it_and_nothing_else() -> None:
    desk = Desk()
    first, second, foreign = desk.sent(1), desk.sent(2), desk.sent(3, prompt_uuid=OTHER)
    assert len(desk.uploads.claim(PROMPT, (first, second))) == 2
    for refs in ((first,), (first, second, foreign), ({**first, "name": "b.png"}, second), (first, first), ()):
        with pytest.raises(ValueError, match="attachment"):
            desk.uploads.claim(PROMPT, refs)
    desk.do(begin(number=4))
    with pytest.raises(ValueError, match="still uploading"):
        desk.uploads.claim(PROMPT, (first, second))
    desk.uploads.close("eof")
    desk.uploads.accepted(PROMPT)
    assert desk.uploads.claim(PROMPT, ()) == ()


# --- with the program ------------------------------------------------------------------------------------------------


@pytest.fixture
def sees(tmp_path: Path) -> Path:
    settings = tmp_path / "home" / ".agenyx" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.parent.chmod(0o700)
    settings.write_text('images = "yes"\n', "utf-8")
    return tmp_path


def greeted(host: Host) -> dict[str, Any]:
    init = host.wait(lambda one: one["type"] == "system" and one["subtype"] == "init")
    host.request("initialize")
    return init


def ref(host: Host) -> dict[str, Any]:
    host.send(begin(), piece(PICTURE), named("commit"))
    done = host.wait(lambda one: one.get("terminal") is True)
    return {"type": "attachment_ref", **done["attachment"]}


def prompt(host: Host, *content: dict[str, Any], uuid: str = PROMPT) -> None:
    message = {"role": "user", "content": list(content), "content_version": 1}
    host.send({"type": "user", "uuid": uuid, "message": message})


def test_the_model_is_shown_what_a_host_sent(sees: Path) -> None:
    with RawServer([says()]) as server, Host(sees, server, env={}) as host:
        assert greeted(host)["input_capabilities"]["attachments"]["limits"]["max_message_items"] == 8
        sent = ref(host)
        prompt(host, sent)
        assert host.result()["result"] == "Hello."
        assert base64.b64encode(PICTURE).decode() in server.requests[0].body.decode()


def test_a_prompt_that_names_something_else_is_refused_and_the_stream_goes_on(sees: Path) -> None:
    with RawServer([says()]) as server, Host(sees, server, env={}) as host:
        greeted(host)
        sent = ref(host)
        prompt(host, {"type": "text", "text": "look"}, {**sent, "size_bytes": 1})
        ended = host.result()
        assert (ended["stop_reason"], ended["prompt_uuid"]) == ("input_error", PROMPT)
        prompt(host, {"type": "text", "text": "/cost"}, sent)
        assert "slash command" in host.result()["errors"][0]
        assert server.requests == []
        prompt(host, {"type": "text", "text": "look"}, sent)
        assert host.result()["result"] == "Hello."


def test_the_end_of_input_gives_up_what_is_uploading(sees: Path) -> None:
    with RawServer([says()]) as server, Host(sees, server, env={}) as host:
        greeted(host)
        host.prompt("hi")
        host.result()
        host.send(begin())
        host.close()
        assert host.end() == 0
    ended = [one for one in host.seen if one["type"] == "attachment_import_result"]
    assert [(one["status"], one.get("reason")) for one in ended] == [("accepted", None), ("aborted", "eof")]


def test_a_model_that_sees_nothing_gets_nothing(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server, env={}) as host:
        assert "input_capabilities" not in greeted(host)
        host.send(begin())
        refused = host.wait(lambda one: one["type"] == "attachment_import_rejected")
    assert refused["reason"] == "attachments_unavailable"


def test_for_an_agent_sdk_such_a_record_is_unknown(tmp_path: Path) -> None:
    with RawServer([says()]) as server, Host(tmp_path, server) as host:
        host.initialize()
        host.send(begin())
        host.prompt("hi")
        host.result()
    assert "unknown type 'attachment_import'" in host.errors
