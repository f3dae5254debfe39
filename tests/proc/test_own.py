"""A process group of our own."""

from __future__ import annotations

import subprocess
import sys

LEAD = "import os; from agenyx.proc.own import lead; lead(); lead(); print(os.getpgid(0) == os.getpid())"


def test_a_process_leads_its_group_afterwards() -> None:
    done = subprocess.run([sys.executable, "-c", LEAD], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "True\n"


def test_the_leader_of_a_session_stays_what_it_is() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LEAD], capture_output=True, text=True, timeout=60, check=True, start_new_session=True
    )
    assert done.stdout == "True\n"
