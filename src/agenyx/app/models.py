"""Chooses the model server and the model, and opens it: an HTTP server, or the embedded model as a child process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from msgspec import Struct

from agenyx.app.settings import Settings
from agenyx.config.profiles import LOCAL_ID, Profile, select_profile
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.core.limits import RESULT_CHARS
from agenyx.core.tools import ToolSet
from agenyx.llm.request import Options, Provider, Request
from agenyx.proc.spawn import Processes
from agenyx.session.records import Binding

LOCAL_RESULT_CHARS = 1_500  # the embedded model's whole window is 8,192 tokens
LOCAL_STEPS = 12
LOCAL_OUTPUT = 512  # tokens


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


async def open_model(
    settings: Settings, env: Mapping[str, str], home: str, processes: Processes, before: Binding | None
) -> Model:
    """`before` is the binding of a resumed session: its model is kept unless another one was chosen.

    Raises UsageError, ConfigError or another AgenyxError with what to do next.
    """

    def installed() -> bool:
        from agenyx.llm.local.paths import installed as find

        return find(home) is not None

    profile = select_profile(env, settings.provider, settings.base_url, installed)
    if profile.type == "local":
        return await _open_local(settings, env, home, processes)
    return await _open_server(profile, settings, env, before)


async def _open_server(profile: Profile, settings: Settings, env: Mapping[str, str], before: Binding | None) -> Model:
    from agenyx.llm.http import Client
    from agenyx.llm.models import choose_model
    from agenyx.llm.provider import open_provider

    client = Client(env)
    chosen = settings.model or env.get("AGENYX_MODEL", "")
    if not chosen and before is not None and before.fingerprint == profile.fingerprint(before.model):
        chosen = before.model
    try:
        name = await choose_model(profile, chosen, env, client)
    except BaseException:
        await client.close()
        raise
    provider = open_provider(profile, name, env, client=client)
    secrets = (profile.api_key,) if profile.api_key else ()

    def reopen(other: str) -> Provider:
        return open_provider(profile, other, env, client=client)

    return Model(profile, name, provider, Options(), client.close, reopen=reopen, secrets=secrets)


async def _open_local(settings: Settings, env: Mapping[str, str], home: str, processes: Processes) -> Model:
    from contextlib import AsyncExitStack

    from agenyx.llm.chat_encode import ChatEncoder
    from agenyx.llm.dialects import dialect_of
    from agenyx.llm.http import Client
    from agenyx.llm.local.server import open_local
    from agenyx.llm.provider import open_provider

    stack = AsyncExitStack()
    try:
        server = await stack.enter_async_context(open_local(processes, home, env))
        name = server.installed.name
        if settings.model not in ("", name):
            raise UsageError(
                f"the installed local model is {name}, not {settings.model}",
                "Leave out --model, or use another provider.",
            )
        profile = Profile(LOCAL_ID, "local", server.base_url, server.api_key)
        client = Client(env)
        stack.push_async_callback(client.close)
        provider = open_provider(profile, name, env, client=client)
        encoder = ChatEncoder(dialect_of(profile), provider.binding)

        async def prepare(request: Request) -> Notice:
            restored = await server.warm(encoder.encode(request))
            how = "its prompt was restored from disk" if restored else "its prompt was read for the first time"
            return Notice("info", f"The local model {name} was ready in {server.seconds:.1f} s; {how}.")

        close = stack.pop_all().aclose
        options = Options(temperature=0.0, max_output=LOCAL_OUTPUT)
        secrets = (profile.api_key,)
        return Model(
            profile,
            name,
            provider,
            options,
            close,
            prepare,
            size="small",
            result_chars=LOCAL_RESULT_CHARS,
            max_steps=LOCAL_STEPS,
            secrets=secrets,
        )
    except BaseException:
        await stack.aclose()
        raise
