"""`--list-providers`: what is configured, as a table or as JSON (reference: AgentX §1.6). Asks no server.

Nothing is written unless the whole answer is there and holds no key; addresses, deployments and keys are never in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agenyx.app.models import FIRST_RUN
from agenyx.config.configured import LOCAL, everything, has_auth, keys
from agenyx.config.home import home_path
from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import ConfigError, UsageError
from agenyx.llm import catalogue
from agenyx.llm.catalogue import Catalogue
from agenyx.ui.exits import OK
from agenyx.ui.standard import show

COLUMNS = ("ID", "TYPE", "MODEL", "DEFAULT", "REASONING_EFFORTS", "DEFAULT_EFFORT")
FRAME_BYTES = 1 << 20
WORDS = {
    "openai": "OpenAI",
    "openai_compatible": "An OpenAI-compatible server",
    "azure_openai": "Azure OpenAI",
    "anthropic": "Anthropic",
    "local": "The embedded model on this machine",
}


def main(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises UsageError for anything else on the command line, ConfigError."""
    as_json = _grammar(argv)
    home = home_path(env)
    profiles = listed(env, home)
    known = catalogue.read(home)
    text = as_record(profiles, known) if as_json else as_table(profiles, known)
    if len(text.encode()) > FRAME_BYTES:
        raise ConfigError("the list of providers is larger than 1 MiB", "Remove profiles from auth.json.")
    if any(len(key) >= 8 and key in text for key in keys(env, home)):
        raise ConfigError("the list of providers would show a key", "Take keys out of the names in auth.json.")
    show(text)
    return OK


def listed(env: Mapping[str, str], home: str) -> tuple[Profile, ...]:
    """Every configured profile, and without auth.json also the embedded model where it is installed.

    Raises ConfigError, also when there is none.
    """
    profiles = everything(env, home)
    if not has_auth(home):
        from agenyx.llm.local.paths import installed

        local = installed(home)
        if local is not None:
            profiles += (Profile(LOCAL.id, LOCAL.type, LOCAL.base_url, model=local.name),)
    if not profiles:
        raise ConfigError("no model provider is configured", FIRST_RUN)
    return profiles


def as_table(profiles: Sequence[Profile], known: Catalogue) -> str:
    """Tab-separated, a header and one row a profile."""
    rows: list[tuple[str, ...]] = [COLUMNS]
    for profile in profiles:
        marked = "true" if _is_default(profile, profiles) else "false"
        efforts = ",".join(_efforts(profile))
        rows.append((profile.id, profile.type, _model(profile, known), marked, efforts, profile.default_effort))
    return "".join("\t".join(row) + "\n" for row in rows)


def as_record(profiles: Sequence[Profile], known: Catalogue) -> str:
    """One line of JSON."""
    return json.encode({"version": 1, "providers": entries(profiles, known)}).decode() + "\n"


def entries(profiles: Sequence[Profile], known: Catalogue) -> list[dict[str, object]]:
    """The same as values."""
    return [_entry(profile, _model(profile, known), _is_default(profile, profiles)) for profile in profiles]


def _entry(profile: Profile, model: str, default: bool) -> dict[str, object]:
    efforts, chosen = list(_efforts(profile)), profile.default_effort or None
    return {
        "value": profile.id,
        "id": profile.id,
        "providerType": profile.type,
        "model": model,
        "displayName": f"{profile.id} ({model})" if model else profile.id,
        "description": WORDS[profile.type],
        "default": default,
        "selected": False,
        "supportsEffort": bool(efforts),
        "supportedReasoningEfforts": efforts,
        "defaultReasoningEffort": chosen,
        "reasoning": {"supported": bool(efforts), "efforts": efforts, "defaultEffort": chosen},
    }


def _efforts(profile: Profile) -> tuple[str, ...]:
    return profile.efforts


def _model(profile: Profile, known: Catalogue) -> str:
    if profile.model:
        return profile.model
    host = known.hosts.get(profile.host)
    return host.default_model if host else ""


def _is_default(profile: Profile, profiles: Sequence[Profile]) -> bool:
    """The marked one, or the only one; from the environment the first is used."""
    if any(other.default for other in profiles):
        return profile.default
    if profiles[0].origin == "auth.json":
        return len(profiles) == 1
    return profile is profiles[0]


def _grammar(argv: Sequence[str]) -> bool:
    """Whether JSON is wanted. Only one --output-format and a closing -- may stand beside the flag."""
    words = list(argv)
    if words and words[-1] == "--":
        words.pop()
    formats: list[str] = []
    seen = 0
    while words:
        word = words.pop(0)
        if word == "--list-providers":
            seen += 1
        elif word == "--output-format" and words:
            formats.append(words.pop(0))
        elif word.startswith("--output-format="):
            formats.append(word.partition("=")[2])
        else:
            seen = 0
            break
    if seen != 1 or len(formats) > 1:
        raise UsageError(
            "--list-providers stands alone, at most with one --output-format text or json",
            "For example: agenyx --list-providers --output-format json",
        )
    return formats == ["json"]
