"""The server's life with a child that speaks the same HTTP: start, death, slowness, key, saved prompt, end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import ConfigError
from agenyx.llm.local import paths
from agenyx.llm.local.server import LocalError, LocalServer, open_local, start
from agenyx.proc.spawn import Processes

# Serves the part of llama.cpp's interface that is used; writes every request down. The first argument chooses.
FAKE = """\
import json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

mode, settings = sys.argv[1], json.loads(sys.argv[2])
key = os.environ["AGENYX_LOCAL_KEY"]
notes = os.path.join(settings["slots"], "..", "notes")
state = b"fresh"

def note(**what):
    with open(notes, "a") as file:
        file.write(json.dumps(what) + "\\n")

note(pid=os.getpid(), settings=settings, argv=sys.argv, omp=os.environ.get("OMP_WAIT_POLICY"), env=sorted(os.environ))
print("loading model", flush=True)
if mode == "dies":
    sys.exit("the file is broken: magic")
if mode == "killed":
    os.kill(os.getpid(), 9)
if mode == "hangs":
    time.sleep(600)

class Handler(BaseHTTPRequestHandler):
    def reply(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        self.reply(503 if mode == "sick" else 200, {"status": "ok"})

    def do_POST(self):
        global state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Authorization"] != "Bearer " + key:
            return self.reply(401, {"error": "key"})
        note(path=self.path, body=body)
        if self.path.startswith("/slots/0"):
            path = os.path.join(settings["slots"], body["filename"])
            if mode == "full":
                return self.reply(500, {"error": "disk"})
            if self.path.endswith("save"):
                with open(path, "wb") as file:
                    file.write(state)
            else:
                with open(path, "rb") as file:
                    state = file.read()
            return self.reply(200, {})
        if mode == "refuses":
            return self.reply(400, {"error": "no template"})
        state = json.dumps(body).encode()
        self.reply(200, {"choices": []})

    def log_message(self, *args):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
# As the real log does it: the line may come in the middle of another one.
ready = json.dumps({"url": "http://127.0.0.1:%d" % server.server_address[1]})
sys.stdout.write("0.02.3 \\nagenyx-local-ready " + ready + "\\nI srv\\n")
sys.stdout.flush()
server.serve_forever()
"""

Put = Callable[..., paths.Installed]


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], tuple[str, ...]]:
    (tmp_path / "fake.py").write_text(FAKE, "utf-8")
    return lambda mode: (sys.executable, str(tmp_path / "fake.py"), mode)


def notes(home: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(paths.models(home), "notes").read_text("utf-8").splitlines()]


def calls(home: str) -> list[str]:
    return [note["path"] for note in notes(home) if "path" in note]


def gone(pid: int) -> bool:
    """Whether the process has ended, within ten seconds. A zombie that nobody reaps counts as ended."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()[0] == "Z":
                return True
        except ProcessLookupError:
            return True
        except FileNotFoundError:  # no /proc here
            pass
        time.sleep(0.01)
    return False


def with_server(home: str, argv: tuple[str, ...], use: Callable[[LocalServer], Any], env: Any = None) -> Any:
    async def job() -> Any:
        processes = Processes()
        try:
            async with open_local(processes, home, env or os.environ, argv) as server:
                return await use(server)
        finally:
            await processes.close()

    return asyncio.run(job())


def body(system: str = "You are Agenyx.", prompt: str = "hello", tools: tuple[str, ...] = ("Read",)) -> bytes:
    return json.dumps(
        {
            "model": "tiny",
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": 0.0,
            "max_tokens": 512,
            "tools": [{"type": "function", "function": {"name": name}} for name in tools],
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt}],
        }
    ).encode()


def test_it_serves_with_a_random_key_and_a_closed_environment(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    keys: list[str] = []

    async def use(server: LocalServer) -> None:
        keys.append(server.api_key)
        assert server.base_url.startswith("http://127.0.0.1:") and server.base_url.endswith("/v1")
        assert server.model == "tiny"
        assert await server.healthy()
        request = urllib.request.Request(f"{server.base_url}/chat/completions", b"{}")
        with pytest.raises(urllib.error.HTTPError, match="401"):
            await asyncio.to_thread(urllib.request.urlopen, request)

    env = {**os.environ, "OPENAI_API_KEY": "not for the child", "LD_PRELOAD": ""}
    with_server(home, fake("ok"), use, env)
    with_server(home, fake("ok"), use, env)
    assert keys[0] != keys[1] and len(keys[0]) >= 32

    first = notes(home)[0]
    assert keys[0] not in str(first["argv"])
    assert first["omp"] == "passive" and "OPENAI_API_KEY" not in first["env"]
    settings = first["settings"]
    assert settings["context"] == 8192 and settings["threads"] >= 1
    assert settings["template"].endswith("chat.jinja") and settings["model"].endswith("tiny.gguf")


def test_a_model_of_ones_own_keeps_its_own_template(home: str, put_model: Put, fake: Any) -> None:
    put_model(template="own")

    async def use(server: LocalServer) -> None:
        pass

    with_server(home, fake("ok"), use)
    assert notes(home)[0]["settings"]["template"] == ""


def test_the_child_ends_with_the_block(home: str, put_model: Put, fake: Any) -> None:
    put_model()

    async def use(server: LocalServer) -> None:
        raise KeyError("the block failed")

    with pytest.raises(KeyError):
        with_server(home, fake("ok"), use)
    assert gone(notes(home)[0]["pid"])


def test_a_child_that_dies_is_told_with_its_last_words(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    with pytest.raises(LocalError, match=r"ended with exit code 1 while it started[\s\S]*the file is broken") as caught:
        with_server(home, fake("dies"), lambda server: None)
    assert caught.value.fix
    with pytest.raises(LocalError, match="by signal 9"):
        with_server(home, fake("killed"), lambda server: None)


def test_a_child_that_hangs_is_ended_after_the_limit(home: str, put_model: Put, fake: Any) -> None:
    model = put_model()

    async def job() -> None:
        processes = Processes()
        try:
            with pytest.raises(LocalError, match="not ready after 1 seconds"):
                await start(processes, home, os.environ, model, fake("hangs"), limit=1.0)
        finally:
            await processes.close()

    asyncio.run(job())
    assert gone(notes(home)[0]["pid"])


def test_a_server_that_is_not_healthy_is_refused(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    with pytest.raises(LocalError, match="does not answer"):
        with_server(home, fake("sick"), lambda server: None)
    assert gone(notes(home)[0]["pid"])


def test_cancelling_the_start_ends_the_child(home: str, put_model: Put, fake: Any) -> None:
    model = put_model()

    async def job() -> None:
        processes = Processes()
        task = asyncio.create_task(start(processes, home, os.environ, model, fake("hangs")))
        while not Path(paths.models(home), "notes").exists() or not notes(home):  # noqa: ASYNC110 - the child writes it
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(notes(home)[0]["pid"])
        await processes.close()

    asyncio.run(job())


def test_the_child_ends_when_the_agent_is_killed(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    agent = (
        "import asyncio, os, sys\n"
        "from agenyx.llm.local.server import open_local\n"
        "from agenyx.proc.spawn import Processes\n"
        "async def main():\n"
        "    async with open_local(Processes(), sys.argv[1], os.environ, tuple(sys.argv[2:])):\n"
        "        print('ready', flush=True)\n"
        "        await asyncio.Event().wait()\n"
        "asyncio.run(main())\n"
    )
    with subprocess.Popen([sys.executable, "-c", agent, home, *fake("ok")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGKILL)
    assert gone(notes(home)[0]["pid"])


def test_a_prompt_head_is_read_once_and_restored_by_the_next_server(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    assert with_server(home, fake("ok"), lambda server: server.warm(body(prompt="first"))) is False
    assert with_server(home, fake("ok"), lambda server: server.warm(body(prompt="another"))) is True
    assert calls(home) == ["/v1/chat/completions", "/slots/0?action=save", "/slots/0?action=restore"]

    (read,) = [note["body"] for note in notes(home) if note.get("path") == "/v1/chat/completions"]
    assert read["messages"][0] == {"role": "system", "content": "You are Agenyx."}
    assert "first" not in str(read)  # the head only: a prompt does not belong into a file of its own
    assert read["max_tokens"] == 1 and read["stream"] is False and "stream_options" not in read
    assert read["tools"][0]["function"]["name"] == "Read"


def test_another_head_has_a_state_of_its_own(home: str, put_model: Put, fake: Any) -> None:
    put_model()

    async def use(server: LocalServer) -> list[bool]:
        heads = [body(), body(system="Other."), body(tools=("Read", "Bash")), body()]
        return [await server.warm(head) for head in heads]

    assert with_server(home, fake("ok"), use) == [False, False, False, True]


def test_a_damaged_state_is_ignored_and_written_anew(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    with_server(home, fake("ok"), lambda server: server.warm(body()))
    (state,) = Path(paths.slots(home)).glob("*.slot")
    good = state.read_bytes()
    state.write_bytes(good[:-1])
    assert with_server(home, fake("ok"), lambda server: server.warm(body())) is False
    assert "/slots/0?action=restore" not in calls(home)
    assert state.read_bytes() == good
    assert with_server(home, fake("ok"), lambda server: server.warm(body())) is True


def test_only_a_few_states_are_kept(home: str, put_model: Put, fake: Any) -> None:
    put_model()

    async def use(server: LocalServer) -> None:
        for number in range(7):
            await server.warm(body(system=str(number)))
        assert await server.warm(body(system="6"))

    with_server(home, fake("ok"), use)
    assert len(list(Path(paths.slots(home)).glob("*.slot"))) == 4


def test_a_state_that_cannot_be_saved_is_no_error(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    assert with_server(home, fake("full"), lambda server: server.warm(body())) is False
    assert list(Path(paths.slots(home)).iterdir()) == []


def test_a_refused_prompt_is_told(home: str, put_model: Put, fake: Any) -> None:
    put_model()
    with pytest.raises(LocalError, match=r"refused the prompt: .*no template"):
        with_server(home, fake("refuses"), lambda server: server.warm(body()))


def test_a_server_that_went_away_is_told(home: str, put_model: Put, fake: Any) -> None:
    put_model()

    async def use(server: LocalServer) -> None:
        await server.close()
        assert not await server.healthy()
        with pytest.raises(LocalError, match="does not answer"):
            await server.warm(body())

    with_server(home, fake("ok"), use)


def test_without_a_model_the_error_names_the_command(home: str) -> None:
    with pytest.raises(ConfigError) as caught:
        with_server(home, ("true",), lambda server: None)
    assert "agenyx local install" in caught.value.fix


def test_without_the_runtime_the_error_names_the_extra(
    home: str, put_model: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_model()
    monkeypatch.setattr(paths, "runtime_missing", lambda: True)

    async def job() -> None:
        async with open_local(Processes(), home, os.environ):
            pass

    with pytest.raises(ConfigError) as caught:
        asyncio.run(job())
    assert "pip install 'agenyx[local]'" in caught.value.fix
