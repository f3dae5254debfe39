from __future__ import annotations

import pytest

from agenyx.proc.environment import child_env, search_path, utf8_locale


def test_what_passes_and_what_does_not():
    env = {
        "HOME": "/home/u",
        "VIRTUAL_ENV": "/v",
        "LC_TIME": "de_DE.UTF-8",
        "RUST_BACKTRACE": "1",
        "JAVA_HOME": "/java",
        # none of these
        "OPENAI_API_KEY": "sk-1",
        "RUST_TOKEN": "t",
        "ANDROID_SIGNING_PASSWORD": "p",
        "LD_PRELOAD": "/evil.so",
        "DYLD_INSERT_LIBRARIES": "/evil",
        "PYTHONPATH": "/evil",
        "PYTHONSTARTUP": "/evil.py",
        "NODE_OPTIONS": "--require evil",
        "BASH_ENV": "/evil",
        "ENV": "/evil",
        "BASH_FUNC_ls%%": "() { rm; }",
        "PROMPT_COMMAND": "evil",
        "GIT_DIR": "/other/.git",
        "GIT_WORK_TREE": "/other",
        "GIT_SSH_COMMAND": "evil",
        "SSH_AUTH_SOCK": "/agent",
        "HTTPS_PROXY": "http://u:p@proxy",
        "PERL5OPT": "-Mevil",
        "UNKNOWN": "x",
    }
    child = child_env(env)
    assert child["HOME"] == "/home/u" and child["VIRTUAL_ENV"] == "/v"
    assert child["LC_TIME"] == "de_DE.UTF-8" and child["RUST_BACKTRACE"] == "1" and child["JAVA_HOME"] == "/java"
    names = list(env)
    assert not set(names[names.index("OPENAI_API_KEY") :]) & set(child)


def test_nothing_waits_for_a_person():
    child = child_env({"PAGER": "less", "EDITOR": "vim", "GIT_EDITOR": "vim", "TERM": "xterm-256color"})
    assert child["PAGER"] == child["GIT_PAGER"] == "cat"
    assert child["EDITOR"] == child["GIT_EDITOR"] == "true"
    assert child["GIT_TERMINAL_PROMPT"] == "0" and child["DEBIAN_FRONTEND"] == "noninteractive"
    assert child["TERM"] == "dumb"


def test_values_that_hold_a_secret_are_dropped(tmp_path):
    secret = "correct-horse-battery"
    place = tmp_path / secret
    place.mkdir()
    env = {"NODE_ENV": secret, "LC_X": f"a{secret}b", "TZ": "abc", "LANG": "C", "PATH": f"{place}:/bin", "HOME": "/abc"}
    child = child_env(env, [secret, "abc", ""])
    assert "NODE_ENV" not in child and "LC_X" not in child
    assert "TZ" not in child, "equal to a short secret"
    assert child["HOME"] == "/abc", "a short secret inside an ordinary word is no secret"
    assert child["LANG"] == "C"
    assert str(place) not in child["PATH"]


def test_path_keeps_its_order(tmp_path):
    mine = tmp_path / "venv" / "bin"
    mine.mkdir(parents=True)
    path = search_path(f"{mine}:relative::/bin:/no/such/dir:{mine}:.:/usr/bin")
    assert path[:3] == [str(mine), "/bin", "/usr/bin"]
    assert len(path) == len(set(path))
    assert all(part.startswith("/") for part in path)
    assert search_path("")  # the system's own


def test_huge_environments_are_bounded():
    child = child_env({"HOME": "/h"} | {f"LC_{n}": "x" * 50_000 for n in range(100)} | {"TZ": "y" * 200_000})
    assert child["HOME"] == "/h" and "TZ" not in child
    assert sum(len(k) + len(v) for k, v in child.items()) < 1_100_000


@pytest.mark.parametrize(
    ("env", "forced"),
    [
        ({"LANG": "de_DE.UTF-8"}, False),
        ({"LC_ALL": "C.utf8"}, False),
        ({"LC_CTYPE": "UTF-8"}, False),
        ({"LANG": "de_DE.utf8@euro"}, False),
        ({}, True),
        ({"LANG": "C"}, True),
        ({"LANG": "de_DE.UTF-8", "LC_ALL": "POSIX"}, True),
    ],
)
def test_utf8_is_forced_only_where_it_lacks(env, forced):
    assert bool(utf8_locale(env).get("LC_ALL")) is forced


def test_many_variables_are_bounded():
    child = child_env({"HOME": "/h"} | {f"LC_N{n}": "x" for n in range(2000)})
    assert len(child) <= 512 and child["HOME"] == "/h" and child["PAGER"] == "cat" and child["PATH"]


LOADS_OR_LEADS = """
    LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_LIBRARY_PATH GCONV_PATH PYTHONPATH PYTHONHOME PYTHONINSPECT PERL5LIB
    RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH JAVA_TOOL_OPTIONS _JAVA_OPTIONS PYTHONBREAKPOINT GIT_CONFIG_GLOBAL
    GIT_CONFIG_COUNT
    GIT_EXEC_PATH GIT_SSH GIT_ASKPASS GIT_EXTERNAL_DIFF GIT_PROXY_COMMAND SSH_ASKPASS LESSOPEN LESSCLOSE LESS MANOPT
    BASH_ENV ENV PROMPT_COMMAND PS4 SHELLOPTS BASHOPTS IFS CDPATH GLOBIGNORE RUSTC_WRAPPER RUSTFLAGS GOFLAGS GOPROXY
    HTTP_PROXY ALL_PROXY DBUS_SESSION_BUS_ADDRESS GPG_AGENT_INFO KUBECONFIG DOCKER_HOST AWS_PROFILE
"""


@pytest.mark.parametrize("name", LOADS_OR_LEADS.split())
def test_what_loads_code_or_leads_elsewhere_is_dropped(name):
    assert child_env({name: "x"}).get(name) != "x"
