"""Errors that a person reads: what is wrong and what to do next."""

from __future__ import annotations


class AgenyxError(Exception):
    """`fix` is a sentence that says what to do next; it may be empty."""

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(AgenyxError):
    """The command line is wrong. Exit code 2."""


class ConfigError(AgenyxError):
    """A file, variable or credential that Agenyx needs is missing or invalid."""


class StoreError(AgenyxError):
    """A record could not be written. It ends the turn: the store is the source of truth."""
