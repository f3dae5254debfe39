"""Recordings: a model that a cassette plays, and a client that writes one. Loaded only where a flag asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agenyx.app.embedded import LOCAL_RESULT_CHARS, LOCAL_STEPS
from agenyx.app.models import Model
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core.events import Notice
from agenyx.llm.cassette import Recorder
from agenyx.llm.http import Client
from agenyx.llm.models import choose_model
from agenyx.llm.provider import open_provider
from agenyx.llm.record import RecordingClient
from agenyx.llm.replay import open_replay
from agenyx.llm.request import Options, Provider


async def open_recorded(settings: Settings) -> Model:
    """A recording in place of a server, with the options that it was made with.

    One that broke off before a model was chosen ends here, with what was said then. Raises AgenyxError.
    """
    replay = open_replay(settings.replay, loose=settings.replay_loose)
    profile, client = replay.profile, replay.client
    name = replay.model or await choose_model(profile, "", {}, client)

    def reopen(model: str) -> Provider:
        return open_provider(profile, model, {}, client=client, retry=replay.retry, throttle=replay.throttle)

    provider = reopen(name)
    if profile.type == "local":
        return Model(
            profile,
            name,
            provider,
            replay.options,
            client.close,
            size="small",
            result_chars=LOCAL_RESULT_CHARS,
            max_steps=LOCAL_STEPS,
        )
    return Model(profile, name, provider, replay.options, client.close, reopen=reopen)


def recording_client(
    path: str,
    profile: Profile,
    model: str,
    options: Options,
    secrets: tuple[str, ...],
    env: Mapping[str, str],
    tell: Callable[[Notice], None],
) -> Client:
    """A client that writes down what it carries into the new file `path`. Raises UsageError.

    Without a model its first lines wait until `begin` says which one was chosen.
    """

    def say(text: str) -> None:
        tell(Notice("warning", text, "Free space, then record again."))

    return RecordingClient(env, Recorder(path, profile, model, secrets, say, options=options))


def begin(client: Client, model: str, options: Options) -> None:
    """The model of this recording was chosen."""
    assert isinstance(client, RecordingClient)
    client.begin(model, options)
