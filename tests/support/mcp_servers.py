"""Real MCP servers, which nobody here wrote, where they are installed; and the scripted one of `mcp_fake.py`.

They lie in the folder that AGENYX_MCP_SERVERS names, else in ~/.cache/agenyx-mcp: `venv/bin` and `node_modules/.bin`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.ext.mcp.config import ServerConfig

FAKE = Path(__file__).resolve().parent / "mcp_fake.py"
PYTHON_SERVERS = ("mcp-server-git", "mcp-server-time", "mcp-server-fetch")
NODE_SERVERS = (
    "mcp-server-filesystem",
    "mcp-server-memory",
    "mcp-server-everything",
    "mcp-server-sequential-thinking",
)


def folder() -> Path:
    return Path(os.environ.get("AGENYX_MCP_SERVERS") or Path.home() / ".cache" / "agenyx-mcp")


def program(name: str) -> Path:
    """The program of a real server. Skips the test where it is not installed, but fails with AGENYX_REAL_MCP=1."""
    below = "venv/bin" if name in PYTHON_SERVERS else "node_modules/.bin"
    path = folder() / below / name
    if not path.exists():
        text = f"{name} is not installed in {folder()}"
        if os.environ.get("AGENYX_REAL_MCP") == "1":
            pytest.fail(text)
        pytest.skip(text)
    return path


def sdk_python() -> Path:
    """The Python that has the official SDK, for servers of the tests that are written with it."""
    return program("mcp-server-time").parent / "python"


def real(name: str, *args: str, **fields: Any) -> ServerConfig:
    """The configuration of a real server; `name` without "mcp-server-"."""
    return ServerConfig(name, str(program(f"mcp-server-{name}")), args, **fields)


def fake(name: str = "fake", /, *args: str, options: dict[str, Any] | None = None, **fields: Any) -> ServerConfig:
    """The configuration of the scripted server; `options` are those of `mcp_fake.py`."""
    argv = ("-I", "-S", str(FAKE), json.dumps(options or {}), *args)
    return ServerConfig(name, sys.executable, argv, **fields)
