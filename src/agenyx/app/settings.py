"""What the person chose for one conversation, wherever it was chosen."""

from __future__ import annotations

from msgspec import Struct

from agenyx.core.verdict import Mode


class Settings(Struct, frozen=True):
    """Empty strings and zero mean: not chosen. `cwd` is the workspace; `unsafe` the dangerous flag.

    `allowed` and `disallowed` are permission rules, between commas or blanks; `tool_set` is a ToolSet.
    `record` and `replay` are files: a recording to write, or to play in place of a server, by order alone if
    `replay_loose`. `trust` lets what acts in the workspace (instructions, settings) in for this run; `bare` leaves it
    out without a word. `defer`: nobody answers questions now, so that all of a response are asked at once.
    `fork`: go on with a copy of the session; `rebind`: with another provider than it had; `placed`: `cwd` was named.
    `yielding` names the fields that come from the home's settings.toml: a trusted workspace's wins.
    """

    cwd: str
    model: str = ""
    provider: str = ""
    base_url: str = ""
    effort: str = ""
    record: str = ""
    replay: str = ""
    replay_loose: bool = False
    mode: Mode = "default"
    unsafe: bool = False
    max_steps: int = 0
    max_usd: float = 0.0
    max_tokens: int = 0
    resume: str = ""
    continue_: bool = False
    fork: bool = False
    rebind: bool = False
    placed: bool = False
    persist: bool = True
    trust: bool = False
    bare: bool = False
    defer: bool = False
    yielding: tuple[str, ...] = ()
    allowed: str = ""
    disallowed: str = ""
    tool_set: str = ""
