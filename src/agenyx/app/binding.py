"""Whether a session may go on with a model server: with the one that it was held with, or with another by the
person's own word (reference: AgentX §8.6). Contacts nothing."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.config.configured import everything
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.session.records import Binding


def same_server(before: Binding, profile: Profile) -> bool:
    """Whether the profile is the server that `before` was: type, address and deployment. Key and model do not count."""
    return before.fingerprint == profile.fingerprint(before.model)


def check(before: Binding, profile: Profile, rebind: bool, env: Mapping[str, str], home: str) -> None:
    """Raises ConfigError, naming the right --provider where there is one, unless the session may go on like this.

    A profile that was renamed is the same one: its old name is not configured any more.
    """
    if rebind:
        return
    known = _configured(env, home)
    if same_server(before, profile) and (before.profile == profile.id or all(p.id != before.profile for p in known)):
        return
    same = [other.id for other in known if same_server(before, other) and other.id != profile.id]
    named = before.profile if before.profile in same or not same else same[0]
    if before.profile == profile.id:
        what = f"this session was held with {before.profile} at another address or deployment"
    else:
        what = f"this session was held with the provider {before.profile}, and {profile.id} is another one"
    if same:
        remedy = f"Use --provider {named}"
    elif before.profile == profile.id:
        remedy = f"Set back {profile.url_name}"
    else:
        remedy = f"Use --provider {named}, as it was set up then"
    raise ConfigError(
        what,
        f"{remedy}; or add --rebind to go on with {profile.id}: it gets the conversation without what only "
        f"{before.profile} can read, such as hidden reasoning.",
    )


def _configured(env: Mapping[str, str], home: str) -> tuple[Profile, ...]:
    try:
        return everything(env, home)
    except AgenyxError:
        return ()  # what is wrong there was told when the profile was chosen, if it matters
