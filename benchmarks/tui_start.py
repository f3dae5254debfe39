#!/usr/bin/env python3
"""The full screen beside other agents: start to a usable prompt, rest over a minute, and 20,000 pieces of an answer.

    python benchmarks/tui_start.py [--only agenyx,codex] [--runs 5] [--idle 60] [--markdown]

Each program on a pseudo-terminal of its own with a scripted model server; peers are those that are installed in
$BENCH_PEERS (~/.cache/agent-peers). One run of all of them after another, so that figures can be compared: quote their
ratios, not times of two runs. What is measured, for the program with all its children:

  first     until anything stands on the screen
  usable    until a character that is typed stands in the prompt, drawn by the program itself (the terminal echoes none)
  idle      CPU seconds in a minute without a key, and resident memory at its end
  stream    CPU seconds for one answer of 20,000 pieces, from the Enter until nothing moves any more

Needs the development tools and no network.
"""
# ruff: noqa: T201, TID251

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import termios
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.mock import Mock, mock_server
from support.pty_screen import Screen

ROOT = Path(os.environ.get("BENCH_PEERS", Path.home() / ".cache" / "agent-peers"))
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
PROBE = "q"
PATH = f"{ROOT}/bin24:{os.environ['PATH']}"
KEY = "sk-bench-0123456789abcdef"


def npm(package: str) -> str:
    return str(ROOT / "npm" / package / "node_modules" / ".bin" / package)


def peers(work: str, url: str) -> dict[str, dict[str, Any]]:
    """How each is started: argv, environment, and files below its home."""
    openai = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": f"{url}/v1", "AGENYX_MODEL": "mock-model"}
    codex = (
        'model = "mock-model"\nmodel_provider = "mock"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n"
        f'[projects."{work}"]\ntrust_level = "trusted"\n'
        f'[model_providers.mock]\nname = "mock"\nbase_url = "{url}/v1"\nenv_key = "MOCK_KEY"\nwire_api = "responses"\n'
    )
    claude = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        "projects": {work: {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    mock = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "x", "models": [{"id": "mock-model"}]}
    return {
        "agenyx": {"argv": [sys.executable, "-m", "agenyx"], "env": openai},
        "agenyx --plain": {"argv": [sys.executable, "-m", "agenyx", "--plain"], "env": openai},
        "codex": {"argv": [npm("codex")], "env": {"MOCK_KEY": "x"}, "files": {".codex/config.toml": codex}},
        "pi": {
            "argv": [npm("pi"), "--offline", "--provider", "mock", "--model", "mock-model"],
            "env": {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"},
            "files": {".pi/agent/models.json": json.dumps({"providers": {"mock": mock}})},
        },
        "claude": {
            "argv": [npm("claude"), "--model", "claude-sonnet-4-5"],
            "env": {
                "ANTHROPIC_BASE_URL": url,
                "ANTHROPIC_API_KEY": KEY,
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            },
            "files": {".claude.json": json.dumps(claude)},
        },
    }


class Quiet(Screen):
    """Shows nothing while `blind`: what is written is thrown away, which costs this program little."""

    blind = False

    def read(self) -> None:
        if not self.blind:
            super().read()
            return
        import select

        while select.select([self.master], [], [], 0)[0]:
            try:
                if not os.read(self.master, 1 << 16):
                    return
            except OSError:
                return

    @property
    def echoes(self) -> bool:
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)


def tree(pid: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if name.isdecimal():
            try:
                stat = Path(f"/proc/{name}/stat").read_text("utf-8").rpartition(")")[2].split()
            except OSError:
                continue
            children.setdefault(int(stat[1]), []).append(int(name))
    found, left = list[int](), [pid]
    while left:
        one = left.pop()
        found.append(one)
        left += children.get(one, [])
    return found


def cpu(pid: int) -> float:
    """Seconds that the tree has used, with children that were waited for."""
    total = 0
    for one in tree(pid):
        try:
            stat = Path(f"/proc/{one}/stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(int(stat[at]) for at in (11, 12, 13, 14))
    return total / TICKS


def rss(pid: int) -> float:
    """Resident megabytes of the tree; pages that are shared count each time."""
    total = 0
    for one in tree(pid):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text("utf-8").split()[1])
        except OSError:
            continue
    return total * PAGE / 1e6


def started(peer: dict[str, Any], work: Path, home: Path) -> tuple[Quiet, float, float]:
    """The running program, and seconds until its first sign and until it takes a character."""
    for name, text in peer.get("files", {}).items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text, "utf-8")
    env = {"PATH": PATH, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "xterm-256color", **peer["env"]}
    begun = time.monotonic()
    screen = Quiet(peer["argv"], work, env, 40, 120)
    first, typed = 0.0, begun
    while True:
        now = time.monotonic()
        rows = "".join(screen.rows())
        if not first and rows.strip():
            first = now - begun
        if not screen.echoes:
            if any(_typed(row) for row in screen.rows()):
                return screen, first, now - begun
            if now - typed > 0.1:
                typed = now
                os.write(screen.master, PROBE.encode())
        if now - begun > 60:
            raise TimeoutError("\n".join(screen.rows()))
        time.sleep(0.003)


def _typed(row: str) -> bool:
    """Whether a row is a prompt with nothing but the probe in it, whatever frame it has."""
    return row.strip(" │|>❯›▌█_┃").replace("\xa0", "").strip(" │|>❯›▌█_┃").replace(PROBE, "") == "" and PROBE in row


def measured(peer: dict[str, Any], mock: Mock, runs: int, idle: float) -> dict[str, Any]:
    found: dict[str, Any] = {"first": [], "usable": []}
    for number in range(runs):
        with tempfile.TemporaryDirectory() as folder:
            work, home = Path(peer["work"]), Path(folder)
            screen, first, usable = started(peer, work, home)
            with screen:
                found["first"].append(first)
                found["usable"].append(usable)
                if number == runs - 1:
                    found |= rest(screen, mock, idle)
                for pid in reversed(tree(screen.process.pid)):
                    if pid != screen.process.pid:
                        os.kill(pid, 9)
    return found


def rest(screen: Quiet, mock: Mock, idle: float) -> dict[str, float]:
    """After it stands: a minute without a key, then one long answer."""
    pid = screen.process.pid
    settle(screen, pid)
    screen.blind = True
    before, end = cpu(pid), time.monotonic() + idle
    while time.monotonic() < end:
        screen.read()
        time.sleep(0.05)
    resting = (cpu(pid) - before) * 60 / idle
    memory = rss(pid)
    mock.reset("long-20000")
    before = cpu(pid)
    screen.type(" go on")
    time.sleep(0.5)
    screen.type("\r")
    end = time.monotonic() + 120
    while not mock.log() and time.monotonic() < end:
        screen.read()
        time.sleep(0.05)
    settle(screen, pid)
    return {"idle": resting, "rss": memory, "stream": cpu(pid) - before, "after": rss(pid)}


def settle(screen: Quiet, pid: int) -> None:
    """Until the program has done next to nothing for two seconds."""
    end, quiet, last = time.monotonic() + 180, time.monotonic(), cpu(pid)
    while time.monotonic() - quiet < 2 and time.monotonic() < end:
        screen.read()
        time.sleep(0.1)
        now = cpu(pid)
        if now - last > 0.02:
            quiet, last = time.monotonic(), now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--idle", type=float, default=60.0)
    parser.add_argument("--markdown", action="store_true")
    given = parser.parse_args()
    table: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as work, mock_server() as mock:
        for name, peer in peers(work, mock.url).items():
            if given.only and name not in given.only.split(","):
                continue
            if not Path(peer["argv"][0]).exists():
                print(f"{name}: not installed", file=sys.stderr)
                continue
            mock.reset("hello")
            try:
                table[name] = measured(peer | {"work": work}, mock, given.runs, given.idle)
            except (TimeoutError, AssertionError, OSError) as error:
                print(f"{name}: {error}", file=sys.stderr)
    report(table, markdown=given.markdown)


def report(table: dict[str, dict[str, Any]], *, markdown: bool) -> None:
    ours = table.get("agenyx")
    rows: list[list[str]] = [
        ["", "first frame", "usable prompt", "idle CPU", "memory", "20,000 pieces", "memory after"]
    ]
    for name, found in table.items():
        cells = [name]
        for key, unit in (
            ("first", "ms"),
            ("usable", "ms"),
            ("idle", "%"),
            ("rss", "MB"),
            ("stream", "s"),
            ("after", "MB"),
        ):
            value, base = (one(found, key), one(ours, key) if ours else 0.0)
            shown = value * 1000 if unit == "ms" else value / 60 * 100 if unit == "%" else value
            ratio = f" ({value / base:.1f}x)" if base and name != "agenyx" else ""
            cells.append(f"{shown:.{2 if unit in ('%', 's') else 0}f} {unit}{ratio}")
        rows.append(cells)
    for at, row in enumerate(rows):
        print(f"| {' | '.join(row)} |" if markdown else "  ".join(cell.ljust(22) for cell in row))
        if markdown and at == 0:
            print(f"|{'---|' * len(row)}")


def one(found: dict[str, Any], key: str) -> float:
    value = found.get(key, 0.0)
    return statistics.median(value) if isinstance(value, list) else value


if __name__ == "__main__":
    main()
