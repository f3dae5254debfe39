"""What servers cost until the prompt can be used: next to nothing, whatever they do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.mcp_place import McpPlace, fake

MILLISECONDS, MEGABYTES = 20, 15
ROUNDS = 5
MEASURE = """
import os, sys, time
from agenyx.ui import once
real = once.open_conversation
page = os.sysconf("SC_PAGE_SIZE") / 1e6
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * page
async def opened(*given, **more):
    conversation = await real(*given, **more)
    figures = [time.process_time() * 1000, resident()]
    if conversation.mcp is not None:
        await conversation.mcp.settle()
    figures.append(resident())
    loaded = any(name.startswith("agenyx.ext.mcp") for name in sys.modules)
    with open(os.environ["RECORD"], "w") as file:
        file.write(" ".join(map(str, [*figures, int(loaded)])))
    await conversation.close()
    os._exit(0)
once.open_conversation = opened
from agenyx.__main__ import main
sys.argv = ["agenyx", "-p", "hello"]
main()
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[McpPlace]:
    with McpPlace(tmp_path) as made:
        yield made


def measured(place: McpPlace) -> list[float]:
    """Milliseconds of the processor and megabytes at the prompt, megabytes when servers are there, modules of ours."""
    record = place.top / "record"
    env = place.env("http://127.0.0.1:9", RECORD=str(record), PYTHONPATH=os.pathsep.join(filter(None, sys.path)))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE],
        cwd=place.work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert record.exists(), done.stderr
    return [float(part) for part in record.read_text().split()]


def test_the_prompt_is_as_soon_there_and_as_small_with_servers_that_misbehave(place: McpPlace) -> None:
    log = place.log("all")
    servers = {
        "quick": fake(log=str(log)),
        "never": fake(start="never", log=str(log)),
        "dies": fake(start="exit", log=str(log)),
        "floods": fake(start="flood", log=str(log)),
    }
    place.wait(700)
    without, having = list[list[float]](), list[list[float]]()
    for _ in range(ROUNDS):
        (place.home / "mcp.json").unlink(missing_ok=True)
        without.append(measured(place))
        place.mine(**servers)
        having.append(measured(place))
    assert not any(loaded for *_, loaded in without), "nothing of it is imported where there are no servers"
    assert log.read_text().count("started") >= len(servers) * ROUNDS
    cost, size, later = (min(row[at] for row in having) - min(row[at] for row in without) for at in range(3))
    print(f"processor {cost:.1f} ms, memory {size:.1f} MB at the prompt and {later:.1f} MB with servers")
    assert cost < MILLISECONDS
    assert size < MEGABYTES and later < MEGABYTES
