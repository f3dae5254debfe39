"""Who watches the events of a conversation for telemetry: switched on by the person, and in nobody's way.

Every event goes to the surface first. What it comes to is put into a queue, and a thread of its own imports the SDK,
makes spans and sends them: a collector that is slow or gone delays no turn and fails none.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib.util
import os
import threading
import time
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Protocol

from msgspec import Struct

from agenyx.app.release import version
from agenyx.app.settings import Settings
from agenyx.app.telemetry.names import provider_name
from agenyx.app.telemetry.operations import Facts, Measure, Operation
from agenyx.app.telemetry.project import Projection
from agenyx.config.home import home_path
from agenyx.config.profiles import Profile
from agenyx.core.errors import ConfigError
from agenyx.core.events import AgentEvent, Notice, TurnStarted

FLUSH_SECONDS = 2.0  # that the end of a conversation waits for what is not sent yet
MOST = 50_000  # operations that wait for the thread; above it pieces of answers are not counted
SWITCH = "AGENYX_OTEL"
CAPTURE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
INSTALL = 'Install it with: pip install "agenyx[otel]". Or switch telemetry off: AGENYX_OTEL=0'
_ON, _OFF = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_CAPTURING = (*_ON, "span_only", "span_and_event")


class Sink(Protocol):
    """Where spans and measures go. Used by one thread alone, after it was made there."""

    def apply(self, session: str, operation: Operation, at: int) -> None:
        """`at` in nanoseconds since 1970."""
        ...

    def flush(self, *, last: bool) -> str:
        """Send what waits; what went wrong since the start, "" for nothing. With `last` nothing comes any more."""
        ...


class _Flush(Struct):
    last: bool
    done: Callable[[str], None]


_Item = tuple[str, Operation, int, contextvars.Context] | _Flush


class Observed:
    """An `emit` that also makes telemetry. `capture`: content is wanted. It counts the conversations that use it, and
    ends with the last one."""

    def __init__(
        self,
        inner: Callable[[AgentEvent], None],
        make: Callable[[], Sink],
        *,
        capture: bool = False,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._inner, self._make, self._capture, self._clock = inner, make, capture, clock
        self._offset = time.time_ns() - clock()
        self._sessions: dict[str, Projection] = {}
        self._facts: dict[str, Facts] = {}
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._context = contextvars.copy_context()
        self._users = 0

    def about(self, session: str, profile: Profile) -> None:
        """One more conversation uses it: this session, and what is known of it beside its events."""
        self._users += 1
        port = profile.base_url.rpartition(":")[2].partition("/")[0]
        known = int(port) if port.isascii() and port.isdigit() else 0
        self._facts[session] = Facts(provider_name(profile), profile.host, known, version())

    def __call__(self, event: AgentEvent) -> None:
        self._inner(event)
        try:
            self._take(event)
        except Exception:  # noqa: BLE001 - the rim around watching: it must not change what happens
            self._sessions.pop(event.session, None)

    def _take(self, event: AgentEvent) -> None:
        if isinstance(event.body, TurnStarted):
            self._context = contextvars.copy_context()  # a span of the host, below which the turn belongs
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="agenyx-telemetry", daemon=True)
                self._thread.start()
        session = self._sessions.get(event.session)
        if session is None:
            facts = self._facts.get(event.session, Facts())
            session = self._sessions[event.session] = Projection(facts, capture=self._capture)
        now = self._clock()
        for operation in session.take(event, now / 1e9):
            self._put(event.session, operation, now)

    def _put(self, session: str, operation: Operation, now: int) -> None:
        if not isinstance(operation, Measure) or self._queue.qsize() < MOST:
            self._queue.put((session, operation, now + self._offset, self._context))

    async def close(self) -> str:
        """One conversation less: send what waits, for a bounded time. What went wrong, "" for nothing. Never raises."""
        self._users -= 1
        last = self._users <= 0
        if last:
            now = self._clock()
            for name, session in self._sessions.items():
                for operation in session.abandon(now / 1e9):
                    self._put(name, operation, now)
            self._sessions = {}
        if self._thread is None or not self._thread.is_alive():
            return ""
        loop = asyncio.get_running_loop()
        told: asyncio.Future[str] = loop.create_future()

        def tell(text: str) -> None:
            if not told.done():
                told.set_result(text)

        def done(text: str) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(tell, text)

        self._queue.put(_Flush(last, done))
        try:
            async with asyncio.timeout(FLUSH_SECONDS):
                return await told
        except TimeoutError:
            return f"the collector did not take it within {FLUSH_SECONDS:g} seconds"

    async def end(self, tell: Callable[[Notice], None]) -> None:
        """`close`, and the person is told where something went wrong."""
        if why := await self.close():
            tell(Notice("warning", f"Telemetry is not complete: {why}.", "Look at its address: docs/telemetry.md."))

    # --- the thread -------------------------------------------------------------------------------------------------

    def _work(self) -> None:
        broken, sink = "", None
        try:
            sink = self._make()
        except Exception as error:  # noqa: BLE001 - the rim around the SDK
            broken = f"{type(error).__name__}: {error}"
        while True:
            item = self._queue.get()
            try:
                if not isinstance(item, _Flush):
                    if sink is not None:
                        session, operation, at, context = item
                        context.run(sink.apply, session, operation, at)
                    continue
                told = sink.flush(last=item.last) if sink is not None else ""
                item.done(broken or told)
            except Exception as error:  # noqa: BLE001 - the same
                broken = broken or f"{type(error).__name__}: {error}"
                if isinstance(item, _Flush):
                    item.done(broken)
            if isinstance(item, _Flush) and item.last:
                return


def observed(emit: Callable[[AgentEvent], None], settings: Settings, env: Mapping[str, str]) -> Observed | None:
    """An `emit` with telemetry in place of this one; None where nobody switched it on. Close it with its conversation.

    Raises ConfigError where it cannot work, with what to do.
    """
    if isinstance(emit, Observed):
        return emit  # a conversation that follows another one
    on, capture = _wanted(settings, env)
    if not on or env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    signals = _signals(env)
    for package in ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"):
        if not _there(package):
            raise ConfigError(f"telemetry is on, and the package {package} is not installed", INSTALL)
    parent = {name: env[name.upper()] for name in ("traceparent", "tracestate") if env.get(name.upper())}

    def make() -> Sink:
        from agenyx.app.telemetry.otel import otlp  # slow to import: in the thread

        return otlp(signals, parent, named=bool(env.get("OTEL_SERVICE_NAME", "").strip()), attributes=env)

    return Observed(emit, make, capture=capture)


def _wanted(settings: Settings, env: Mapping[str, str]) -> tuple[bool, bool]:
    """Whether telemetry is on, and content in it. The person's variables and home say so, never a workspace."""
    home, said = home_path(env), dict[str, str]()
    if settings.of_person and os.path.lexists(os.path.join(home, "settings.toml")):
        from agenyx.config import settings as files

        said = {name: str(found.value) for name, found in files.read(files.home_file(home)).items()}
    switch = env.get(SWITCH, "").strip().lower() or said.get("telemetry.otel", "off")
    if switch not in (*_ON, *_OFF):
        raise ConfigError(f"{SWITCH} is {switch!r}", "Set it to 1 or 0.")
    capture = env.get(CAPTURE, "").strip().lower() or said.get("telemetry.content", "off")
    return switch in _ON, capture in _CAPTURING


def _signals(env: Mapping[str, str]) -> tuple[str, ...]:
    """What of traces and metrics is sent. Raises ConfigError for an exporter or a protocol that there is not."""
    wanted: list[str] = []
    for signal in ("traces", "metrics"):
        name = f"OTEL_{signal.upper()}_EXPORTER"
        exporter = env.get(name, "").strip().lower() or "otlp"
        if exporter not in ("otlp", "none"):
            raise ConfigError(f"{name} is {exporter!r}, which Agenyx does not have", "Set it to otlp or none.")
        if exporter == "none":
            continue
        wanted.append(signal)
        for name in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
            if protocol := env.get(name, "").strip().lower():
                if protocol != "http/protobuf":
                    raise ConfigError(
                        f"{name} is {protocol!r}, and Agenyx sends by http/protobuf only",
                        f"Set {name}=http/protobuf, and the endpoint to the collector's port for it (usually 4318).",
                    )
                break
    return tuple(wanted)


def _there(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:
        return False
