"""Images and documents of a prompt: what a host sent as bytes, and files that the command line named."""

from __future__ import annotations

from collections.abc import Sequence

from agenyx.app.compose import Source
from agenyx.app.runtime import Conversation
from agenyx.app.sight import MOST, attached, binding_of
from agenyx.core.errors import UsageError
from agenyx.core.messages import Ability, Media, Text, User, UserBlock


def shows(source: Source) -> tuple[Ability, ...]:
    """What the model can be shown."""
    return binding_of(source, source.model).sees


def seen(
    conversation: Conversation,
    words: str | User,
    images: Sequence[bytes],
    paths: Sequence[str],
    media: Sequence[Media] = (),
) -> User:
    """The prompt with them behind it. Raises UsageError where the model cannot be shown one."""
    if paths:
        words = attached(conversation, words, paths)
    user = words if isinstance(words, User) else User((Text(words),) if words.strip() else ())
    source = conversation.parts.source
    sees = shows(source)
    if images and not sees:
        fix = "If it can: agenyx config set images yes. Else use another --model."
        raise UsageError(f"{conversation.model} cannot see images, as far as Agenyx knows", fix)
    if len(images) > MOST:
        raise UsageError(f"there are {len(images)} images, and a prompt holds at most {MOST}", "Give fewer at once.")
    blocks: list[UserBlock] = list(user.blocks)
    for number, data in enumerate(images, 1):
        kept = source.session.keep(data, f"image-{number}", sees)
        if not isinstance(kept, Media):
            raise UsageError(
                f"image {number} cannot be shown to the model", kept or "It is none of PNG, JPEG, GIF, WebP and PDF."
            )
        blocks += [Text(f"[{kept.kind}: {kept.name}]"), kept]
    for kept in media:
        blocks += [Text(f"[{kept.kind}: {kept.name}]"), kept]
    return User(tuple(blocks), user.origin, user.prompt_id, user.shown, user.scope)
