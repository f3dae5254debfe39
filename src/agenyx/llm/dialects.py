"""How servers differ, as data: one table a wire. Knows hosts, ports and field names, no code paths."""

from __future__ import annotations

from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct

from agenyx.config.profiles import LOOPBACK, Profile

EXTRA = "chat.extra_content"  # the wire of what servers of the chat family attach to a call and want back
DETAILS = "chat.reasoning_details"  # the wire of reasoning that gateways want back piece by piece


class Dialect(Struct, frozen=True):
    """One kind of chat-completions server.

    `size` is the field that limits the output; `usage` says whether the stream is asked for token counts; `effort` is
    the field of the reasoning effort, "" where there is none; `replay` is the field in which reasoning goes back with
    its calls, "" where it must not, and `replay_empty` says that it is wanted even without text; `details` sends
    `reasoning_details` back; `ids` is the longest id of a call that the server takes back (gateways hide state in
    theirs, so it is large where no limit is known); `idle` is the longest silence in seconds that still counts as
    thinking; `text_calls` takes calls that a model printed as text: only for servers on this machine.
    """

    name: str
    size: Literal["max_completion_tokens", "max_tokens"] = "max_tokens"
    usage: bool = True
    effort: Literal["reasoning_effort", "reasoning", ""] = "reasoning_effort"
    replay: Literal["reasoning_content", "reasoning", ""] = ""
    replay_empty: bool = False
    details: bool = False
    ids: int = 16_384
    idle: float = 90.0
    text_calls: bool = False


# A reasoning model says nothing over chat completions until it has thought.
OPENAI = Dialect("openai", size="max_completion_tokens", ids=40, idle=300.0)
COMPATIBLE = Dialect("compatible")
# Thinking models that answer 400 when a tool turn comes back without its reasoning, even an empty one.
THINKING = Dialect("thinking", replay="reasoning_content", replay_empty=True)
# Signatures of thought of whatever model is behind it go back as they came.
OPENROUTER = Dialect("openrouter", effort="reasoning", details=True)
# Evaluating a long prompt on a CPU takes minutes, and nothing is sent meanwhile.
LOOPBACK_SERVER = Dialect("loopback", idle=600.0, text_calls=True)
LLAMA_CPP = Dialect("llama.cpp", effort="", replay="reasoning_content", idle=600.0, text_calls=True)
OLLAMA = Dialect("ollama", replay="reasoning", idle=600.0, text_calls=True)
LM_STUDIO = Dialect("lm-studio", idle=600.0, text_calls=True)
VLLM = Dialect("vllm", idle=600.0, text_calls=True)

HOSTS: dict[str, Dialect] = {
    "api.openai.com": OPENAI,
    "api.deepseek.com": THINKING,
    "api.moonshot.ai": THINKING,
    "api.moonshot.cn": THINKING,
    "openrouter.ai": OPENROUTER,
}

# Servers on this machine: by the id under which they are found, wherever they listen, and by their usual ports.
IDS: dict[str, Dialect] = {"ollama": OLLAMA, "lmstudio": LM_STUDIO, "vllm": VLLM}
PORTS: dict[int, Dialect] = {11434: OLLAMA, 1234: LM_STUDIO, 8000: VLLM}


def dialect_of(profile: Profile) -> Dialect:
    """By host; else by kind: the embedded model, a server on this machine, any other compatible one."""
    if profile.type == "local":
        return LLAMA_CPP
    if profile.host in LOOPBACK:
        return IDS.get(profile.id) or PORTS.get(urlsplit(profile.base_url).port or 0, LOOPBACK_SERVER)
    return HOSTS.get(profile.host, OPENAI if profile.type == "openai" else COMPATIBLE)


class ResponsesDialect(Struct, frozen=True):
    """One kind of Responses server.

    `strict` holds the server to the order and completeness that OpenAI and Azure keep; `seeing` says that results of
    calls may hold images; the rest as above.
    """

    name: str
    strict: bool = False
    ids: int = 16_384
    idle: float = 90.0
    text_calls: bool = False
    seeing: bool = False


RESPONSES_OPENAI = ResponsesDialect("openai", strict=True, ids=64, idle=300.0, seeing=True)
RESPONSES_COMPATIBLE = ResponsesDialect("compatible")
RESPONSES_LOOPBACK = ResponsesDialect("loopback", idle=600.0, text_calls=True)


def responses_dialect_of(profile: Profile) -> ResponsesDialect:
    """OpenAI and Azure by type or host, a server on this machine, any other compatible one."""
    if profile.type in ("openai", "azure_openai") or profile.host == "api.openai.com":
        return RESPONSES_OPENAI
    return RESPONSES_LOOPBACK if profile.host in LOOPBACK else RESPONSES_COMPATIBLE


class MessagesDialect(Struct, frozen=True):
    """One kind of Messages server.

    `output` is the limit that is sent when the options name none, in tokens: this wire demands one.
    """

    name: str
    output: int = 32_000
    ids: int = 64
    idle: float = 300.0


MESSAGES_ANTHROPIC = MessagesDialect("anthropic")
MESSAGES_LOOPBACK = MessagesDialect("loopback", idle=600.0)


def messages_dialect_of(profile: Profile) -> MessagesDialect:
    """A server on this machine, or Anthropic's and what imitates it."""
    return MESSAGES_LOOPBACK if profile.host in LOOPBACK else MESSAGES_ANTHROPIC
