"""Looks at everything a run needs, and says what is wrong and what to do about it. Writes no session."""

from __future__ import annotations

import os
from collections.abc import Mapping

from agenyx.app import checks
from agenyx.app.checks import Check as Check
from agenyx.app.checks import hooks
from agenyx.app.models import Model, find_profile, open_model
from agenyx.app.roundtrip import Trip, round_trip
from agenyx.app.settings import Settings
from agenyx.config.configured import everything
from agenyx.config.environment import named
from agenyx.config.home import home_path
from agenyx.config.profiles import Profile
from agenyx.core.errors import AgenyxError
from agenyx.llm.request import Request
from agenyx.proc.spawn import Processes


async def examine(settings: Settings, env: Mapping[str, str], *, offline: bool) -> list[Check]:
    """All checks, in the order in which they are shown. `offline` sends no request to a model. Does not raise."""
    processes = Processes()
    try:
        found = [checks.version()]
        try:
            home = home_path(env)
        except AgenyxError as error:
            return [*found, Check("home", "fail", error.message, error.fix)]
        found += [checks.place(home), checks.settings(home, settings.cwd), checks.keys(env, home)]
        found += await hooks(settings, env, home)
        found += await _models(settings, env, home, processes, offline=offline)
        found += [_embedded(home), checks.sandbox(), await checks.shell(env, home, settings.cwd, processes)]
        found += await checks.programs(env, settings.cwd, processes)
        return [*found, checks.proxies(env), checks.certificates(env)]
    finally:
        await processes.close()


async def _models(
    settings: Settings, env: Mapping[str, str], home: str, processes: Processes, *, offline: bool
) -> list[Check]:
    try:
        profile = await find_profile(settings.provider, settings.base_url, env, home)
    except AgenyxError as error:
        return [Check("provider", "fail", error.message, error.fix)]
    found = [Check("provider", "ok", f"{profile.id} ({profile.type}) {_why(profile, settings, env, home)}")]
    if offline:
        known = settings.model or env.get("AGENYX_MODEL", "") or profile.model
        return [*found, Check("model", "ok", f"{known or 'not looked up'} (offline: nothing was asked)")]
    try:
        model = await open_model(settings, env, home, processes, None)
    except AgenyxError as error:
        return [*found, Check("model", "fail", error.message, error.fix)]
    try:
        effort = f", effort {model.options.effort}" if model.options.effort else ""
        found.append(Check("model", "ok", f"{model.name} at {profile.host}{effort}"))
        found += await _window(model)
        found.append(_told(model.name, await round_trip(model.provider, model.name, model.options)))
    finally:
        await model.close()
    return found


async def _window(model: Model) -> list[Check]:
    """What a server says of the window that it gives the model, where it has to be asked."""
    if model.prepare is None or model.profile.type == "local":
        return []
    told = await model.prepare(Request(model.name, model.options, (), (), ()))
    return [Check("window", "warn" if told.level == "warning" else "ok", told.text, told.fix)]


def _why(profile: Profile, settings: Settings, env: Mapping[str, str], home: str) -> str:
    """Why this one, and what else is there."""
    if settings.base_url:
        return "by --base-url"
    if profile.origin == "auth.json":
        count = len(everything(env, home))
        how = "asked for by name" if settings.provider else "the default" if profile.default else "the only profile"
        return f"from auth.json: {how}{f', of {count}' if count > 1 else ''}"
    if settings.provider:
        return f"asked for by name ({profile.origin})"
    others = [row.key_variable for row in named(env) if row.id != profile.id]
    unused = f"; not used: {', '.join(others)}" if others else ""
    if profile.origin.isupper():
        return f"because {profile.origin} is set{unused}"
    return f"because nothing is configured and it is {profile.origin}"


def _told(model: str, trip: Trip) -> Check:
    if trip.failure is not None:
        return Check("round trip", "fail", trip.failure.message, trip.failure.fix)
    times = f"first event after {trip.first:.2f} s, {trip.total:.2f} s in all"
    if not trip.called:
        fix = "Use a model that can call tools; with a local server, look at its options for tools and chat templates."
        return Check("round trip", "fail", f"{model} did not call the tool that it was asked to call; {times}", fix)
    if not trip.parsed:
        fix = "Use a stronger model: this one would fail at most tasks."
        return Check("round trip", "fail", f"{model} called the tool with wrong arguments; {times}", fix)
    streamed = f"streamed in {trip.pieces} pieces" if trip.pieces > 1 else "in one piece"
    text = f"call parsed, {'result taken up' if trip.answered else 'no answer after it'}, {streamed}; {times}"
    return Check("round trip", "ok" if trip.answered else "warn", text)


def _embedded(home: str) -> Check:
    from agenyx.llm.local import paths, slots
    from agenyx.llm.local.server import window_of

    found = paths.installed(home)
    if found is None:
        return Check("local model", "ok", "not installed; for offline use: agenyx local install")
    if paths.runtime_missing():
        return Check(
            "local model", "warn", f"{found.name} is there, its runtime is not", "Run: pip install 'agenyx[local]'"
        )
    try:
        names = os.listdir(paths.slots(home))
    except OSError:
        names = []
    keys = [name.removesuffix(".slot") for name in names if name.endswith(".slot")]
    count = sum(os.path.exists(os.path.join(paths.slots(home), slots.file_name(key) + ".sha256")) for key in keys)
    warm = f"warm start: {count} saved prompt{'' if count == 1 else 's'}" if count else "the first start will be cold"
    window = window_of(home, found)
    return Check("local model", "ok", f"{found.name}, {found.size / 1e9:.1f} GB, window {window:,}; {warm}")
