"""How servers of the chat-completions family differ, as data. Knows hosts and field names, no code paths."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agenyx.config.profiles import LOOPBACK, Profile

EXTRA = "chat.extra_content"  # the wire of what servers of this family attach to a call and want back


class Dialect(Struct, frozen=True):
    """One kind of server.

    `size` is the field that limits the output; `usage` says whether the stream is asked for token counts; `effort` is
    the field of the reasoning effort, "" where there is none; `replay` is the field in which reasoning goes back with
    its calls, "" where it must not; `ids` is the longest id of a call that the server takes back (gateways hide state
    in theirs, so it is large where no limit is known); `idle` is the longest silence in seconds that still counts as
    thinking.
    """

    name: str
    size: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    usage: bool = True
    effort: Literal["reasoning_effort", ""] = "reasoning_effort"
    replay: Literal["reasoning_content", "reasoning", ""] = ""
    ids: int = 16_384
    idle: float = 90.0


# A reasoning model says nothing over chat completions until it has thought.
OPENAI = Dialect("openai", size="max_completion_tokens", ids=40, idle=300.0)
COMPATIBLE = Dialect("compatible")
# Evaluating a long prompt on a CPU takes minutes, and nothing is sent meanwhile.
LOOPBACK_SERVER = Dialect("loopback", idle=600.0)
LLAMA_CPP = Dialect("llama.cpp", effort="", idle=600.0)
# Thinking models that answer 400 when a tool turn comes back without its reasoning.
THINKING = Dialect("thinking", replay="reasoning_content")

HOSTS: dict[str, Dialect] = {
    "api.openai.com": OPENAI,
    "api.deepseek.com": THINKING,
    "api.moonshot.ai": THINKING,
    "api.moonshot.cn": THINKING,
}


def dialect_of(profile: Profile) -> Dialect:
    """By host; else by kind: the embedded model, a server on this machine, any other compatible one."""
    if profile.type == "local":
        return LLAMA_CPP
    if profile.host in LOOPBACK:
        return LOOPBACK_SERVER
    return HOSTS.get(profile.host, OPENAI if profile.type == "openai" else COMPATIBLE)
