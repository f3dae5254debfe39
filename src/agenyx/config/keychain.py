"""Keys in the system's keyring, by the extra `keyring`: macOS Keychain, GNOME Keyring, KWallet and the like.

Imported only for a profile whose entry says so. One item a home and profile; what the keyring asks its user is its own
affair.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NoReturn

from agenyx.core.errors import ConfigError

SERVICE = "agenyx"
EXTRA = "pip install 'agenyx[keyring]'"


def check() -> None:
    """Whether there is a keyring that can be used. Raises ConfigError with the remedy; asks nobody for anything."""
    keyring, errors = _library()
    fail: Any = import_module("keyring.backends.fail")
    try:
        backend = keyring.get_keyring()
    except (errors.KeyringError, RuntimeError, ImportError, AttributeError) as error:
        _refused(errors, error)
    if isinstance(backend, fail.Keyring):
        _refused(errors, errors.NoKeyringError("there is none"))


def get(home: str, provider: str) -> str:
    """The key of a profile. Raises ConfigError when it is not there or cannot be had."""
    keyring, errors = _library(provider)
    try:
        key: Any = keyring.get_password(SERVICE, _user(home, provider))
    except Exception as error:  # noqa: BLE001 - backends raise what their libraries do
        _refused(errors, error)
    if not isinstance(key, str) or not key:
        raise ConfigError(
            f"the system keyring has no key of {provider}", f"Store it again: agenyx login {provider} --keyring"
        )
    return key


def put(home: str, provider: str, key: str) -> None:
    """Store a key, and see that it is there. Raises ConfigError."""
    keyring, errors = _library(provider)
    try:
        keyring.set_password(SERVICE, _user(home, provider), key)
        kept: Any = keyring.get_password(SERVICE, _user(home, provider))
    except Exception as error:  # noqa: BLE001 - backends raise what their libraries do
        _refused(errors, error)
    if kept != key:
        raise ConfigError("the system keyring did not keep the key", "Store it in auth.json: leave out --keyring.")


def forget(home: str, provider: str) -> None:
    """Remove a key, if it is there. Raises ConfigError."""
    keyring, errors = _library(provider)
    try:
        if keyring.get_password(SERVICE, _user(home, provider)) is not None:
            keyring.delete_password(SERVICE, _user(home, provider))
    except Exception as error:  # noqa: BLE001 - backends raise what their libraries do
        _refused(errors, error)


def _user(home: str, provider: str) -> str:
    """The name of the item: two homes may hold profiles of one id."""
    return f"{provider} {home}"


def _library(provider: str = "") -> tuple[Any, Any]:
    """keyring and its errors. Raises ConfigError where the extra is not installed."""
    try:
        return import_module("keyring"), import_module("keyring.errors")
    except ImportError:
        what = f"the key of {provider} is in the system keyring" if provider else "--keyring needs an extra"
        raise ConfigError(f"{what}, and the package keyring is not installed", f"Run: {EXTRA}") from None


def _refused(errors: Any, error: Exception) -> NoReturn:
    fix = (
        "Unlock or start a keyring (GNOME Keyring, KWallet, macOS Keychain). Where there is none, as on most servers, "
        "store the key in auth.json: agenyx login without --keyring."
    )
    if isinstance(error, errors.NoKeyringError):
        raise ConfigError("there is no system keyring that can be used here", fix) from None
    said = " ".join(str(error).split())[:200] or type(error).__name__
    raise ConfigError(f"the system keyring refused: {said}", fix) from None
