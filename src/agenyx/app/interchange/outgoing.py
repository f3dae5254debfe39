"""A stored session as files in the layout that other programs look for. Reads the session, writes where it is told."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from agenyx.agent.crew import FOLDER
from agenyx.app.interchange.lines import Line, Where, lines, uuid_of
from agenyx.app.release import number
from agenyx.config.home import private_directory
from agenyx.core import json
from agenyx.core.errors import AgenyxError
from agenyx.core.ids import child_id
from agenyx.core.redact import Masker
from agenyx.session import load
from agenyx.session.media import MediaStore
from agenyx.session.records import Record
from agenyx.session.store import TRANSCRIPT

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_KEY_CHARS = 200
_DEEP = 3  # subagents of subagents


class Agent(Struct, frozen=True):
    """A subagent: its id, the facts beside its transcript, and the transcript."""

    id: str
    facts: bytes
    lines: list[bytes]


class Exported(Struct, frozen=True):
    """`session` is a UUID, `key` what the layout calls the workspace."""

    session: str
    key: str
    lines: list[bytes]
    agents: tuple[Agent, ...]

    def whole(self) -> bytes:
        """Everything in one text; lines of subagents are marked as such, and stand behind."""
        return b"".join([*self.lines, *(line for agent in self.agents for line in agent.lines)])

    def files(self) -> Iterator[tuple[str, bytes]]:
        """Paths below a configuration folder, and what is in them."""
        folder = os.path.join("projects", self.key)
        for agent in self.agents:
            name = os.path.join(folder, self.session, "subagents", f"agent-{agent.id}")
            yield f"{name}.meta.json", agent.facts
            yield f"{name}.jsonl", b"".join(agent.lines)
        yield os.path.join(folder, f"{self.session}.jsonl"), b"".join(self.lines)  # last: the others are there then


def exported(directory: str, masker: Masker) -> Exported:
    """The session in a folder. Raises AgenyxError where it cannot be read."""
    state = load.load(directory)
    name = os.path.basename(directory)
    session = name if _UUID.fullmatch(name) else uuid_of("session", name)
    cwd = state.opened.workspace if state.opened else ""
    main, children = Where(session, cwd, number()), list[tuple[str, str]]()
    _children(directory, children, _DEEP)
    spoken = frozenset(call for call, _ in children)
    agents: list[Agent] = []
    for call, folder in children:
        records = _records(folder)
        if not records:
            continue
        agent, kind = child_id(call), next((record.agent for record in records if record.agent), "")
        facts = {"agentType": kind.partition("/")[0] or "agent", "toolUseId": call}
        where = Where(session, cwd, main.version, agent)
        found = _encoded(lines(records, where, MediaStore(folder, earlier=directory).get, spoken), masker)
        agents.append(Agent(agent, masker.data(json.encode(facts)), found))
    found = _encoded(lines(_records(directory), main, MediaStore(directory).get, spoken), masker)
    if not found:
        raise AgenyxError("nothing was said in this session", "See: agenyx sessions list")
    return Exported(session, key_of(cwd), found, tuple(agents))


def _children(directory: str, found: list[tuple[str, str]], deep: int) -> None:
    """The sessions of subagents below one: the call, and the folder."""
    try:
        names = sorted(os.listdir(os.path.join(directory, FOLDER)))
    except OSError:
        return
    for name in names:
        folder = os.path.join(directory, FOLDER, name)
        if os.path.isfile(os.path.join(folder, TRANSCRIPT)) and not os.path.islink(folder):
            found.append((name, folder))
            if deep:
                _children(folder, found, deep - 1)


def _records(directory: str) -> list[Record]:
    try:
        with open(os.path.join(directory, TRANSCRIPT), "rb") as file:
            return list(load.decode_lines(file, []))
    except OSError as error:
        raise AgenyxError(f"the session cannot be read: {error.strerror}", "See: agenyx sessions show") from error


def _encoded(found: Sequence[Line], masker: Masker) -> list[bytes]:
    """One line each: what a secret was found in is masked, however it is spelled."""
    return [masker.data(json.encode(masker.value(line))) + b"\n" for line in found]


def key_of(path: str) -> str:
    """What the layout calls a workspace: its path with a hyphen for whatever is no letter or digit, cut with a hash."""
    plain = re.sub(r"[^A-Za-z0-9]", "-", path)
    if len(plain) <= _KEY_CHARS:
        return plain
    number = 0
    for char in path:
        number = (number * 31 + ord(char)) & 0xFFFFFFFF
    number = abs(number - (1 << 32) if number >= 1 << 31 else number)
    digits = ""
    while number or not digits:
        number, rest = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return f"{plain[:_KEY_CHARS]}-{digits}"


def put(path: str, data: bytes, *, force: bool) -> None:
    """Write a file that only its owner reads, whole or not at all. Raises AgenyxError, also where there is one already,
    unless it may be replaced."""
    temporary = f"{path}.{os.getpid()}.tmp"
    try:
        private_directory(os.path.dirname(path) or os.curdir)
        if not force and os.path.lexists(path):
            raise FileExistsError
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
        if force:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)  # unlike a rename it replaces nothing
            os.unlink(temporary)
    except OSError as error:
        with suppress(OSError):
            os.unlink(temporary)
        if isinstance(error, FileExistsError):
            raise AgenyxError(
                f"{path} is there already and stays as it is", "Name another place, or add --force to replace it."
            ) from None
        raise AgenyxError(f"{path} cannot be written: {error.strerror}", "Name another place.") from error
