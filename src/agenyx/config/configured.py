"""Which provider was configured: auth.json, else the environment. One look at the disk where there is no file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec.structs import replace

from agenyx.config import environment
from agenyx.config.profiles import LOCAL_ID, Profile, check_key, select
from agenyx.core.errors import UsageError

LOCAL = Profile(LOCAL_ID, "local", "http://127.0.0.1", origin="installed")


def has_auth(home: str) -> bool:
    """Whether there is anything by the name of auth.json; also true when that cannot be told, which reading it will."""
    try:
        os.lstat(os.path.join(home, "auth.json"))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
    return True


def configured(env: Mapping[str, str], home: str, provider: str, base_url: str) -> Profile | None:
    """The profile to use, None when nothing is configured or `provider` is none that is configured here.

    `provider` and `base_url` are the flags, "" when absent; a base URL names a server of its own, whose key is
    OPENAI_API_KEY. Raises ConfigError or UsageError with the remedy; there is no way from a broken auth.json to the
    environment.
    """
    if base_url:
        if provider not in ("", "openai"):
            raise UsageError("--base-url does not go with another --provider than openai", "Leave one of the two out.")
        return environment.profile_of(environment.BY_ID["openai"], env, base_url)
    if has_auth(home):
        from agenyx.config.auth import load

        profiles = load(home)
        if profiles is not None:
            if provider == LOCAL_ID and all(profile.id != LOCAL_ID for profile in profiles):
                return None
            return with_key(select(profiles, provider), home)
    if provider:
        row = environment.BY_ID.get(provider)
        return environment.profile_of(row, env) if row else None
    rows = environment.named(env)
    return environment.profile_of(rows[0], env) if rows else None


def with_key(profile: Profile, home: str) -> Profile:
    """The profile with its key where that lies in the system's keyring. Raises ConfigError with the remedy."""
    if not profile.in_keyring:
        return profile
    from agenyx.config import keychain

    key = check_key(keychain.get(home, profile.id), f"the key of {profile.id} in the system keyring")
    return replace(profile, api_key=key)


def everything(env: Mapping[str, str], home: str) -> tuple[Profile, ...]:
    """Every configured profile, all of them checked, without keys from the keyring. Raises ConfigError."""
    if has_auth(home):
        from agenyx.config.auth import load

        profiles = load(home)
        if profiles is not None:
            return profiles
    return tuple(environment.profile_of(row, env) for row in environment.named(env))


def keys(env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """Every key of every configured provider, also of those that are not used: all of them are masked.

    A key in the system's keyring is left there. Raises ConfigError for a broken auth.json.
    """
    found = [env.get(row.key_variable, "").strip() for row in environment.ROWS]
    if has_auth(home):
        from agenyx.config.auth import load

        found += [profile.api_key for profile in load(home) or ()]
    return tuple(dict.fromkeys(key for key in found if key))


def too_short(env: Mapping[str, str], home: str) -> tuple[str, ...]:
    """Where keys stand that are too short to be masked: variables, and profiles of auth.json. Raises ConfigError."""
    from agenyx.core.spellings import SHORTEST

    places = {row.key_variable: env.get(row.key_variable, "").strip() for row in environment.ROWS}
    if has_auth(home):
        from agenyx.config.auth import load

        places |= {f"auth.json ({profile.id})": profile.api_key for profile in load(home) or ()}
    return tuple(place for place, key in places.items() if 0 < len(key.encode()) < SHORTEST)
