"""One flag of the command line, and the groups that --help shows. What flags there are stands in `flags`."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

RUN, MODEL, PERMISSIONS, SESSION, OTHER = "Run", "Model", "Permissions", "Sessions", "Diagnostics"
GROUPS = (RUN, MODEL, PERMISSIONS, SESSION, OTHER)


class Flag:
    """One flag. `value` is the placeholder shown for its value, "" for a boolean flag.

    `check` returns what is wrong with a value, or "". `once`: two different values are an error; `many`: all values
    count, joined by this sign; else the last wins. `empty`: "" is a value as well.
    """

    __slots__ = (
        "check",
        "choices",
        "complete",
        "default",
        "empty",
        "field",
        "group",
        "many",
        "names",
        "once",
        "text",
        "value",
    )

    def __init__(
        self,
        group: str,
        names: tuple[str, ...],
        field: str,
        text: str,
        value: str = "",
        *,
        choices: tuple[str, ...] = (),
        default: str = "",
        check: Callable[[str], str] | None = None,
        complete: str = "",
        once: bool = False,
        many: str = "",
        empty: bool = False,
    ) -> None:
        self.many, self.empty = many, empty
        self.group, self.names, self.field, self.text, self.value = group, names, field, text, value
        self.choices, self.default, self.check, self.complete, self.once = choices, default, check, complete, once

    @property
    def name(self) -> str:
        """The name used in messages: the first long one."""
        return next((name for name in self.names if name.startswith("--")), self.names[0])
