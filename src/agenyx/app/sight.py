"""What a model can be shown beside text, and how the person's own images get into a prompt. Contacts nothing."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from agenyx.app.facts import facts_of
from agenyx.config.home import home_path
from agenyx.config.profiles import LOOPBACK
from agenyx.core.errors import UsageError
from agenyx.core.messages import Ability, Media, Text, User, UserBlock
from agenyx.session.records import Binding

if TYPE_CHECKING:
    from agenyx.app.compose import Source
    from agenyx.app.models import Model
    from agenyx.app.runtime import Conversation
    from agenyx.config.profiles import Profile
    from agenyx.session.session import Session

MOST = 8  # of one message (AgentX §10)
_ALL: tuple[Ability, ...] = ("images", "documents")


def sees_of(profile: Profile, model: str, home: str, choice: str = "") -> tuple[Ability, ...]:
    """What the model can be shown. `choice` is the setting `images`. Raises ConfigError for a bad catalogue.

    The catalogue decides where it knows the abilities of the model. Of others it is held likely at OpenAI, Azure and
    behind Anthropic's wire, not of compatible servers and those of this machine: what cannot see refuses the whole
    request. Who sees images is shown documents too, on wires that have them.
    """
    if profile.type == "local" or profile.wire == "schema" or choice == "no":
        return ()
    found = facts_of(profile, model, home) if choice != "yes" else None
    if choice == "yes":
        sees = True
    elif found is not None and found.abilities is not None:
        sees = "images" in found.abilities
    else:
        theirs = profile.wire == "anthropic" and profile.host not in LOOPBACK
        sees = theirs or profile.type == "azure_openai" or profile.host == "api.openai.com"
    return () if not sees else ("images",) if profile.wire == "chat" else _ALL


def binding_of(source: Source, model: Model) -> Binding:
    """Who answers from now on, for the record."""
    choice = source.chosen.images if source.chosen else ""
    sees = sees_of(model.profile, model.name, home_path(source.env), choice)
    return Binding(model.profile.id, model.provider.binding, model.name, sees=sees)


def keeper(source: Source, session: Session, model: Model) -> Callable[[bytes, str], Media | str | None]:
    """What keeps bytes for this model to see, also before the first request; see Session.keep."""
    return lambda data, name: session.keep(data, name, binding_of(source, model).sees)


def attached(conversation: Conversation, prompt: str | User, paths: Sequence[str]) -> User:
    """The prompt with these files of the person behind it. Raises UsageError, naming the first that cannot be shown."""
    if len(paths) > MOST:
        raise UsageError(f"there are {len(paths)} images, and a prompt holds at most {MOST}", "Give fewer at once.")
    if not prompt:
        raise UsageError("an image needs a prompt", "Say what to do with it.")
    user = prompt if isinstance(prompt, User) else User((Text(prompt),))
    source = conversation.parts.source
    sees = binding_of(source, source.model).sees
    if not sees:
        raise UsageError(
            f"{conversation.model} cannot see images, as far as Agenyx knows",
            "If it can: agenyx config set images yes. Else use another --model.",
        )
    blocks: list[UserBlock] = list(user.blocks)
    for path in paths:
        name = os.path.basename(path)
        kept = source.session.keep(_read(os.path.join(source.root.path, os.path.expanduser(path)), path), name, sees)
        if not isinstance(kept, Media):
            why = kept or "It is none of PNG, JPEG, GIF, WebP and PDF."
            raise UsageError(f"{path} cannot be shown to the model", why)
        blocks += [Text(f"[{kept.kind}: {kept.name}]"), kept]
    return User(tuple(blocks), user.origin, user.prompt_id, user.shown, user.scope)


def _read(place: str, shown: str) -> bytes:
    from agenyx.session.media import MOST_ITEM, SMALLER

    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            facts = os.fstat(file.fileno())
            if not stat.S_ISREG(facts.st_mode):
                raise OSError(errno.EINVAL, "it is no regular file")
            if facts.st_size > MOST_ITEM:
                size = f"{facts.st_size:,} bytes, and at most {MOST_ITEM:,} can be shown"
                raise UsageError(f"{shown} has {size}", SMALLER)
            return file.read(MOST_ITEM + 1)
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror or error}", "Check the path.") from None
