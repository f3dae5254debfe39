"""Opens the embedded model: a child process of ours that serves it, with the limits that suit a small model."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack

from msgspec.structs import replace

from agenyx.app.facts import effort_of
from agenyx.app.models import Model, client_for, secrets_of
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.errors import UsageError
from agenyx.core.events import Notice
from agenyx.core.redact import Masker
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import dialect_of
from agenyx.llm.local.server import open_local
from agenyx.llm.provider import open_provider
from agenyx.llm.request import Options, Request
from agenyx.proc.spawn import Processes

LOCAL_RESULT_CHARS = 1_500  # the embedded model's whole window is 8,192 tokens
LOCAL_STEPS = 12
LOCAL_OUTPUT = 512  # tokens
LOCAL_OPTIONS = Options(temperature=0.0, max_output=LOCAL_OUTPUT)


async def open_embedded(
    chosen: Profile,
    settings: Settings,
    env: Mapping[str, str],
    home: str,
    processes: Processes,
    tell: Callable[[Notice], None],
) -> Model:
    """Raises UsageError for another model than the one in use, ConfigError, LocalError."""
    stack = AsyncExitStack()
    try:
        server = await stack.enter_async_context(open_local(processes, home, env))
        name = server.installed.name
        wanted = settings.model or chosen.model
        if wanted not in ("", name):
            raise UsageError(
                f"the local model in use is {name}, not {wanted}",
                f"Leave out --model, or make it the one in use: agenyx local use {wanted}",
            )
        profile = replace(chosen, base_url=server.base_url, api_key=server.api_key, model=name)
        effort_of(profile, name, settings.effort, home, env)
        secrets = secrets_of(profile, env, home)
        client = client_for(settings, profile, name, LOCAL_OPTIONS, secrets, env, tell)
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
            windows={name: server.context},
            size="small",
            result_chars=LOCAL_RESULT_CHARS,
            max_steps=LOCAL_STEPS,
        )
    except BaseException:
        await stack.aclose()
        raise
