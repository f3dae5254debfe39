"""Ends the registered process groups when the agent has died, even by kill -9.

The janitor is a small `sh` in a session of its own that reads "+PGID", "~PGID" (its leader is reaped), "-PGID" and
"=MARK" lines from a pipe. Only the agent holds the other end, so its end of file means that the agent is gone. What
bears the mark in its environment is ended also where it has left its group (see proc.strays).
"""

from __future__ import annotations

import os
import signal
import subprocess

_SCRIPT = r"""
trap '' INT TERM HUP QUIT PIPE
all=' ' reaped=' ' mark=
while IFS= read -r line; do
  id=${line#?}
  case $line in
    +*) all="$all$id " ;;
    '~'*) reaped="$reaped$id " ;;
    =*) mark=$id ;;
    -*)
      case $all in *" $id "*) all="${all%%" $id "*} ${all#*" $id "}" ;; esac
      case $reaped in *" $id "*) reaped="${reaped%%" $id "*} ${reaped#*" $id "}" ;; esac ;;
  esac
done
# A process with the number of a reaped leader is a stranger: the number was given away, our group is empty.
ours() { case $reaped in *" $1 "*) ! kill -s 0 "$1" ;; esac; }
end() {
  found=1
  for id in $all; do
    if ours "$id" && kill -s "$1" -- "-$id"; then found=0; fi
  done
  if [ -n "$mark" ]; then
    for file in $(grep -alsF -e "AGENYX_RUN=$mark" /proc/[0-9]*/environ); do
      pid=${file#/proc/}
      kill -s "$1" "${pid%/environ}" && found=0
    done
  fi
  return $found
}
# What is just becoming another program shows no environment, so where there is a mark, one look is not enough.
if end TERM || [ -n "$mark" ]; then
  sleep 0.5 || sleep 1
  end KILL
fi
"""


class Janitor:
    """Starts with the first registration; starts anew, with what is registered, if someone ended it."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._pipe = -1
        self._groups: dict[int, bool] = {}  # pgid -> leader reaped
        self._mark = ""
        self.pid = 0

    def add(self, pgid: int) -> None:
        self._groups[pgid] = False
        self._tell(f"+{pgid}\n")

    def reaped(self, pgid: int) -> None:
        """The leader is reaped and others of its group live on."""
        self._groups[pgid] = True
        self._tell(f"~{pgid}\n")

    def remove(self, pgid: int) -> None:
        del self._groups[pgid]
        self._tell(f"-{pgid}\n")

    def mark(self, mark: str) -> None:
        """What the marks of strays begin with; "" when there are none any more."""
        if mark != self._mark:
            self._mark = mark
            self._tell(f"={mark}\n")

    def close(self) -> subprocess.Popen[bytes] | None:
        """Let it go: it ends what is still registered. Returns the process, to be reaped."""
        process, self._process = self._process, None
        if process is not None:
            os.close(self._pipe)
        return process

    def _tell(self, text: str) -> None:
        if self._process is not None:
            try:
                os.write(self._pipe, text.encode())
                return
            except OSError:
                # Killed, or stopped until the pipe was full. KILL first: at the end of its input it would act.
                self._process.send_signal(signal.SIGKILL)
                os.close(self._pipe)
                self._process.wait()
                self._process = None
        if self._groups or self._mark:
            self._start()

    def _start(self) -> None:
        reader, self._pipe = os.pipe()
        try:
            self._process = subprocess.Popen(
                ("/bin/sh", "-c", _SCRIPT, "agenyx-janitor"),
                stdin=reader,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={"PATH": "/usr/bin:/bin"},
                start_new_session=True,
            )
        except OSError:
            # Without it children still end with close(); only a kill -9 of the agent would leave them.
            self._process = None
            os.close(self._pipe)
            return
        finally:
            os.close(reader)
        self.pid = self._process.pid
        os.set_blocking(self._pipe, False)
        lines = "".join(f"+{pgid}\n" + (f"~{pgid}\n" if reaped else "") for pgid, reaped in self._groups.items())
        os.write(self._pipe, f"={self._mark}\n{lines}".encode())
