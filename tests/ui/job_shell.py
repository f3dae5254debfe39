"""A shell's job control, no more: runs a program as a job, notes its suspension, resumes it on SIGUSR1."""

from __future__ import annotations

import os
import signal
import sys


def main(notes: str, argv: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)  # a shell may set the foreground from the background
    child = os.fork()
    if child == 0:
        os.setpgid(0, 0)
        if os.environ.get("JOB") != "background":
            os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
        os.execv(argv[0], argv)
    while True:
        _, status = os.waitpid(child, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            return os.waitstatus_to_exitcode(status)
        os.tcsetpgrp(0, os.getpgrp())
        with open(notes, "a", encoding="utf-8") as file:
            file.write("stopped\n")
        signal.sigwait([signal.SIGUSR1])
        os.tcsetpgrp(0, child)
        os.kill(child, signal.SIGCONT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
