"""The reasoning effort of a run: profile default, then AGENYX_REASONING_EFFORT, then `--effort`."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.config.profiles import EFFORTS, Profile
from agenyx.core.errors import UsageError

VARIABLE = "AGENYX_REASONING_EFFORT"


def choose_effort(profile: Profile, flag: str, env: Mapping[str, str], known: tuple[str, ...] | None = None) -> str:
    """The effort, "" for the server's own. `known` is what the catalogue knows of the model, None for nothing.

    What the profile declares counts first; where nothing is known, the server has the last word. The embedded model
    takes none: there the variable, which was set for others, is passed over. Raises UsageError.
    """
    variable = "" if profile.type == "local" else env.get(VARIABLE, "").strip()
    chosen, source = (flag, "--effort") if flag else (variable, VARIABLE)
    if not chosen:
        return profile.default_effort
    if chosen not in EFFORTS:
        raise UsageError(f"{source} cannot be {chosen!r}", f"Choose one of: {', '.join(EFFORTS)}.")
    if profile.type == "local":
        raise UsageError(f"{profile.id} takes no reasoning effort, so {source} has no meaning", f"Leave out {source}.")
    allowed = profile.efforts if profile.declares or profile.efforts else EFFORTS if known is None else known
    if chosen not in allowed:
        if not allowed:
            fix = "Leave it out: this model takes none."
            if profile.declares:
                fix = "Leave it out, or declare in auth.json what the model takes: capabilities.reasoning.efforts."
            raise UsageError(f"{profile.id} declares no reasoning effort, so {source} cannot be {chosen!r}", fix)
        raise UsageError(f"{source} cannot be {chosen!r} with {profile.id}", f"It takes: {', '.join(allowed)}.")
    return chosen
