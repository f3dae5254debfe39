"""One run without a conversation: wires streams, signals and the approver to the app; ends in an exit code."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from agenyx.agent.ports import Approver
from agenyx.app.start import open_conversation
from agenyx.config.secrets import masker
from agenyx.core.errors import AgenyxError, UsageError
from agenyx.core.events import TurnFinished
from agenyx.core.json import scrub
from agenyx.core.messages import User
from agenyx.ui.approve import HeadlessApprover
from agenyx.ui.exits import BROKEN_PIPE, FAILED, OK, code_of
from agenyx.ui.flags import Options
from agenyx.ui.print import Printer
from agenyx.ui.signals import Signals
from agenyx.ui.stdin import Stdin
from agenyx.ui.streams import Writer, standard
from agenyx.ui.wanted import settings as settings

if TYPE_CHECKING:
    from agenyx.ui.debug import Debug
    from agenyx.ui.defer import DeferringApprover


def run_once(options: Options, env: Mapping[str, str], stdin: Stdin, signals: Signals) -> int:
    """Do the task and return the exit code. Whatever goes wrong is told on standard error, and in the record."""
    writer = Writer()
    writer.seal(masker(env))
    out, err = standard(writer)
    printer = Printer(
        writer,
        out,
        err,
        json=options.output_format == "json",
        activity=err.tty or options.verbose,
        debug=_debug() if options.debug else None,
    )
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    turn = loop.create_task(_turn(options, env, stdin, signals, printer))
    signals.attach(loop, turn.cancel)
    try:
        ended: TurnFinished | BaseException = loop.run_until_complete(turn)
    except asyncio.CancelledError:
        ended = KeyboardInterrupt()
    except Exception as error:  # noqa: BLE001 - the rim of the program: it ends in one sentence, not in a traceback
        ended = error
        if options.debug:
            import traceback  # only a fault pays for it

            err.write("".join(traceback.format_exception(error)))
    signals.detach()
    printer.finish(ended)
    loop.run_until_complete(writer.drain())
    code = code_of(ended, signals.received)
    return _undelivered(writer, out.fd, code)


def _undelivered(writer: Writer, fd: int, code: int) -> int:
    """The exit code when the answer could not be written: a run whose result is lost has not succeeded."""
    error = writer.broken.get(fd)
    if error is None or code != OK:
        return code
    if isinstance(error, BrokenPipeError):
        return BROKEN_PIPE
    from agenyx.ui.exits import complaint, write_error

    write_error(complaint(f"the answer could not be written: {error.strerror}"))
    return FAILED


async def _turn(
    options: Options, env: Mapping[str, str], stdin: Stdin, signals: Signals, printer: Printer
) -> TurnFinished:
    """Prompt, conversation, answer. The answer is shown before the conversation is closed.

    A session to go on with needs no prompt when a crash left its last turn open.
    """
    resumes = options.continue_ or bool(options.resume)
    whole = options.stdin or not options.prompt
    reads = whole or not stdin.terminal
    if whole:
        piped = None if stdin.terminal and not options.stdin else await stdin.take(whole=True)
        prompt = "" if resumes and not (options.prompt or piped) else joined(options.prompt, piped)
    else:
        prompt = scrub(options.prompt)
    printer.stage("session construction started")
    approver = _approver(signals, printer)
    deferring = _deferring(options, approver, goes_on=not prompt)
    asked = settings(options)
    try:
        conversation = await open_conversation(asked, env, printer.emit, deferring or approver, printer.barrier)
    except BaseException as error:
        printer.stage("session construction failed", {"error": type(error).__name__})
        raise
    try:
        printer.stage("session construction completed")
        if options.debug:
            from agenyx.app.diagnostics import attach  # most runs do without

            attach(conversation, printer.stage)
        if reads and not whole:
            piped = await stdin.take(whole=False)
            if piped is None:
                printer.warn(
                    "nothing had come on standard input when the run began, so it went on without it",
                    "Add - to wait for it, or < /dev/null if there is none.",
                )
            prompt = joined(options.prompt, piped)
        if not prompt and not conversation.unfinished:
            raise UsageError("the last turn of this session is finished", "Say what to do next, after --continue.")
        if options.approvals == "defer":
            if not conversation.persistent:
                raise AgenyxError(
                    "--approvals defer needs a session on disk", "Make the home writable, or leave it out."
                )
        elif deferring is not None:
            deferring.held = conversation.asked
        words: str | User = prompt
        if prompt.lstrip().startswith("/"):
            from agenyx.ui.command import command, shown  # ordinary prompts pay for none of it

            reply = await command(conversation, env, prompt)
            if isinstance(reply, str):
                words = reply
            elif reply.prompt is None:
                return printer.answer(shown(reply), reply.data, conversation.session_id)
            else:
                printer.note(shown(reply))
                words = reply.prompt
        if options.image:
            from agenyx.app.sight import attached

            words = attached(conversation, words, options.image.split("\0"))
        printer.stage("turn admission started")
        finished = await (conversation.prompt(words) if words else conversation.go_on())
        printer.finish(finished, conversation.session_id)
        return finished
    finally:
        printer.stage("session shutdown started")
        await conversation.close()
        printer.stage("session shutdown completed")


def _approver(signals: Signals, printer: Printer) -> Approver:
    if os.isatty(0) or os.isatty(2):
        from agenyx.ui.ask import TerminalApprover
        from agenyx.ui.terminal import find_terminal

        if terminal := find_terminal():
            return TerminalApprover(terminal, signals, printer.barrier)
    return HeadlessApprover()


def _deferring(options: Options, approver: Approver, *, goes_on: bool) -> DeferringApprover | None:
    """The approver that leaves questions open: all, or, where nobody is there, those about calls that waited before."""
    if options.approvals != "defer" and not (goes_on and isinstance(approver, HeadlessApprover)):
        return None
    from agenyx.ui.defer import DeferringApprover  # most runs leave nothing open

    return DeferringApprover(approver)


def _debug() -> Debug:
    from agenyx.ui.debug import Debug  # most runs do without

    return Debug()


def joined(prompt: str, piped: str | None) -> str:
    """The words of the command line, then the piped text. Raises UsageError when there is neither."""
    text = scrub("\n".join(part for part in (prompt, piped) if part))
    if not text.strip():
        raise UsageError("the prompt is empty", 'Say what to do, for example: agenyx -p "explain this project"')
    return text
