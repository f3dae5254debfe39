"""Chooses the model server and the model, and opens it: an HTTP server, or the embedded model as a child process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from agenyx.app.settings import Settings
from agenyx.config.configured import LOCAL, configured, keys
from agenyx.config.environment import BY_ID
from agenyx.config.profiles import LOCAL_ID, Profile
from agenyx.core.errors import ConfigError, UsageError
from agenyx.core.events import Notice, Usage
from agenyx.core.limits import RESULT_CHARS
from agenyx.core.redact import Masker
from agenyx.core.tools import ToolSet
from agenyx.llm.request import Options, Provider, Request
from agenyx.proc.spawn import Processes
from agenyx.session.records import Binding

LOCAL_RESULT_CHARS = 1_500  # the embedded model's whole window is 8,192 tokens
LOCAL_STEPS = 12
LOCAL_OUTPUT = 512  # tokens
LOCAL_OPTIONS = Options(temperature=0.0, max_output=LOCAL_OUTPUT)
LOCAL_WINDOW = 8_192  # tokens, as the server is started

if TYPE_CHECKING:
    from agenyx.llm.catalogue import Model as Facts
    from agenyx.llm.http import Client


class Model(Struct):
    """An open model. `max_steps` is 0 for the usual limit; `close` releases what the model holds.

    `prepare` is awaited with the first request before it is sent, where a model has something to do then. `reopen`
    gives the provider of another model on the same server, None where there is only one.
    """

    profile: Profile
    name: str
    provider: Provider
    options: Options
    close: Callable[[], Awaitable[None]]
    prepare: Callable[[Request], Awaitable[Notice]] | None = None
    reopen: Callable[[str], Provider] | None = None
    size: ToolSet = "full"
    result_chars: int = RESULT_CHARS
    max_steps: int = 0
    secrets: tuple[str, ...] = ()


FIRST_RUN = """\
Do one of these, then run the same command again:
  agenyx login                       store the key of OpenAI, Anthropic or a compatible server
  export OPENAI_API_KEY=...          or ANTHROPIC_API_KEY, OPENROUTER_API_KEY, DEEPSEEK_API_KEY, ...
  start Ollama, LM Studio, llama.cpp or vLLM on this machine: it is found by itself
  agenyx local install               a small offline model, good for a first try
What is configured, and what is wrong with it: agenyx doctor"""


async def open_model(
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    processes: Processes,
    before: Binding | None,
    tell: Callable[[Notice], None] = lambda _: None,
) -> Model:
    """`before` is the binding of a resumed session: its model is kept unless another one was chosen.

    `tell` hears of a recording that could not go on.

    Raises UsageError, ConfigError or another AgenyxError with what to do next.
    """
    if settings.replay:
        return _open_replay(settings)
    profile = await find_profile(settings.provider, settings.base_url, env, home)
    if profile.type == "local":
        return await _open_local(profile, settings, env, home, processes, tell)
    return await _open_server(profile, settings, env, home, before, tell)


def _open_replay(settings: Settings) -> Model:
    """A recording in place of a server, with the options that it was made with."""
    from agenyx.llm.provider import open_provider
    from agenyx.llm.replay import open_replay

    replay = open_replay(settings.replay, loose=settings.replay_loose)
    profile, client = replay.profile, replay.client

    def reopen(model: str) -> Provider:
        return open_provider(profile, model, {}, client=client, retry=replay.retry, throttle=replay.throttle)

    provider = reopen(replay.model)
    if profile.type == "local":
        return Model(
            profile,
            replay.model,
            provider,
            replay.options,
            client.close,
            size="small",
            result_chars=LOCAL_RESULT_CHARS,
            max_steps=LOCAL_STEPS,
        )
    return Model(profile, replay.model, provider, replay.options, client.close, reopen=reopen)


def _client(
    settings: Settings,
    profile: Profile,
    model: str,
    options: Options,
    secrets: tuple[str, ...],
    env: Mapping[str, str],
    tell: Callable[[Notice], None],
) -> Client:
    """The HTTP client; one that writes everything down where that was asked for. Raises UsageError."""
    from agenyx.llm.http import Client

    if not settings.record:
        return Client(env)
    from agenyx.llm.cassette import Recorder
    from agenyx.llm.record import RecordingClient

    def say(text: str) -> None:
        tell(Notice("warning", text, "Free space, then record again."))

    return RecordingClient(env, Recorder(settings.record, profile, model, secrets, say, options=options))


async def find_profile(provider: str, base_url: str, env: Mapping[str, str], home: str) -> Profile:
    """The provider to use: configured, else one that runs on this machine, else the embedded model.

    `provider` and `base_url` are the flags, "" when absent. Raises ConfigError or UsageError; where nothing is there at
    all, the message is the first-run help.
    """
    found = configured(env, home, provider, base_url)
    if found is not None:
        return found
    if provider != LOCAL_ID:
        from agenyx.llm.detect import IDS, detect

        if provider and provider not in IDS:
            known = ", ".join((*BY_ID, *IDS, LOCAL_ID))
            raise UsageError(f"unknown provider {provider!r}", f"Known without auth.json: {known}.")
        running = await detect(env, provider)
        if running:
            return running[0]
        if provider:
            raise ConfigError(f"{provider} does not run on this machine", "Start it, or leave out --provider.")
    from agenyx.llm.local.paths import installed

    if installed(home) is not None:
        return LOCAL
    if provider:
        raise ConfigError("the embedded model is not installed", "Run: agenyx local install")
    raise ConfigError("no model provider is configured", FIRST_RUN)


async def _open_server(
    profile: Profile,
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    before: Binding | None,
    tell: Callable[[Notice], None],
) -> Model:
    from agenyx.llm.http import Client
    from agenyx.llm.models import choose_model
    from agenyx.llm.provider import open_provider
    from agenyx.llm.throttle import Throttle

    client = Client(env)
    chosen = settings.model or env.get("AGENYX_MODEL", "")
    if not chosen and before is not None and before.fingerprint == profile.fingerprint(before.model):
        chosen = before.model
    try:
        name = await choose_model(profile, chosen, env, client, home)
        secrets = _secrets(profile, env, home)
        effort = effort_of(profile, name, settings.effort, home, env)
        options = Options(max_output=_output(profile, name, home), effort=effort)
        if settings.record:
            await client.close()
            client = _client(settings, profile, name, options, secrets, env, tell)
    except BaseException:
        await client.close()
        raise
    # A model may print the key of any provider that it finds, not only its own.
    throttle, masker = Throttle(), Masker(secrets)

    def reopen(other: str) -> Provider:
        return open_provider(profile, other, env, client=client, masker=masker, throttle=throttle)

    provider = reopen(name)
    if profile.type == "azure_openai":
        return Model(profile, name, provider, options, client.close, secrets=secrets)
    return Model(profile, name, provider, options, client.close, reopen=reopen, secrets=secrets)


def price_of(profile: Profile, model: str, home: str) -> Callable[[Usage], float | None]:
    """What a response of this model costs in US dollars, None when that is not known.

    The catalogue is read with the first response, once. Prices belong to hosts that it names; those of Azure depend on
    the contract. The embedded model costs nothing.
    """
    found: list[Facts | None] = []

    def cost(usage: Usage) -> float | None:
        from agenyx.llm import catalogue

        if profile.type == "local":
            return 0.0
        if not found:
            found.append(catalogue.read(home).model(profile.host, model))
        return catalogue.price(usage, found[0])

    return cost


def window_of(profile: Profile, model: str, home: str) -> int | None:
    """The context window in tokens, None when it is not known."""
    if profile.type == "local":
        return LOCAL_WINDOW
    from agenyx.llm import catalogue

    facts = catalogue.read(home).model(profile.host, model)
    return facts.window if facts else None


def _output(profile: Profile, model: str, home: str) -> int | None:
    """The model's most output tokens where the wire wants a number; elsewhere the server's own limit holds."""
    if profile.wire != "anthropic":
        return None
    from agenyx.llm import catalogue

    facts = catalogue.read(home).model(profile.host, model)
    return facts.output if facts else None


def _secrets(profile: Profile, env: Mapping[str, str], home: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((profile.api_key, *keys(env, home)))) if profile.api_key else keys(env, home)


def effort_of(profile: Profile, model: str, flag: str, home: str, env: Mapping[str, str] | None = None) -> str:
    """The reasoning effort. The catalogue is read only when one was chosen and the profile declares none.

    Raises UsageError where the model does not take it.
    """
    env = env or {}
    chosen = flag or env.get("AGENYX_REASONING_EFFORT", "").strip()
    if not chosen and not profile.default_effort:
        return ""
    from agenyx.config.effort import choose_effort

    known = None
    if chosen and not profile.efforts and profile.type != "local":
        from agenyx.llm import catalogue

        facts = catalogue.read(home).model(profile.host, model)
        known = facts.efforts if facts else None
    return choose_effort(profile, flag, env, known)


async def _open_local(
    chosen: Profile,
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    processes: Processes,
    tell: Callable[[Notice], None],
) -> Model:
    from contextlib import AsyncExitStack

    from agenyx.llm.chat_encode import ChatEncoder
    from agenyx.llm.dialects import dialect_of
    from agenyx.llm.local.server import open_local
    from agenyx.llm.provider import open_provider

    stack = AsyncExitStack()
    try:
        server = await stack.enter_async_context(open_local(processes, home, env))
        name = server.installed.name
        wanted = settings.model or chosen.model
        if wanted not in ("", name):
            raise UsageError(
                f"the local model in use is {name}, not {wanted}",
                "Leave out --model, or use another provider.",
            )
        profile = replace(chosen, base_url=server.base_url, api_key=server.api_key, model=name)
        effort_of(profile, name, settings.effort, home, env)
        secrets = _secrets(profile, env, home)
        client = _client(settings, profile, name, LOCAL_OPTIONS, secrets, env, tell)
        stack.push_async_callback(client.close)
        provider = open_provider(profile, name, env, client=client, masker=Masker(secrets))
        encoder = ChatEncoder(dialect_of(profile), provider.binding)

        async def prepare(request: Request) -> Notice:
            restored = await server.warm(encoder.encode(request))
            how = "its prompt was restored from disk" if restored else "its prompt was read for the first time"
            return Notice("info", f"The local model {name} was ready in {server.seconds:.1f} s; {how}.")

        close = stack.pop_all().aclose
        return Model(
            profile,
            name,
            provider,
            LOCAL_OPTIONS,
            close,
            prepare,
            secrets=secrets,
            size="small",
            result_chars=LOCAL_RESULT_CHARS,
            max_steps=LOCAL_STEPS,
        )
    except BaseException:
        await stack.aclose()
        raise
