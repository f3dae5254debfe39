"""What the log of a test run says about the machine."""

from __future__ import annotations

from typing import Any

from support.disk import namespaces


def pytest_terminal_summary(terminalreporter: Any) -> None:
    kind = "a tmpfs in a user namespace" if namespaces() else "RLIMIT_FSIZE"
    terminalreporter.write_line(f"full disk: tested with {kind}")
