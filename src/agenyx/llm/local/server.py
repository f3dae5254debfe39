"""The running local model: a child process that serves the OpenAI chat protocol on loopback, and its saved prompt.

Owns the child's life and its key. What is asked of the model goes through the ordinary chat adapter.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.errors import AgenyxError, ConfigError
from agenyx.llm.local import paths, slots
from agenyx.llm.local.child import KEY, READY
from agenyx.llm.local.cores import threads
from agenyx.llm.local.gguf import trained_window
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Child, Processes, Spawn

CONTEXT = 8192  # tokens at most; the default model was trained for 32,768, but memory and patience end earlier
START_SECONDS = 120.0  # a cold disk needs its time for a gigabyte
CALL_SECONDS = 300.0  # reading a prompt head on a slow or busy machine
LOG_LINES = 12
TEMPLATE = os.path.join(os.path.dirname(__file__), "chat.jinja")
CHILD = os.path.join(os.path.dirname(__file__), "child.py")


class LocalError(AgenyxError):
    """The local model could not be started, or its server does not answer."""


class _Address(Struct, frozen=True):
    url: str


_address = json.Decoder(_Address)


class LocalServer:
    """A server that runs. `base_url` ends with /v1; `model` is the name to ask for; `seconds` is how long it took.

    `context` is its window in tokens.
    """

    def __init__(
        self, child: Child, home: str, installed: paths.Installed, url: str, key: str, seconds: float, context: int
    ) -> None:
        self.installed = installed
        self.context = context
        self.base_url = f"{url}/v1"
        self.api_key = key
        self.model = installed.name
        self.seconds = seconds
        self._child = child
        self._home = home
        self._url = url

    async def warm(self, body: bytes) -> bool:
        """Have the head of a chat request (system text and tools) read before the first prompt comes.

        `body` is a whole encoded chat request whose last message is the first user message; only what stands before
        it counts. Restores the saved state of that head, else reads the head once and saves the state. True when it
        was restored. Raises LocalError when the server does not answer.
        """
        request = cast("dict[str, Any]", json.decode(body))
        head = [message for message in request["messages"] if message["role"] in ("system", "developer")]
        key = self.key(json.encode([head, request.get("tools")]))
        if await self.restore(key):
            return True
        request |= {
            "messages": [*head, {"role": "user", "content": "-"}],
            "stream": False,
            "max_tokens": 1,
        }
        request.pop("stream_options", None)
        request.pop("max_completion_tokens", None)
        status, answer = await self._call("POST", "/v1/chat/completions", json.encode(request))
        if status != 200:
            raise LocalError(f"the local model refused the prompt: {_said(answer)}", "See: agenyx local status")
        await self.save(key)
        return False

    def key(self, head: bytes) -> str:
        """The key of the state that a prompt head leaves in this server."""
        return slots.slot_key(self.installed.sha256, _template(self.installed), str(self.context), _runtime(), head)

    async def restore(self, key: str) -> bool:
        """Load a saved state. False when there is none that is whole; a damaged one is removed."""
        if not await asyncio.to_thread(slots.whole, self._home, key):
            return False
        status, _ = await self._slot("restore", key)
        if status != 200:
            slots.forget(self._home, key)
        return status == 200

    async def save(self, key: str) -> None:
        """Save the present state. It is only a saving of time: a full disk is no error."""
        status, _ = await self._slot("save", key)
        if status == 200:
            with suppress(OSError):
                await asyncio.to_thread(slots.seal, self._home, key)
        else:
            slots.forget(self._home, key)

    async def close(self) -> None:
        await self._child.stop()

    async def healthy(self) -> bool:
        """Whether the server answers."""
        try:
            return (await self._call("GET", "/health", None))[0] == 200
        except LocalError:
            return False

    async def _slot(self, action: str, key: str) -> tuple[int, bytes]:
        body = json.encode({"filename": slots.file_name(key)})
        return await self._call("POST", f"/slots/0?action={action}", body)

    async def _call(self, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
        try:
            return await asyncio.to_thread(_http, self._url, self.api_key, method, path, body)
        except OSError as error:
            raise LocalError(f"the local model does not answer: {error}", "Start Agenyx again.") from error


@asynccontextmanager
async def open_local(
    processes: Processes, home: str, env: Mapping[str, str], argv: tuple[str, ...] | None = None
) -> AsyncGenerator[LocalServer]:
    """The installed model, served while the block runs. `argv` replaces the program of the child (for tests).

    Raises ConfigError when the model or its runtime is not installed, LocalError when it does not start.
    """
    installed = paths.installed(home)
    if installed is None:
        raise ConfigError("the local model is not installed", "Run: agenyx local install")
    if argv is None and paths.runtime_missing():
        raise ConfigError(
            "the runtime of the local model (xllamacpp) is not installed", "Run: pip install 'agenyx[local]'"
        )
    server = await start(processes, home, env, installed, argv or (sys.executable, "-I", CHILD))
    try:
        yield server
    finally:
        await server.close()


def window_of(home: str, installed: paths.Installed) -> int:
    """The window in tokens with which this model is served."""
    return min(CONTEXT, trained_window(installed.file(home)) or CONTEXT)


async def start(
    processes: Processes,
    home: str,
    env: Mapping[str, str],
    installed: paths.Installed,
    argv: tuple[str, ...],
    limit: float = START_SECONDS,
) -> LocalServer:
    """Start the child and wait until it serves; `limit` in seconds. Raises LocalError, ProcessError."""
    started = time.monotonic()
    key = os.urandom(24).hex()
    context = window_of(home, installed)
    os.makedirs(paths.slots(home), mode=0o700, exist_ok=True)
    settings = {
        "model": installed.file(home),
        "alias": installed.name,
        "context": context,
        "template": TEMPLATE if installed.template == "fence" else "",
        "slots": paths.slots(home),
        "threads": threads(),
    }
    child_environment = child_env(env) | {"OMP_WAIT_POLICY": "passive", KEY: key}
    child = await processes.start(
        Spawn((*argv, json.encode(settings).decode()), paths.models(home), child_environment, stderr="merge")
    )
    log: deque[str] = deque(maxlen=LOG_LINES)
    try:
        async with asyncio.timeout(limit):
            url = await _ready(child, log)
        server = LocalServer(child, home, installed, url, key, time.monotonic() - started, context)
        if not await server.healthy():
            raise LocalError("the local model started but does not answer", "Try again.")
    except TimeoutError:
        await child.stop()
        raise LocalError(
            f"the local model was not ready after {limit:.0f} seconds{_tail(log)}",
            "Close other programs that need memory or processor time, then try again.",
        ) from None
    except BaseException:
        await child.stop()
        raise
    return server


async def _ready(child: Child, log: deque[str]) -> str:
    while line := await child.line():
        text = line.decode("utf-8", "replace").strip()
        if text.startswith(READY):
            with suppress(json.JsonError):
                return _address.decode(text.removeprefix(READY).encode()).url
        if text:
            log.append(text)
    code = await child.wait()
    how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
    raise LocalError(
        f"the local model ended {how} while it started{_tail(log)}",
        "Check the file with: agenyx local install --yes (it verifies the hash), and that 2.5 GB of memory are free.",
    )


def _tail(log: deque[str]) -> str:
    return ". Its last words:\n" + "\n".join(f"  {line[:300]}" for line in log) if log else ""


def _template(installed: paths.Installed) -> str:
    if installed.template == "own":
        return ""
    with open(TEMPLATE, encoding="utf-8") as file:
        return file.read()


def _runtime() -> str:
    """The version of the runtime: another one may store its states otherwise."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("xllamacpp")
    except PackageNotFoundError:
        return ""


def _said(answer: bytes) -> str:
    return answer[:300].decode("utf-8", "replace")


def _http(url: str, key: str, method: str, path: str, body: bytes | None) -> tuple[int, bytes]:
    """One small request to the server, blocking. Raises OSError."""
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(url.removeprefix("http://"), timeout=CALL_SECONDS)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {key}", "Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, response.read()
    except HTTPException as error:
        raise OSError(str(error) or type(error).__name__) from error
    finally:
        connection.close()
