"""/model: show the model, or go on with another one of the same server."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    if args:
        desk.lasting("another model", f"Give it with the prompt: --model {args}")
        desk.conversation.set_model(args)
    now = desk.conversation.status()
    text = f"model {now.model} ({now.profile})" + (", from the next turn on" if args else "")
    return Reply(text, {"model": now.model, "provider": now.profile})


async def offered(desk: Desk) -> list[str]:
    """The models that the server lists. Raises AgenyxError, also where no other one can be used."""
    from agenyx.core.errors import UsageError
    from agenyx.llm.http import Client
    from agenyx.llm.models import list_models

    model = desk.conversation.parts.source.model
    if model.reopen is None:
        raise UsageError(f"{model.profile.id} has one model only, {model.name}", "Start again with another --provider.")
    client = Client(desk.env)
    try:
        return await list_models(model.profile, client)
    finally:
        await client.close()


def described(desk: Desk, name: str) -> str:
    """What the catalogue knows of a model of this server, in few words; "" for nothing. Reads a file at first."""
    from agenyx.app.commands.wording import tokens
    from agenyx.app.facts import facts_of

    found = facts_of(desk.conversation.parts.source.model.profile, name, desk.home)
    return f"{tokens(found.window)} window" if found and found.window else ""
