"""`--output-format stream-json`: a run, or a live stream, on standard input and output. Wires the parts together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agenyx.config.secrets import masker
from agenyx.core.events import AgentEvent
from agenyx.ui.approve import HeadlessApprover
from agenyx.ui.debug import Debug
from agenyx.ui.defer import DeferringApprover
from agenyx.ui.exits import BROKEN_PIPE, FAILED, OK, code_of, complaint
from agenyx.ui.flags import Options
from agenyx.ui.once import joined, settings
from agenyx.ui.signals import Signals
from agenyx.ui.streams import Writer, standard
from agenyx.ui.view import View
from agenyx.ui.wire.dialect import by_environment
from agenyx.ui.wire.inbound import Said
from agenyx.ui.wire.input import Input
from agenyx.ui.wire.live import Live
from agenyx.ui.wire.output import Output
from agenyx.ui.wire.stage import Choices, Stage
from agenyx.ui.wire.structured import schema_of

if TYPE_CHECKING:
    from agenyx.ui.stdin import Stdin

_READS = "CLAUDE_CODE_SDK_READS_SESSION_STATE"
_EMIT = "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS"
PATIENCE = 0.25  # seconds in which a host that is no Agent SDK may say `initialize` before the session opens


def stream(options: Options, env: Mapping[str, str], stdin: Stdin | None, signals: Signals) -> int:
    """Returns the exit code. With `stdin` the prompt is text; without it records come on standard input."""
    if options.owned:
        from agenyx.proc.own import lead

        lead()
    writer = Writer()
    writer.seal(masker(env))
    out, err = standard(writer)

    def warn(text: str, fix: str) -> None:
        err.write(complaint(text, fix))

    for name in dict.fromkeys(options.unknown):
        warn(f"the flag {name[:80]} is unknown and was passed over", "")
    debug = Debug()

    def trace(event: AgentEvent, view: View) -> None:
        err.raw(debug.line(event, view))

    def note(message: str, fields: dict[str, str | int]) -> None:
        err.raw(debug.told(message, held[0].projection.view if held else View(), fields))

    held: list[Stage] = []
    output = Output(writer, out, lambda: held[0].directory if held else "")
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)

    async def work() -> int:
        choices = Choices(
            partial=options.partial,
            replay=options.replay_user,
            hooks=options.hook_events,
            trace=trace if options.debug else None,
            note=note if options.debug else None,
            asks=options.prompt_tool == "stdio",
            schema=schema_of(options.json_schema) if options.json_schema else None,
            live=stdin is None,
            states=True if env.get(_EMIT) else False if env.get(_READS) == "1" else None,
        )
        other = DeferringApprover(HeadlessApprover()) if options.approvals == "defer" else HeadlessApprover()
        stage = Stage(settings(options), env, choices, output.put, output.barrier, warn, other)
        held.append(stage)
        live = Live(stage)
        signals.attach(loop, live.stop)
        if stdin is None:
            Input(live.feed).start()
            return await live.run(None if by_environment(env) else PATIENCE)
        paths = tuple(options.image.split("\0")) if options.image else ()
        live.say(Said(await _prompt(options, stdin), paths=paths))
        live.end()
        code = await live.run(None)
        return code_of(live.ended) if live.ended is not None else code

    code = loop.run_until_complete(work())
    signals.detach()
    loop.run_until_complete(writer.drain())
    if signals.received:
        return 128 + signals.received
    if out.fd in writer.broken and code == OK:
        return BROKEN_PIPE if isinstance(writer.broken[out.fd], BrokenPipeError) else FAILED
    return code


async def _prompt(options: Options, stdin: Stdin) -> str:
    """The words of the command line and what is piped. Raises UsageError where there are none."""
    whole = options.stdin or not options.prompt
    piped = await stdin.take(whole=whole) if whole or not stdin.terminal else None
    return joined(options.prompt, piped)
