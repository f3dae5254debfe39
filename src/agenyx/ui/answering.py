"""What a person's choice about a call means, whatever it was made with: keys of a terminal, or of a full screen. Pure.

It knows no keys and no rows of a screen; `choices` has the letters, `question` what is shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Literal

from msgspec import Struct

from agenyx.config.home import home_path
from agenyx.core.approval import Approval, Decision
from agenyx.core.errors import ConfigError
from agenyx.core.tty import safe
from agenyx.ui.amend import Amendable
from agenyx.ui.reveal import reveal

WITHDRAWN = "the question was withdrawn."
WHY = "Tell the model why, or what to do instead"
ONCE_MORE = "Press a again to keep it; any other key goes back."


class Answering(Struct, frozen=True):
    """Makes decisions about one question. `clock` in Unix seconds."""

    approval: Approval
    clock: Callable[[], float]
    by: str = "terminal"

    def allow(self, scope: Literal["once", "session", "saved"] = "once", args: str | None = None) -> Decision:
        return Decision(self.approval.id, "allow", scope, args, by=self.by, at=self.clock())

    def deny(self, message: str = "", *, stop: bool = False) -> Decision:
        return Decision(self.approval.id, "deny", message=message, stop=stop, by=self.by, at=self.clock())

    def withdrawn(self) -> Decision:
        """Nobody is there any more, for the next question either."""
        return self.deny(WITHDRAWN, stop=True)

    def edited(self, subject: Amendable, text: str) -> Decision:
        """A yes to the text as the person left it. Raises ValueError with a sentence when it cannot be run."""
        args = subject.amended(text)
        return self.allow() if text == subject.text else self.allow(args=args)


def rules(approval: Approval) -> list[str]:
    """The rules that a yes for longer would set, one a row."""
    return [reveal(f"allow {rule.text}").text for rule in approval.verdict.offer]


def kept(env: Mapping[str, str]) -> str:
    """Where rules are kept, as a person would write it."""
    with suppress(ConfigError):
        path, user = os.path.join(home_path(env), "settings.toml"), env.get("HOME", "").rstrip("/")
        return safe(f"~{path[len(user) :]}" if user and path.startswith(f"{user}/") else path)
    return "your settings"


def goes(place: str) -> str:
    """What a rule that is kept means."""
    return f"This goes to {place} for good."


def keeping(place: str) -> str:
    """The sentence in front of the second key."""
    return f"{goes(place)} {ONCE_MORE}"
