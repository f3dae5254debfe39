"""The demo: a real, small, offline model fixes a seeded bug in a real git repository, with the installed Agenyx.

Every attempt starts from a fresh repository in a temporary directory. Approvals are granted by a flag there, and only
there. What counts is the project's own test, run again on the changed code with the test file as it was. Without the
model the demo fails and says what to do; it falls back to nothing.

    python demo/demo.py                       one run of the demo task, at most three attempts
    python demo/demo.py --task slug --runs 10 how often another task succeeds
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TASKS = Path(__file__).resolve().parent / "tasks"
DEMO = "average"  # the prompts of Agenyx were tried out on this one; the others were only measured
ATTEMPT_SECONDS = 900
AGENYX = (sys.executable, "-m", "agenyx")


def main() -> int:
    options = _options()
    if not (model := _model()):
        return 1
    print(f"Model:  {model['name']}, licence {model['licence'] or 'unknown'}, a small offline model")
    print(f"        {model['file']}")
    print(f"        {model['size']:,} bytes, sha256 {model['sha256']}")
    won = [_run(options.task, options.attempts, number, options.runs) for number in range(1, options.runs + 1)]
    if options.runs > 1:
        first = sum(attempts == 1 for attempts in won)
        some = sum(attempts > 0 for attempts in won)
        print(
            f"\n{options.task}: {some} of {options.runs} runs succeeded, {first} of them at the first attempt "
            f"({' '.join(str(attempts or '-') for attempts in won)})"
        )
    return 0 if all(won) else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Let the embedded model fix a seeded bug.")
    names = sorted(path.name for path in TASKS.iterdir() if path.is_dir())
    parser.add_argument("--task", choices=names, default=DEMO)
    parser.add_argument("--runs", type=int, default=1, help="how often, to measure the success rate")
    parser.add_argument("--attempts", type=int, default=3, help="at most so many attempts in one run")
    options = parser.parse_args()
    if options.runs < 1 or options.attempts < 1:
        parser.error("--runs and --attempts start at 1")
    return options


def _model() -> dict[str, Any] | None:
    """What `agenyx local status` says about the model in use; None, with a message, when there is none."""
    done = subprocess.run([*AGENYX, "local", "status", "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"demo: Agenyx does not run here:\n{done.stderr}", file=sys.stderr)
        return None
    status = json.loads(done.stdout)
    if not status["runtime"]:
        print("demo: the model's runtime is missing. Run: pip install 'agenyx[local]'", file=sys.stderr)
        return None
    if not status["models"]:
        print("demo: the local model is not installed. Run: agenyx local install", file=sys.stderr)
        return None
    return status["models"][0]


def _run(task: str, attempts: int, number: int, runs: int) -> int:
    """The number of the attempt that succeeded, 0 when none did."""
    for attempt in range(1, attempts + 1):
        of = f"run {number} of {runs}, " if runs > 1 else ""
        print(f"\n=== {task}: {of}attempt {attempt} of at most {attempts}", flush=True)
        with tempfile.TemporaryDirectory(prefix="agenyx-demo-") as folder:
            if _attempt(TASKS / task, Path(folder) / "repository"):
                return attempt
    return 0


def _attempt(task: Path, repository: Path) -> bool:
    shutil.copytree(task / "project", repository)
    _git(repository, "init", "--quiet", "--initial-branch=main")
    _git(repository, "add", ".")
    _git(repository, "commit", "--quiet", "--message", "A small project")
    print("--- the test before", flush=True)
    if _tests(repository):
        print("demo: the test passes already, so there is nothing to show", file=sys.stderr)
        return False

    prompt = (task / "prompt.txt").read_text("utf-8").strip()
    print(f"--- agenyx -p {prompt!r}", flush=True)
    argv = (
        *(*AGENYX, "-p", "--provider", "local", "--output-format", "json", "--verbose"),
        *("--dangerously-skip-permissions", prompt),
    )
    started = time.monotonic()
    try:
        done = subprocess.run(
            argv,
            cwd=repository,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=ATTEMPT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        print(f"demo: Agenyx was not done after {ATTEMPT_SECONDS} seconds")
        return False
    _report(done.stdout, done.returncode, time.monotonic() - started)

    print("--- git diff", flush=True)
    subprocess.run(["git", "--no-pager", "diff"], cwd=repository, env=_environment(), check=True)
    print("--- the test after", flush=True)
    untouched = all(
        (repository / path.name).is_file() and (repository / path.name).read_bytes() == path.read_bytes()
        for path in (task / "project").glob("test_*.py")
    )
    passed = _tests(_checked_copy(task, repository))
    if not untouched:
        print("The test file was changed: that does not count.")
    print(f"=== {'fixed' if passed and untouched else 'not fixed'}", flush=True)
    return passed and untouched


def _report(text: str, code: int, seconds: float) -> None:
    """Print what the JSON result says: answer, tokens as the server counted them, time."""
    try:
        result: dict[str, Any] = json.loads(text)
    except ValueError:
        print(f"--- no result, exit code {code}\n{text}")
        return
    usage: dict[str, int | None] = result.get("usage") or {}
    fresh, cached, out = (usage.get(name) or 0 for name in ("input_tokens", "cache_read_input_tokens", "output_tokens"))
    print(f"--- {result.get('subtype')}, {result.get('num_turns')} steps, exit code {code}: {result.get('result')}")
    print(
        f"    tokens: {fresh:,} in, {cached:,} of them cached, {out:,} out; "
        f"{(result.get('duration_ms') or 0) / 1000:.1f} s in the turn, {seconds:.1f} s with the start"
    )


def _checked_copy(task: Path, repository: Path) -> Path:
    """The project as it was, with the code as it is now: nothing else that the model left can help the test."""
    copy = repository.parent / "checked"
    shutil.copytree(task / "project", copy)
    for path in copy.iterdir():
        changed = repository / path.name
        if not path.name.startswith("test_") and changed.is_file():
            shutil.copyfile(changed, path)
    return copy


def _tests(folder: Path) -> bool:
    argv = [sys.executable, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "--rootdir", str(folder)]
    return subprocess.run(argv, cwd=folder, env=_environment(), check=False).returncode == 0


def _git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=Agenyx demo", "-c", "user.email=demo@example.invalid", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=folder, env=_environment(), check=True)


def _environment() -> dict[str, str]:
    """Ours, with this Python first on the PATH, so that the model's `python -m pytest` is the one with pytest."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env["PATH"] = os.pathsep.join((os.path.dirname(sys.executable), env.get("PATH", os.defpath)))
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    return env


if __name__ == "__main__":
    sys.exit(main())
