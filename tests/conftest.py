"""What the log of a test run says about the machine."""

from __future__ import annotations

import signal
from typing import Any

from support.disk import namespaces

# A run in the background, or under nohup, is started with these ignored, and so would every program of the tests be.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGQUIT, signal.SIG_DFL),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    kind = "a tmpfs in a user namespace" if namespaces() else "RLIMIT_FSIZE"
    terminalreporter.write_line(f"full disk: tested with {kind}")
