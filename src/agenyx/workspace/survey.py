"""What kind of project a folder holds, by the names of its files and targets: bounded, no link followed, nothing run.

Only names come out, and only well-formed ones: what stands in the files is for the model to read under the rules.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import cast

from msgspec import Struct

from agenyx.core import json
from agenyx.workspace import files
from agenyx.workspace.names import show

_ENTRIES = 5_000
_DEPTH = 6
_FILE_BYTES = 256 << 10
_MOST = 30  # of each kind
_PASSED = frozenset(
    {
        "node_modules", "vendor", "dist", "build", "target", "out", "__pycache__", "venv", "env", "site-packages",
        "third_party", "coverage", "bower_components",
    }
)  # fmt: skip
_LANGUAGES = {
    ".py": "Python", ".ts": "TypeScript", ".tsx": "TypeScript", ".js": "JavaScript", ".jsx": "JavaScript",
    ".mjs": "JavaScript", ".go": "Go", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP",
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".swift": "Swift", ".scala": "Scala",
    ".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell", ".lua": "Lua", ".sh": "Shell", ".sql": "SQL", ".vue": "Vue",
    ".svelte": "Svelte", ".dart": "Dart", ".zig": "Zig", ".ml": "OCaml", ".clj": "Clojure", ".tf": "Terraform",
}  # fmt: skip
_BUILD = (
    "pyproject.toml", "setup.py", "requirements.txt", "tox.ini", "noxfile.py", "package.json", "tsconfig.json",
    "Makefile", "GNUmakefile", "justfile", "Justfile", "Taskfile.yml", "Cargo.toml", "go.mod", "pom.xml",
    "build.gradle", "build.gradle.kts", "CMakeLists.txt", "meson.build", "Gemfile", "Rakefile", "composer.json",
    "mix.exs", "Dockerfile", "docker-compose.yml", "compose.yaml", "flake.nix",
    ".pre-commit-config.yaml", ".editorconfig",
)  # fmt: skip
_GUIDES = (
    "AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", ".cursorrules", ".windsurfrules",
    ".clinerules", ".github/copilot-instructions.md", ".cursor/rules", ".claude/rules", ".agenyx/rules",
    "CONVENTIONS.md",
)  # fmt: skip
_DOCS = ("README.md", "README.rst", "README", "CONTRIBUTING.md", "docs", "ARCHITECTURE.md", "DEVELOPMENT.md")
_CI = (".github/workflows", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", "azure-pipelines.yml")
_RUNNERS = {"pnpm-lock.yaml": "pnpm", "yarn.lock": "yarn", "bun.lock": "bun", "bun.lockb": "bun"}
_TOOLS = ("pytest", "ruff", "mypy", "pyright", "black", "tox", "hatch", "poetry", "uv", "nox")
_TARGET = re.compile(r"^([A-Za-z][A-Za-z0-9_-]{0,40})\s*:(?![=:])", re.MULTILINE)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9:_./-]{0,60}")


class Survey(Struct, frozen=True):
    """Names relative to the folder. `languages` with their number of files, the most first; `commands` as one types
    them; `guides` are instructions for agents. `partial`: the folder was too large to be looked through."""

    languages: tuple[tuple[str, int], ...]
    build: tuple[str, ...]
    commands: tuple[str, ...]
    guides: tuple[str, ...]
    docs: tuple[str, ...]
    ci: tuple[str, ...]
    folders: tuple[str, ...]
    partial: bool


def survey(folder: str) -> Survey:
    """Look at a real path."""
    counted, partial = _languages(folder)
    build = _there(folder, _BUILD)
    try:
        listed, _ = files.entries(os.fsencode(folder), (), folder, _ENTRIES)
    except files.FileProblem:
        listed = []
    tops = sorted(show(one.name) for one in listed if one.folder and not one.link and not one.name.startswith(b"."))
    return Survey(counted, build, _commands(folder, build), _there(folder, _GUIDES), _there(folder, _DOCS),
                  _there(folder, _CI), tuple(tops[:_MOST]), partial)  # fmt: skip


def _there(folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name for name in names if os.path.lexists(os.path.join(folder, name)))


def _languages(folder: str) -> tuple[tuple[tuple[str, int], ...], bool]:
    counts, seen, waiting = Counter[str](), 0, [(folder, 0)]
    while waiting:
        place, depth = waiting.pop(0)
        try:
            with os.scandir(place) as scan:
                for entry in scan:
                    seen += 1
                    if seen > _ENTRIES:
                        return _counted(counts), True
                    if entry.is_dir(follow_symlinks=False):
                        nested = os.path.lexists(os.path.join(entry.path, ".git"))
                        if not (nested or entry.name.startswith(".") or entry.name in _PASSED) and depth < _DEPTH:
                            waiting.append((entry.path, depth + 1))
                    elif language := _LANGUAGES.get(os.path.splitext(entry.name)[1].lower()):
                        counts[language] += 1
        except OSError:
            continue
    return _counted(counts), False


def _counted(counts: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))[:8]


def _commands(folder: str, build: tuple[str, ...]) -> tuple[str, ...]:
    found: list[str] = []
    for name, words in (("Makefile", "make"), ("GNUmakefile", "make"), ("justfile", "just"), ("Justfile", "just")):
        if name in build:
            found += [f"{words} {target}" for target in dict.fromkeys(_TARGET.findall(_text(folder, name)))][:_MOST]
    if "package.json" in build:
        runner = next((runner for lock, runner in _RUNNERS.items() if _there(folder, (lock,))), "npm")
        found += [f"{runner} run {script}" for script in _scripts(folder)][:_MOST]
    if "pyproject.toml" in build:
        text = _text(folder, "pyproject.toml")
        found += [tool for tool in _TOOLS if f"[tool.{tool}" in text]
    if "Cargo.toml" in build:
        found += ["cargo build", "cargo test"]
    if "go.mod" in build:
        found += ["go build ./...", "go test ./..."]
    return tuple(found)


def _scripts(folder: str) -> list[str]:
    try:
        package = json.decode(_text(folder, "package.json"))
    except json.JsonError:
        return []
    scripts = cast("dict[str, object]", package).get("scripts") if isinstance(package, dict) else None
    if not isinstance(scripts, dict):
        return []
    return [name for name in cast("dict[str, object]", scripts) if _NAME.fullmatch(name)]


def _text(folder: str, name: str) -> str:
    try:
        data = files.read(os.fsencode(folder), (os.fsencode(name),), name, _FILE_BYTES).data
    except files.FileProblem:
        return ""
    return data.decode("utf-8", "replace")
