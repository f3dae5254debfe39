"""Agents of a program over a scripted model: real tools, files, processes and store, in a folder of the test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenyx import Agent
from agenyx.core.messages import Step
from agenyx.llm.request import Request
from support.scripted import Scripted, Turn

KEY = "sk-live-0123456789abcdefghij"


def closed(folder: Path) -> dict[str, str]:
    """An environment without anything of the machine's, with one secret in it."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder / "person"), "LANG": "C.UTF-8", "DEMO_API_KEY": KEY}


def place(folder: Path) -> Path:
    """The workspace of the test."""
    work = folder / "work"
    for one in (work, folder / "person"):
        one.mkdir(exist_ok=True)
    return work


def agent(folder: Path, script: Sequence[Turn] | Any, **options: Any) -> Agent[Any]:
    """An agent whose model plays the script, in `folder`/work with a home of its own."""
    provider = Scripted(script) if isinstance(script, Sequence) else script
    given = {"workspace": place(folder), "home": folder / "home", "env": closed(folder), "provider": provider}
    return Agent(**{**given, **options})


def results(request: Request) -> list[str]:
    """The results that a request carries, in their order."""
    return [result.text for entry in request.entries if isinstance(entry, Step) for result in entry.results]


def statuses(request: Request) -> list[str]:
    return [result.status for entry in request.entries if isinstance(entry, Step) for result in entry.results]


def transcript(folder: Path, session: str) -> str:
    """The records of a session as they stand on disk."""
    (path,) = (folder / "home" / "sessions").glob(f"*/{session}/transcript.jsonl")
    return path.read_text("utf-8")
