"""Chooses the model server and the model, and opens it. What is known of a model without asking stands in facts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from agenyx.app.facts import effort_kept, effort_of, options_of
from agenyx.app.settings import Settings
from agenyx.config.configured import LOCAL, configured
from agenyx.config.environment import BY_ID
from agenyx.config.profiles import LOCAL_ID, Profile
from agenyx.config.secrets import check_public, secrets
from agenyx.core.errors import ConfigError, UsageError
from agenyx.core.events import Notice
from agenyx.core.limits import RESULT_CHARS
from agenyx.core.redact import Masker
from agenyx.core.tools import ToolSet
from agenyx.llm.request import Options, Provider, Request
from agenyx.proc.spawn import Processes
from agenyx.session.records import Binding

if TYPE_CHECKING:
    from agenyx.llm.http import Client


class Model(Struct):
    """An open model. `max_steps` is 0 for the usual limit; `close` releases what the model holds.

    `prepare` is awaited with the first request before it is sent, where a model has something to do then. `reopen`
    gives the provider of another model on the same server, None where there is only one; `options` and `prepare` are
    those of that model from then on. `provide` gives a provider for a subagent, and changes nothing. `windows` are the
    context windows in tokens that a server told, by model: they count before what the catalogue knows.
    """

    profile: Profile
    name: str
    provider: Provider
    options: Options
    close: Callable[[], Awaitable[None]]
    prepare: Callable[[Request], Awaitable[Notice]] | None = None
    reopen: Callable[[str], Provider] | None = None
    provide: Callable[[str], Provider] | None = None
    size: ToolSet = "full"
    result_chars: int = RESULT_CHARS
    max_steps: int = 0
    secrets: tuple[str, ...] = ()
    windows: dict[str, int] = field(default_factory=dict[str, int])


class Unconfigured(ConfigError):
    """Nothing says which model is to be asked: no profile, no key, no server on this machine, no embedded model."""


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
    given: Profile | Provider | None = None,
) -> Model:
    """`before` is the binding of a resumed session: its model is kept unless another one was chosen.

    `tell` hears of a recording that could not go on. `given` is what a program brings: a profile, or what answers.

    Raises UsageError, ConfigError or another AgenyxError with what to do next.
    """
    if given is None or isinstance(given, Profile):
        model = await _open(settings, env, home, processes, before, tell, given)
    else:
        from agenyx.app.provided import open_provided

        model = open_provided(given, settings, env, home, before)
    if settings.tool_set:
        from agenyx.tools.registry import SETS

        model.size = SETS[settings.tool_set]
    return model


async def _open(
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    processes: Processes,
    before: Binding | None,
    tell: Callable[[Notice], None],
    given: Profile | None,
) -> Model:
    if settings.replay:
        from agenyx.app.recorded import open_recorded

        return await open_recorded(settings)
    profile = given or await find_profile(settings.provider, settings.base_url, env, home)
    if before is not None and (before.profile != profile.id or before.fingerprint != profile.fingerprint(before.model)):
        from agenyx.app.binding import check

        check(before, profile, settings.rebind, env, home)
    if profile.type == "local":
        from agenyx.app.embedded import open_embedded

        return await open_embedded(profile, settings, env, home, processes, tell)
    return await _open_server(profile, settings, env, home, before, tell)


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
    raise Unconfigured("no model provider is configured", FIRST_RUN)


async def _open_server(
    profile: Profile,
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    before: Binding | None,
    tell: Callable[[Notice], None],
) -> Model:
    from agenyx.llm.models import choose_model
    from agenyx.llm.provider import open_provider
    from agenyx.llm.throttle import Throttle

    chosen = settings.model or env.get("AGENYX_MODEL", "")
    if not chosen and before is not None and before.fingerprint == profile.fingerprint(before.model):
        chosen = before.instead or before.model
    # A model may print the key of any provider that it finds, not only its own.
    secrets = secrets_of(profile, env, home)
    client = client_for(settings, profile, "", Options(), secrets, env, tell)
    try:
        name = await choose_model(profile, chosen, env, client, home)
        effort = effort_of(profile, name, settings.effort, home, env)
        options = options_of(profile, name, effort, home)
        if settings.record:
            from agenyx.app.recorded import begin

            begin(client, name, options)
    except BaseException:
        await client.close()
        raise
    throttle, masker = Throttle(), Masker(secrets)

    def provide(other: str) -> Provider:
        return open_provider(profile, other, env, client=client, masker=masker, throttle=throttle)

    model = Model(profile, name, provide(name), options, client.close, secrets=secrets, provide=provide)

    def prepared(other: str) -> None:
        model.prepare = _prepare(model, other, env)

    def reopen(other: str) -> Provider:
        model.options = options_of(profile, other, effort_kept(profile, other, model.options.effort, home), home)
        prepared(other)
        return provide(other)

    prepared(name)
    if profile.type != "azure_openai":
        model.reopen = reopen
    return model


def _prepare(model: Model, name: str, env: Mapping[str, str]) -> Callable[[Request], Awaitable[Notice]] | None:
    """Where the server cuts off without a word what does not fit, a look at its window before the first request."""
    profile = model.profile
    if profile.wire != "chat":
        return None
    from agenyx.llm.dialects import OLLAMA, dialect_of

    if dialect_of(profile) is not OLLAMA:
        return None

    async def look(request: Request) -> Notice:
        from agenyx.llm import ollama

        found = await ollama.window(profile, name, env)
        if found.tokens:
            model.windows[name] = found.tokens
        return ollama.notice(name, found, request)

    return look


def client_for(
    settings: Settings,
    profile: Profile,
    model: str,
    options: Options,
    secrets: tuple[str, ...],
    env: Mapping[str, str],
    tell: Callable[[Notice], None],
) -> Client:
    """The HTTP client; one that writes everything down where that was asked for. Raises UsageError."""
    if settings.record:
        from agenyx.app.recorded import recording_client

        return recording_client(settings.record, profile, model, options, secrets, env, tell)
    from agenyx.llm.http import Client

    return Client(env)


def secrets_of(profile: Profile, env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """What must not be shown: the keys of this profile and of all others. Raises ConfigError."""
    found = secrets(env, home, profile.api_key)
    check_public(profile, found)
    return found
