"""What holds for a profile and a model without asking the server: price, window, most output, reasoning effort."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from agenyx.app.settings import Settings
from agenyx.config.profiles import LOOPBACK, Profile
from agenyx.core.errors import UsageError
from agenyx.core.events import Usage
from agenyx.llm.request import Options

LOCAL_WINDOW = 8_192  # tokens, as the server of the embedded model is started

if TYPE_CHECKING:
    from agenyx.llm.catalogue import Model as Facts


def facts_of(profile: Profile, model: str, home: str) -> Facts | None:
    """What the catalogue knows of the model at this provider, None for nothing. Raises ConfigError for a bad own one.

    Azure hosts OpenAI's models; what they cost there depends on the contract.
    """
    if profile.type == "local":
        return None
    if profile.host in LOOPBACK and not os.path.lexists(os.path.join(home, "catalogue.json")):
        return None  # what we ship knows no server of this machine
    from msgspec.structs import replace

    from agenyx.llm import catalogue

    known = catalogue.read(home)
    found = known.model(profile.host, model)
    if found is None and profile.type == "azure_openai":
        found = known.model("api.openai.com", model)
        return found and replace(found, price=None)
    return found


def price_of(profile: Profile, model: str, home: str) -> Callable[[Usage], float | None]:
    """What a response of this model costs in US dollars, None when that is not known.

    The catalogue is read with the first response, once. Prices belong to hosts that it names; those of Azure depend on
    the contract. The embedded model costs nothing.
    """
    found: list[Facts | None] = []

    def cost(usage: Usage) -> float | None:
        if profile.type == "local":
            return 0.0
        from agenyx.llm import catalogue

        if not found:
            found.append(facts_of(profile, model, home))
        return catalogue.price(usage, found[0])

    return cost


def window_of(profile: Profile, model: str, home: str) -> int | None:
    """The context window in tokens, None when it is not known."""
    if profile.type == "local":
        return LOCAL_WINDOW
    facts = facts_of(profile, model, home)
    return facts.window if facts else None


def output_of(profile: Profile, model: str, home: str) -> int | None:
    """The most tokens of one answer to ask for: the model's own most, None where that is not known.

    Half of the window stays for what is sent: servers refuse a request whose input and wanted output do not fit
    together. The number stands at the head of every request of a session, so it cannot follow what is left.
    """
    facts = facts_of(profile, model, home)
    if facts is None or facts.output is None:
        return None
    return min(facts.output, facts.window // 2) if facts.window else facts.output


def effort_of(profile: Profile, model: str, flag: str, home: str, env: Mapping[str, str] | None = None) -> str:
    """The reasoning effort. The catalogue is read only when one was chosen and the profile declares none.

    Raises UsageError where the model does not take it.
    """
    env = env or {}
    chosen = flag or env.get("AGENYX_REASONING_EFFORT", "").strip()
    if not chosen and not profile.default_effort:
        return ""
    from agenyx.config.effort import choose_effort

    facts = facts_of(profile, model, home) if chosen and not profile.efforts else None
    return choose_effort(profile, flag, env, facts.efforts if facts else None)


def efforts_of(profile: Profile, model: str, home: str) -> tuple[str, ...]:
    """The efforts that the model is known to take, () where nothing is known. Raises ConfigError."""
    facts = facts_of(profile, model, home) if not (profile.declares or profile.efforts) else None
    return profile.efforts or (facts and facts.efforts) or ()


def effort_kept(profile: Profile, model: str, effort: str, home: str) -> str:
    """The effort of an earlier part of a session if this model takes it, else what the profile begins with."""
    if not effort:
        return ""
    try:
        return effort_of(profile, model, effort, home)
    except UsageError:
        return profile.default_effort


def options_of(profile: Profile, model: str, effort: str, home: str) -> Options:
    """What stands at the head of the requests to this model."""
    return Options(max_output=output_of(profile, model, home), effort=effort)


def check_price(settings: Settings, price: Callable[[Usage], float | None], model: str) -> None:
    """Raises UsageError where a budget in dollars could not be kept."""
    if settings.max_usd and price(Usage(1, 1, 1, 1)) is None:
        raise UsageError(
            f"--max-budget-usd cannot be kept: the price of {model} is not known",
            "Use --max-tokens, or write the price into catalogue.json in the home.",
        )
