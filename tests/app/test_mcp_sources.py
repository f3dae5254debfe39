"""Where servers come from: who hides whom, what is said about it, and what the command line may give."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from agenyx.app.extensions import Extensions
from agenyx.app.mcp_sources import configured, given_text, key_of, place_of, told
from agenyx.core.errors import UsageError
from agenyx.ext.mcp.config import Read, ServerConfig
from agenyx.ext.sources import Source


def servers(command: str, name: str = "one") -> bytes:
    return json.dumps({"mcpServers": {name: {"command": command}}}).encode()


class Given:
    """What a person and a workspace bring, in the order in which it is found."""

    def __init__(self, *sources: tuple[str, str, bytes]) -> None:
        self._sources = [
            Source("mcp", "workspace" if top == "/work" else "user", top, path, f"{top}/{path}", data)
            for top, path, data in sources
        ]

    def sources(self, kind: str) -> list[Source]:
        assert kind == "mcp"
        return self._sources


def read(*sources: tuple[str, str, bytes], given: str = "", **more: Any) -> Read:
    extensions = cast("Extensions", Given(*sources))
    return configured(extensions, given, {"OPENAI_API_KEY": "sk-1234567890"}, "/home", **more)


def test_the_command_line_hides_the_workspace_which_hides_the_person() -> None:
    layers = [
        ("/home", "mcp.json", servers("mine")),
        ("/work", "mcp.json", servers("agenyx")),
        ("/work", ".mcp.json", servers("work")),
    ]
    found = read(*layers, given=servers("argv").decode())
    assert [(one.command, one.source) for one in found.servers] == [("argv", "argv")]
    assert len(found.problems) == 3 and all("is hidden by" in told(one)[0] for one in found.problems)
    assert [one.command for one in read(*layers).servers] == ["agenyx"]
    assert [one.command for one in read(layers[0], layers[2]).servers] == ["work"]
    assert [one.source for one in read(*layers, given=servers("x", name="other").decode(), strict=True).servers] == [
        "argv"
    ]


def test_one_that_is_wrong_takes_no_other_along() -> None:
    data = json.dumps({"mcpServers": {"bad": {}, "key": {"command": "$OPENAI_API_KEY"}, "good": {"command": "x"}}})
    found = read(("/home", "mcp.json", data.encode()), ("/work", ".mcp.json", b"{"))
    assert [one.name for one in found.servers] == ["good"]
    texts = [told(one)[0] for one in found.problems]
    assert texts[0].startswith("The MCP server 'bad': ") and "a model provider's key" in texts[1]
    assert texts[2].startswith("/work/.mcp.json is not valid")


def test_the_command_line_gives_json_or_a_file(tmp_path: Path) -> None:
    text = servers("x").decode()
    (tmp_path / "servers.json").write_text(text)
    assert given_text(text) == text and given_text(str(tmp_path / "servers.json")) == text
    for wrong in ("{", '{"mcpServers": []}', '{"servers": {}}', str(tmp_path), str(tmp_path / "none"), "a\0b"):
        with pytest.raises(UsageError) as error:
            given_text(wrong)
        assert "--mcp-config" in error.value.message and "mcpServers" in error.value.fix


def test_what_is_known_of_one_workspaces_server_says_nothing_about_anothers() -> None:
    one = ServerConfig("one", "x", source="project", path="/work/.mcp.json")
    assert key_of(one, "/work") != key_of(one, "/other")
    assert place_of(one, "/work") == ".mcp.json" and place_of(one, "/other") == "/work/.mcp.json"
