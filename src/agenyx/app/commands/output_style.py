"""/output-style: the output styles there are, or another one from now on."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply


async def run(desk: Desk, args: str) -> Reply:
    guidance = desk.conversation.guidance
    if args:
        desk.lasting("an output style", f"Give it with the prompt: --output-style {args}")
        guidance.set_style(args)
        return Reply(
            f"The output style is {guidance.style}, from the next request on.", {"output_style": guidance.style}
        )
    found = guidance.styles()
    rows = [
        f"{'*' if style.name == guidance.style else ' '} {style.name}: {style.description}"
        + (f" ({style.origin})" if style.origin != "built-in" else "")
        for style in found.values()
    ]
    data = {
        "output_style": guidance.style,
        "styles": [
            {
                "name": style.name,
                "description": style.description,
                "origin": style.origin,
                "keeps_coding_instructions": style.coding,
            }
            for style in found.values()
        ],
    }
    return Reply("\n".join(rows), data)
