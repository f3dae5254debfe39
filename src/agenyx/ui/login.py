"""`agenyx login` and `agenyx logout`: the words and the hidden input; app.login does the work."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from agenyx.app import login as app
from agenyx.config import auth
from agenyx.config.auth_schema import KEY_BYTES
from agenyx.config.configured import has_auth
from agenyx.config.environment import BY_ID, named
from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.ui.arguments import arguments
from agenyx.ui.exits import OK, complaint, write_error
from agenyx.ui.standard import show

HELP = f"""\
Usage: agenyx login [ID] [flags]
       agenyx logout ID

Stores the key of a model provider in auth.json in the home (~/.agenyx, or AGENYX_HOME), readable for you alone. The key
is asked for without being shown, tried with one request, and only then stored. Other profiles stay as they are.

ID is the name of the profile, openai when it is left out. These names need nothing else:
  {", ".join(name for name in BY_ID if name != "azure")}

  --type TYPE           openai, openai_compatible, anthropic or azure_openai
  --base-url URL        address of the server; with Azure its endpoint
  --model NAME          the model to use with this profile
  --wire WIRE           chat or responses
  --deployment NAME     Azure: the deployment
  --api-version V       Azure: the API version
  --default             use this profile when none is chosen
  --keyring             store the key in the system's keyring instead; an extra: pip install 'agenyx[keyring]'
  --stdin               read the key from standard input
  --no-test             store it without trying it

Examples:
  agenyx login
  agenyx login anthropic --model claude-opus-5-5
  agenyx login openrouter --keyring
  agenyx login work --base-url https://llm.example.com/v1 --model big < key.txt --stdin
"""
SWITCHES = ("--default", "--stdin", "--no-test", "--keyring")
VALUES = ("--type", "--base-url", "--model", "--wire", "--deployment", "--api-version")


def login(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError or another AgenyxError; then nothing was stored."""
    given = arguments("login", argv, switches=SWITCHES, values=VALUES, words=(0, 1))
    if given.help:
        show(HELP)
        return OK
    home = home_path(env)
    wanted = app.complete(app.Wanted("".join(given.words), *(given.value(name) for name in VALUES)))
    if has_auth(home):
        auth.load(home)  # a broken file is told before a key is asked for
    in_keyring = given.on("--keyring")
    if in_keyring:
        from agenyx.config import keychain

        keychain.check()
    key = _piped() if given.on("--stdin") else _hidden(f"Key of {safe(wanted.id)} (it is not shown): ")
    if not key and (in_keyring or wanted.type != "openai_compatible"):
        raise UsageError("no key was given", "Nothing was stored.")
    profile = app.profile_of(app.entry_of(wanted, key))
    if not given.on("--no-test"):
        import asyncio

        show(f"{safe(profile.id)}: {safe(asyncio.run(app.attempt(profile, env)))}\n")
    replaced, left = app.store(home, wanted, key, default=given.on("--default"), in_keyring=in_keyring)
    where = ", its key is in the system keyring" if in_keyring else ""
    show(f"{os.path.join(home, auth.NAME)}: {safe(profile.id)} was {'replaced' if replaced else 'added'}{where}\n")
    if left:
        write_error(complaint(left))
    if rows := named(env):
        names = ", ".join(row.key_variable for row in rows)
        write_error(complaint(f"auth.json is used from now on, and no longer: {names}"))
    return OK


def logout(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError, ConfigError."""
    given = arguments("logout", argv, words=(1, 1))
    if given.help:
        show(HELP)
        return OK
    home, name = home_path(env), given.words[0]
    left, kept = app.remove(home, name)
    show(f"{os.path.join(home, auth.NAME)}: {safe(name)} was removed, {left} left\n")
    if kept:
        write_error(complaint(kept))
    return OK


def _piped() -> str:
    data = sys.stdin.buffer.read(KEY_BYTES + 2)
    try:
        return data.decode().strip()
    except UnicodeDecodeError:
        raise UsageError("standard input is not UTF-8 text", "Pipe the key alone.") from None


def _hidden(prompt: str) -> str:
    """The key from the terminal, without showing it. Raises UsageError where there is no terminal."""
    import getpass
    import warnings

    if not os.isatty(0):
        try:
            os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
        except OSError:
            raise UsageError(
                "there is no terminal to ask for the key", "Pipe it: agenyx login --stdin < FILE"
            ) from None
    with warnings.catch_warnings():
        warnings.simplefilter("error", getpass.GetPassWarning)
        try:
            return getpass.getpass(prompt).strip()
        except getpass.GetPassWarning:
            raise UsageError("this terminal would show the key", "Pipe it: agenyx login --stdin < FILE") from None
        except EOFError:
            return ""
