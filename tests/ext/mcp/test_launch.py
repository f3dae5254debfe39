from __future__ import annotations

from agenyx.ext.mcp.config import ServerConfig
from agenyx.ext.mcp.launch import environment, spawn


def test_the_list_is_short_and_the_configuration_wins():
    env = {
        "HOME": "/h",
        "LANG": "C",
        "LC_TIME": "C",
        "TERM": "xterm",
        "TMPDIR": "/t",
        "PATH": "/bin:rel:/no/such/folder",
        "NODE_OPTIONS": "-r x",
        "LD_PRELOAD": "x",
        "AWS_PROFILE": "x",
        "GIT_DIR": "x",
        "XDG_CONFIG_HOME": "x",
    }
    found = environment(ServerConfig("s", "c", env=(("LANG", "de"), ("NODE_OPTIONS", "--mine"))), env)
    path = found.pop("PATH").split(":")
    assert path[0] == "/bin" and "rel" not in path and "/no/such/folder" not in path
    assert found == {
        "HOME": "/h",
        "LANG": "de",
        "LC_TIME": "C",
        "TERM": "xterm",
        "TMPDIR": "/t",
        "NODE_OPTIONS": "--mine",
    }


def test_no_secret_passes_whole_or_within():
    env = {"HOME": "/h/sk-123456789", "TERM": "short", "USER": "a-short-b", "LC_ALL": "C"}
    assert environment(ServerConfig("s", "c"), env, ("sk-123456789", "short", ""))  # "" hides nothing
    found = environment(ServerConfig("s", "c"), env, ("sk-123456789", "short", ""))
    assert "HOME" not in found and "TERM" not in found and found["USER"] == "a-short-b" and found["LC_ALL"] == "C"


def test_the_directory_is_the_workspace_or_counts_from_it():
    assert spawn(ServerConfig("s", "c", ("a",)), "/w", {}).cwd == "/w"
    assert spawn(ServerConfig("s", "c", cwd="sub"), "/w", {}).cwd == "/w/sub"
    assert spawn(ServerConfig("s", "c", cwd="/else"), "/w", {}).cwd == "/else"
    assert spawn(ServerConfig("s", "c", ("a",)), "/w", {}).argv == ("c", "a")
    assert spawn(ServerConfig("s", "c"), "/w", {}).tracked
