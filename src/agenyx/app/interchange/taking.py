"""A transcript of another program becomes a session. Reads files that anybody may have written, and writes one session.

A marker stands in its folder until it is whole, as in that of a copy, so that a crash leaves no half of it.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, cast

from msgspec import Struct

from agenyx.agent.crew import FOLDER
from agenyx.app.interchange.blocks import Json, items, words
from agenyx.app.interchange.incoming import Incoming
from agenyx.app.interchange.reading import Read, read
from agenyx.app.interchange.units import Told, Unit, units
from agenyx.app.place import place_of
from agenyx.app.release import version
from agenyx.config.home import private_directory
from agenyx.config.secrets import masker
from agenyx.core import json
from agenyx.core.errors import AgenyxError, StoreError, UsageError
from agenyx.core.ids import RandomIds, child_id, session_id
from agenyx.core.limits import RECORD_BYTES, TRANSCRIPT_BYTES
from agenyx.session import titles
from agenyx.session.load import sessions_of
from agenyx.session.records import Opened, Title
from agenyx.session.session import Session
from agenyx.session.state import State
from agenyx.session.store import UNFINISHED, FileStore

MOST_AGENTS = 1_000
_SHOWN = 10
_FACTS_BYTES = 1 << 16
_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")


class Taken(Struct, frozen=True):
    """The session that was made. `cwd` is the directory that the transcript speaks of, "" for none."""

    session: str
    directory: str
    title: str
    prompts: int
    steps: int
    lost: int
    agents: int
    cwd: str
    problems: dict[str, int]


def transcript(path: str) -> str:
    """The transcript that a path means: a file, or the only one in a folder. Raises UsageError."""
    if not os.path.isdir(path):
        return path
    found = sorted(_transcripts(path))
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"{path} holds no transcript", "Name a file that ends in .jsonl, or a folder with one.")
    rows = [f"  {one}" for one in found[:_SHOWN]]
    more = [f"  and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else []
    raise UsageError(f"{path} holds {len(found)} transcripts", "\n".join(["Name one of them:", *rows, *more]))


def _transcripts(path: str) -> Iterator[str]:
    """Those in a folder, in the `projects` of a folder, and in the folders of that."""
    projects = os.path.join(path, "projects")
    folders = [path]
    if os.path.isdir(projects):
        folders = [entry.path for entry in os.scandir(projects) if entry.is_dir(follow_symlinks=False)]
    for folder in folders:
        with suppress(OSError):
            for entry in os.scandir(folder):
                if entry.name.endswith(".jsonl") and not entry.name.startswith("agent-") and entry.is_file():
                    yield entry.path


def take(path: str, home: str, workspace: str, env: Mapping[str, str]) -> Taken:
    """Make a session of the workspace from the transcript at `path`. Raises AgenyxError, and leaves nothing behind."""
    found = read(_rows(path))
    told = units(found)
    if not any(unit.says for unit in told.units):
        raise AgenyxError(f"{path} holds no conversation", "It has to be a transcript in JSON lines.")
    name = session_id()
    directory = os.path.join(sessions_of(home, workspace), name)
    try:
        return _written(found, told, path, directory, workspace, env)
    except StoreError as error:
        _forget(directory)
        raise StoreError(f"{path} cannot be taken over: {error.message}", "It has to fit into one session.") from error
    except OSError as error:
        _forget(directory)
        raise StoreError(f"the session cannot be written: {error.strerror}", "Free space, then try again.") from error
    except BaseException:
        _forget(directory)
        raise


def _forget(directory: str) -> None:
    with suppress(OSError):
        os.unlink(os.path.join(directory, "transcript.jsonl"))  # before the marker, whatever happens meanwhile
    shutil.rmtree(directory, ignore_errors=True)


def _written(found: Read, told: Told, path: str, directory: str, workspace: str, env: Mapping[str, str]) -> Taken:
    private_directory(directory)
    marker = os.path.join(directory, UNFINISHED)
    os.close(os.open(marker, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    title, agents = _title(found), 0
    with _Made(directory, workspace, env) as main:
        incoming = main.write(told)
        if title:
            main.session.append(Title(main.session.masker.text(title)))
            titles.write_sidecar(directory, main.session.masker.text(title))
        for call, kind, there in _agents(found, told, incoming, path):
            with _Made(os.path.join(directory, FOLDER, call), workspace, env, f"{kind}/{child_id(call)}") as child:
                child.write(there)
            agents += 1
        main.session.sync()
        os.unlink(marker)
        called = title or titles.from_prompt(_first(told))
        counts = (incoming.prompts, incoming.steps, incoming.lost, agents)
    return Taken(os.path.basename(directory), directory, called, *counts, found.cwd, found.problems)


class _Made:
    """A session that is being made, and its clock, which shows the time of what is written."""

    def __init__(self, directory: str, workspace: str, env: Mapping[str, str], agent: str = "") -> None:
        self._time = 0.0
        name = os.path.basename(directory)
        self.session = Session(name, FileStore(directory), State(), directory, RandomIds(), lambda: self._time)
        self.session.masker, self.session.agent = masker(env), agent
        place = "" if agent else place_of(workspace)
        self._opened = Opened(name, workspace, version(), place=place)

    def write(self, told: Told) -> Incoming:
        self._time = told.units[0].at if told.units else 0.0
        self.session.append(self._opened, turn="")
        incoming = Incoming(self.session, self._tick)
        incoming.write(told)
        return incoming

    def _tick(self, now: float) -> None:
        self._time = now

    def __enter__(self) -> _Made:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(AgenyxError, OSError):
            self.session.sync()
        self.session.close()


def _title(found: Read) -> str:
    try:
        return titles.given(found.title[: 4 * titles.MOST]) if found.title.strip() else ""
    except UsageError:
        return " ".join(found.title.split())[: titles.MOST].strip()


def _first(told: Told) -> str:
    typed = (unit for unit in told.units if unit.kind == "user" and unit.origin == "typed")
    texts = (words(block.get("text")) for unit in typed for block in unit.content)
    return next((text for text in texts if text.strip()), "")


# --- subagents -------------------------------------------------------------------------------------------------------


def _agents(found: Read, told: Told, main: Incoming, path: str) -> Iterator[tuple[str, str, Told]]:
    """The subagents whose call is known: the call here, what kind it is, and what was said."""
    done = set[str]()
    calls = _calls_by_agent(found)
    for agent, kind, call, there in (*_inside(found), *_beside(path)):
        asked = call or calls.get(agent, "") or _by_prompt(told, _first(there))
        name = main.calls.get(asked, "")
        if not name or name in done or not any(unit.says for unit in there.units):
            found.count("subagents whose call is not known")
            continue
        done.add(name)
        yield name, kind if _NAME.fullmatch(kind) else "agent", there


def _calls_by_agent(found: Read) -> dict[str, str]:
    """The call that each subagent did, as the lines of results tell it."""
    calls: dict[str, str] = {}
    for node in found.nodes:
        told: Json = cast("Json", node.told) if isinstance(cast("object", node.told), dict) else {}
        if agent := words(told.get("agentId")):
            results = [one for one in items(node.message.get("content")) if one.get("type") == "tool_result"]
            calls[agent] = words(results[0].get("tool_use_id")) if results else ""
    return calls


def _by_prompt(told: Told, prompt: str) -> str:
    def does(unit: Unit) -> Iterator[str]:
        for block in unit.content:
            given: Any = block.get("input")
            asked = cast("Json", given).get("prompt") if isinstance(given, dict) else ""
            if block.get("type") == "tool_use" and words(asked).strip() == prompt.strip():
                yield words(block.get("id"))

    if not prompt.strip():
        return ""
    return next((call for unit in told.units if unit.kind == "step" for call in does(unit)), "")


def _inside(found: Read) -> Iterator[tuple[str, str, str, Told]]:
    """Those whose lines stand among the others."""
    sides = list(dict.fromkeys(node.side for node in found.nodes if node.side))
    if not sides:
        return
    by_side: dict[str, Read] = {side: Read([], leaf="", problems=found.problems) for side in sides}
    for node in found.nodes:
        if node.side:
            by_side[node.side].nodes.append(node)
    for side in sides[:MOST_AGENTS]:
        yield side, "", "", units(by_side[side], side)


def _beside(path: str) -> Iterator[tuple[str, str, str, Told]]:
    """Those in files of their own, in a folder that is named as the transcript."""
    folder = os.path.join(path.removesuffix(".jsonl"), "subagents")
    count = 0
    for top, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            match = re.fullmatch(r"agent-(.{1,200})\.jsonl", name)
            if match is None or count == MOST_AGENTS:
                continue
            count += 1
            with suppress(AgenyxError):
                there = units(read(_rows(os.path.join(top, name), follow=False), alone=True))
                facts = _facts(os.path.join(top, f"agent-{match[1]}.meta.json"))
                yield match[1], words(facts.get("agentType")), words(facts.get("toolUseId")), there


def _facts(path: str) -> Json:
    try:
        with _opened(path, follow=False) as file:
            value: Any = json.decode(file.read(_FACTS_BYTES))
    except (OSError, AgenyxError, json.JsonError):
        return {}
    return cast("Json", value) if isinstance(value, dict) else {}


# --- files -----------------------------------------------------------------------------------------------------------


def _rows(path: str, *, follow: bool = True) -> Iterator[bytes | None]:
    """The lines of a file; None for one that is too large. Raises AgenyxError."""
    try:
        with _opened(path, follow=follow) as file:
            while row := file.readline(RECORD_BYTES + 1):
                if len(row) <= RECORD_BYTES:
                    yield row
                    continue
                while row and not row.endswith(b"\n"):
                    row = file.readline(RECORD_BYTES)
                yield None
    except OSError as error:
        raise AgenyxError(f"{path} cannot be read: {error.strerror}", "Name a transcript in JSON lines.") from error


def _opened(path: str, *, follow: bool) -> Any:
    """A plain file of a bearable size. Raises OSError, AgenyxError."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode) or found.st_size > TRANSCRIPT_BYTES:
        os.close(descriptor)
        plain = stat.S_ISREG(found.st_mode)
        what = f"has {found.st_size:,} bytes, which is too large" if plain else "is no regular file"
        raise AgenyxError(f"{path} {what}", "Name a transcript in JSON lines.")
    return open(descriptor, "rb", buffering=1 << 18)
