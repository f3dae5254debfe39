"""Exit codes, and the one sentence on standard error that explains them."""

from __future__ import annotations

import os

from agenyx.core.errors import AgenyxError, UsageError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agenyx.core.events import TurnFinished

OK = 0
FAILED = 1
USAGE = 2
WAITING = 3
STEP_LIMIT = 5
BUDGET = 6
BUSY = 75  # EX_TEMPFAIL of sysexits(3): the same command may succeed later
INTERRUPTED = 130
BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended


def code_of(ended: TurnFinished | BaseException, signal: int = 0) -> int:
    """The exit code of a run that ended this way. `signal` is the number of the signal that ended it, 0 for none."""
    if signal:
        return 128 + signal
    if isinstance(ended, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(ended, BrokenPipeError):
        return BROKEN_PIPE
    if isinstance(ended, UsageError):
        return USAGE
    if isinstance(ended, BaseException):
        return FAILED
    match ended.outcome.kind:
        case "done":
            return OK
        case "step_limit":
            return STEP_LIMIT
        case "budget":
            return BUDGET
        case "waiting":
            return WAITING
        case "cancelled":
            return INTERRUPTED
        case _:
            return BUSY if ended.outcome.failure and ended.outcome.failure.kind == "busy" else FAILED


def explain(error: BaseException) -> tuple[str, str]:
    """What a person should read about an error: the message, and what to do next."""
    if isinstance(error, AgenyxError):
        return error.message, error.fix
    what = " ".join(str(error).split()) or "no message"
    return (
        f"unexpected error: {type(error).__name__}: {what}",
        "This is a fault of Agenyx. Run it again with --debug to see the traceback, and report it.",
    )


def complaint(message: str, fix: str = "") -> str:
    """The lines for standard error, neutral for a terminal."""
    from agenyx.core.tty import safe  # brings re, which --help does not need

    return safe(f"agenyx: {message}\n{fix}\n" if fix else f"agenyx: {message}\n")


def write_error(text: str) -> None:
    """Write to standard error at once; nobody listening is no error."""
    data = text.encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(2, data) :]
    except OSError:
        pass
