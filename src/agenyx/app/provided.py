"""A model that a program brings as an object: what answers, in place of a configured server. Contacts nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.app.models import Model
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.config.secrets import secrets
from agenyx.core.errors import ConfigError, UsageError
from agenyx.llm.request import Options, Provider
from agenyx.session.records import Binding

ID = "host"
"""How such a provider is called in records and events."""


def open_provided(
    provider: Provider, settings: Settings, env: Mapping[str, str], home: str, before: Binding | None
) -> Model:
    """`before` is the binding of a resumed session. Its responses are masked and checked like those of any other.

    Raises UsageError where it is no provider or another one than the session was held with, ConfigError for a broken
    auth.json.
    """
    binding: object = getattr(provider, "binding", None)
    if not isinstance(binding, str) or not binding or not callable(getattr(provider, "stream", None)):
        what = f"{type(provider).__name__} is no provider: it needs a text `binding` and a method `stream`"
        raise UsageError(what, "See docs/python.md, Providers.")
    if before is not None and not settings.rebind and (before.profile, before.fingerprint) != (ID, binding):
        raise ConfigError(
            f"this session was held with {before.model} of {before.profile}, and this provider is another one",
            "Give the provider that it was held with, or go on with rebind=True.",
        )
    profile = Profile(ID, "openai_compatible", "", origin="the program")
    options = Options(effort=settings.effort)
    name = settings.model or (before.model if before is not None else "") or type(provider).__name__
    return Model(profile, name, provider, options, provider.close, secrets=secrets(env, home))
