"""Which values must not leave: the keys of all configured providers, and what the environment names as a secret.

Owns what counts as a secret; what is done about it is in `core/redact.py`. Reads auth.json, contacts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from urllib.parse import unquote, urlsplit

from agenyx.config.configured import keys
from agenyx.config.home import home_path
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.core.redact import Masker

SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|KEY|KEYS|TOKEN|TOKENS|SECRET|SECRETS|PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|CREDENTIAL|CREDENTIALS|"
    r"AUTH|AUTHORIZATION|COOKIE|PRIVATE|DSN|SIGNATURE)(?:_|$)",
    re.IGNORECASE,
)
"""Names of variables whose values are taken for secrets, and never given to a child."""

_HEADERS = re.compile(r"OTEL_EXPORTER_OTLP(?:_[A-Z]+)?_HEADERS")  # a=b,c=d: what collectors are paid by

STRONG = 12  # characters; a shorter value of a variable that only looks secret may be an ordinary word
_WORDY = 24  # up to so many characters a value of letters only, or of words, is taken for words
_PLAIN = (
    re.compile(r"(?:/|~|\./|\.\./|[A-Za-z]:\\)"),  # a path
    re.compile(r"[A-Za-z]+(?:[-_. ,:][A-Za-z]+)*\Z"),  # words (bounded by _WORDY)
    re.compile(r"[0-9.,:+-]{0,20}\Z"),  # a number, a time, a version
    re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}(?::[0-9]+)?\Z"),  # a host
    re.compile(r"[^@\s]+@[^@\s]+\.[a-z]{2,}\Z"),  # an address of a person
)


def secrets(env: Mapping[str, str], home: str, *more: str) -> tuple[str, ...]:
    """Everything to mask, once each: `more` (the key in use), the providers' keys, what the environment holds.

    Raises ConfigError for a broken auth.json.
    """
    return tuple(dict.fromkeys(value for value in (*more, *keys(env, home), *of_environment(env)) if value))


def masker(env: Mapping[str, str]) -> Masker:
    """What knows the secrets before anything else is set up. A broken home or auth.json is told by others."""
    with suppress(AgenyxError):
        return Masker(secrets(env, home_path(env)))
    with suppress(AgenyxError):
        return Masker(keys(env, ""))
    return Masker()


def of_environment(env: Mapping[str, str]) -> tuple[str, ...]:
    """Values of variables whose names look secret, and passwords in addresses, where they are no ordinary words."""
    found = [value for name, value in env.items() if SECRET_NAME.search(name) and "://" not in value]
    found += [password for value in env.values() if "://" in value for password in _passwords(value)]
    found += [text for name, value in env.items() if _HEADERS.fullmatch(name) for text in _header_values(value)]
    return tuple(dict.fromkeys(value for value in map(str.strip, found) if is_strong(value)))


def is_strong(value: str) -> bool:
    """Whether a value that may be a secret is worth masking: long enough, and no path, word, number or host."""
    if len(value) < STRONG:
        return False
    path, words, *others = _PLAIN
    if path.match(value) or (len(value) <= _WORDY and words.match(value)):
        return False
    return not any(plain.match(value) for plain in others)


def check_public(profile: Profile, known: Iterable[str]) -> None:
    """Raises ConfigError when the address or a name of a profile holds a key: those are shown and recorded."""
    hidden = Masker(tuple(known))
    fields = {
        "id": profile.id,
        "base URL": profile.base_url,
        "model": profile.model,
        "deployment": profile.deployment,
        "API version": profile.api_version,
    }
    for what, text in fields.items():
        if hidden.text(text) is not text:
            raise ConfigError(
                f"the {what} of provider {hidden.text(profile.id)} holds a configured key",
                "A key goes in api_key only.",
            )


def _header_values(value: str) -> list[str]:
    """The values of headers as OpenTelemetry writes them, as they are written and as they are meant, each alone and
    without the scheme before it."""
    found: list[str] = []
    for pair in value.split(","):
        text = pair.partition("=")[2].strip()
        for spelled in (text, unquote(text)):
            found += [spelled, spelled.rpartition(" ")[2]]
    return found


def _passwords(value: str) -> list[str]:
    """The password in an address (a proxy, a database), as it is written and as it is meant."""
    try:
        password = urlsplit(value).password or ""
    except ValueError:
        return []
    return [password, unquote(password)] if password else []
