"""Captures the full screen in the situations of a new user, as text files and pictures beside this script.

    python docs/screens/capture_tui.py        with the development tools

Servers are stand-ins on this machine; nothing leaves it. The embedded model is captured where AGENYX_TEST_GGUF names
its file. Ids, paths and times are replaced, so that the files change only when the screens do.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "tests"))

from support.mock import agenyx, command_env  # noqa: E402
from support.pty_screen import Screen  # noqa: E402
from support.raw_server import RawServer, call, content, finish, stream  # noqa: E402
from support.tui import see  # noqa: E402
from support.tui_app import full  # noqa: E402

PROGRAM = [sys.executable, "-m", "agenyx"]
NOWHERE = {"OLLAMA_HOST": "http://127.0.0.1:9", "TERM": "xterm-256color"}
NEW = '''def greet(name: str) -> str:
    """A greeting for one person."""
    return f"Hello, {name}!"
'''
SAID = """`greet` stands in **hello.py** now:

- it takes a name
- it returns the greeting

```python
print(greet("World"))
```
"""


def kept(name: str, title: str, screen: Screen, folder: str) -> None:
    rows = "\n".join(screen.rows()).rstrip()
    rows = re.sub(
        r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "SESSION", rows.replace(folder, "~tmp")
    )
    rows = re.sub(r"\d+\.\d s", "0.0 s", re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", rows))
    (HERE / f"{name}.txt").write_text(f"# {title}\n\n{rows}\n", "utf-8")


def nothing_configured() -> None:
    with tempfile.TemporaryDirectory() as folder:
        work, home = places(folder)
        with Screen(PROGRAM, work, command_env(home, **NOWHERE)) as screen:
            screen.see("Look again")
            kept("tui-nothing-configured", "The full screen with nothing configured", screen, folder)
            screen.type("1")
            screen.see("Key (not shown)")
            screen.type("sk-")
            kept("tui-key", "A key is asked for; it is not shown", screen, folder)
            screen.type("\x1b\x1b")


def with_a_key() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        RawServer([[stream(content("Hello. What is to be done?"), finish())]]) as server,
    ):
        work, home = places(folder)
        env = command_env(home, **NOWHERE, **served(server.url))
        with Screen(PROGRAM, work, env) as screen:
            screen.see("shows commands and keys")
            screen.type("hello\r")
            screen.see("1 step")
            kept("tui-with-a-key", "The full screen with a key: the first answer", screen, folder)


def embedded() -> None:
    """With the real model, where it is there."""
    file = os.environ.get("AGENYX_TEST_GGUF", "")
    if not Path(file).is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        work, home = places(folder)
        env = command_env(home, **NOWHERE)
        done = agenyx("local", "install", "--yes", "--gguf", file, cwd=work, env=env, timeout=600)
        if done.returncode:
            raise SystemExit(done.stderr)
        with Screen(PROGRAM, work, env) as screen:
            screen.see("shows commands and keys")
            screen.type("Say hello in one short sentence.\r")
            screen.until(lambda: screen.shows("1 step") or screen.shows("failed"), "the embedded model answers")
            kept("tui-embedded", "The full screen with the embedded model", screen, folder)


async def pictures() -> None:
    """For the README: a change that is asked about, and what stands there after it."""
    with tempfile.TemporaryDirectory() as folder:
        work, home = places(folder)
        written = json.dumps({"file_path": "hello.py", "content": NEW})
        script = [
            [
                stream(
                    content("A small function, in a file of its own.\n"), call("Write", written), finish("tool_calls")
                )
            ],
            [stream(content(SAID), finish())],
        ]
        with RawServer(script) as server:
            env = command_env(home, **NOWHERE, **served(server.url), COLORTERM="truecolor")
            async with full(work, env, size=(96, 28)) as (pilot, wiring):
                await see(pilot, "shows commands and keys")
                wiring.chat.submit("write a function that greets somebody")
                await see(pilot, "[q] no, and stop")
                picture(wiring.app.export_screenshot(title="agenyx"), "tui-approval")
                await asyncio.sleep(0.6)  # a question is deaf for its first moments
                await pilot.press("y")
                await see(pilot, "2 steps")
                picture(wiring.app.export_screenshot(title="agenyx"), "tui-answer")


def picture(svg: str, name: str) -> None:
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    some = "01234567-0000-7000-8000-00000000002a"  # as long as any, as the picture says how wide each text is
    svg = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", some, svg)
    (HERE / f"{name}.svg").write_text(svg, "utf-8")


def places(folder: str) -> tuple[Path, Path]:
    work, home = Path(folder, "project"), Path(folder, "home")
    work.mkdir()
    home.mkdir()
    return work, home


def served(url: str) -> dict[str, str]:
    return {"OPENAI_API_KEY": "k" * 20, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "some-model"}


def main() -> None:
    nothing_configured()
    with_a_key()
    embedded()
    asyncio.run(pictures())


if __name__ == "__main__":
    main()
