"""What the person chose for one conversation, wherever it was chosen."""

from __future__ import annotations

from msgspec import Struct

from agenyx.core.verdict import Choice, Mode


class Settings(Struct, frozen=True):
    """Empty strings and zero mean: not chosen. `cwd` is the workspace; `unsafe` the dangerous flag.

    `allowed` and `disallowed` are permission rules, between commas or blanks; `tool_set` is a ToolSet.
    `record` and `replay` are files: a recording to write, or to play in place of a server, by order alone if
    `replay_loose`. `trust` lets what acts in the workspace (instructions, settings) in for this run; `bare` leaves it
    out without a word. `defer`: nobody answers questions now, so that all of a response are asked at once.
    `fork`: go on with a copy of the session; `rebind`: with another provider than it had; `placed`: `cwd` was named.
    `mode_given`: the mode was said at the start, so that a turn that was left open goes on in it and not in its own.
    `agents` is JSON text that names subagents. `output_style` is one by name; `style_given`: it was said at the start,
    so that a session that goes on takes it and leaves its own.
    `mcp_config` is JSON text that names MCP servers; with `mcp_strict` there are no others.
    `session_id` is the id of a new session. `system_prompt` stands in place of the built-in instructions of one, None
    where they hold; `append_system` stands behind all of them.
    `tools` are the built-in tools to offer, by name, None for all of the set; `sources` is whose files count ("user",
    "project", "local"), None for all.
    `retool`: the host brings tools of its own, so a session that goes on takes the tools there are now into its head.
    `resume_at` is the message after which a session goes on, `drops_turn` the prompt that alone is left behind by that.
    `fallback` are models that stand in for the chosen one. `add_dirs` are folders to add to the workspace. `rules` are
    permission rules of the host's settings, each with its decision and where it stands; `hooks` is their JSON text,
    `variables` are for commands alone.
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
    mode_given: bool = False
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
    agents: str = ""
    output_style: str = ""
    style_given: bool = False
    mcp_config: str = ""
    mcp_strict: bool = False
    session_id: str = ""
    system_prompt: str | None = None
    append_system: str = ""
    tools: tuple[str, ...] | None = None
    sources: tuple[str, ...] | None = None
    retool: bool = False
    resume_at: str = ""
    drops_turn: str = ""
    fallback: tuple[str, ...] = ()
    add_dirs: tuple[str, ...] = ()
    rules: tuple[tuple[Choice, str, str], ...] = ()
    hooks: str = ""
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def of_workspace(self) -> bool:
        """Whether files of the workspace may count."""
        return not self.bare and (self.sources is None or not {"project", "local"}.isdisjoint(self.sources))

    @property
    def of_person(self) -> bool:
        """Whether the person's own files may count."""
        return not self.bare and (self.sources is None or "user" in self.sources)
