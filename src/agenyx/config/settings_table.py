"""Every key of settings.toml, as one table: its type, its limits, where it may stand, and what outranks it."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agenyx.config.profiles import EFFORTS

Value = str | int
Ceiling = Literal["home", "workspace"]


class Key(Struct, frozen=True):
    """One key. `kind` is its type in the file; `choices` the values it may have, () for any; `low` and `high` bound
    an integer. `ceiling` "home" means that a workspace may not set it. `variable` outranks the file, `flag` both;
    `default` says in words what holds without any of them.
    """

    name: str
    kind: Literal["string", "integer"]
    help: str
    flag: str
    default: str
    variable: str = ""
    ceiling: Ceiling = "home"
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = 0

    def wrong(self, value: object) -> str:
        """What is wrong with a value, "" when nothing is."""
        if self.kind == "integer":
            if not isinstance(value, int) or isinstance(value, bool):
                return "must be a whole number, without quotes"
            return "" if self.low <= value <= self.high else f"must be from {self.low} to {self.high}"
        if not isinstance(value, str):
            return "must be a text in quotes"
        if self.choices:
            return "" if value in self.choices else f"must be one of: {', '.join(self.choices)}"
        if not value or value != value.strip() or not value.isprintable():
            return "must not be empty, nor begin or end with white space, nor hold control characters"
        return ""


KEYS = (
    Key("provider", "string", "the id of the provider to use", "--provider", "the default profile"),
    Key(
        "model",
        "string",
        "the model to use; passed over when --provider or --base-url names another provider",
        "--model",
        "the profile's, the catalogue's, or the only one that the server lists",
        "AGENYX_MODEL",
        "workspace",
    ),
    Key(
        "effort",
        "string",
        "how much the model thinks before it answers",
        "--effort",
        "the profile's, or the server's own",
        "AGENYX_REASONING_EFFORT",
        "workspace",
        EFFORTS,
    ),
    Key(
        "permission_mode",
        "string",
        "what happens unasked",
        "--permission-mode",
        "default",
        choices=("default", "acceptEdits", "plan", "dontAsk"),
    ),
    Key(
        "max_steps",
        "integer",
        "end a run after so many model responses",
        "--max-steps",
        "100",
        ceiling="workspace",
        low=1,
        high=100_000,
    ),
    Key(
        "output_format",
        "string",
        "what standard output of agenyx -p gets",
        "--output-format",
        "text",
        choices=("text", "json"),
    ),
)
BY_NAME = {key.name: key for key in KEYS}
