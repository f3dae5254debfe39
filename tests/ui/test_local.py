"""`agenyx local`: what a person reads and types."""

from __future__ import annotations

import io
import json
import os
import struct
from pathlib import Path
from typing import Any

import pytest

from agenyx.core.errors import AgenyxError, UsageError
from agenyx.llm.local import paths
from agenyx.llm.local.gguf import trained_window
from agenyx.llm.local.sources import Checking, Fetching, Turned
from agenyx.ui.local import Flags, main, parse
from agenyx.ui.local_progress import Progress

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A home of its own, the runtime in place, and no terminal to ask."""
    monkeypatch.setattr(paths, "runtime_missing", lambda: False)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    return {**os.environ, "AGENYX_HOME": str(tmp_path / "home")}


@pytest.fixture
def gguf(tmp_path: Path) -> str:
    path = tmp_path / "Own Model.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00weights")
    return str(path)


def test_the_bare_command_teaches(env: dict[str, str], capsys: Capture) -> None:
    assert main([], env) == 0
    bare = capsys.readouterr().out
    assert main(["--help"], env) == main(["install", "-h"], env) == 0
    assert "agenyx local install [--yes]" in bare and "small offline model" in bare
    assert "1.1 GB" in bare and "Apache-2.0" in bare and "pip install 'agenyx[local]'" in bare
    assert max(map(len, bare.splitlines())) <= 110


def test_help_needs_no_home(capsys: Capture) -> None:
    assert main([], {"AGENYX_HOME": "not/absolute"}) == 0


def test_flags_are_read() -> None:
    assert parse(["install", "-y", "--gguf", "x"]) == Flags("install", yes=True, gguf="x")
    assert parse(["install", "--url=https://h/x", f"--sha256={'A' * 64}"]).url == "https://h/x"
    assert parse(["status", "--json"]).as_json


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["instal"], "unknown command: agenyx local instal"),
        (["status", "--yes"], "has no --yes"),
        (["install", "--gguf"], "--gguf needs a value"),
        (["install", "--yes=no"], "takes no value"),
        (["install", "--gguf", "a", "--url", "b"], "exclude each other"),
        (["install", "--gguf", "a", "--sha256", "abc"], "64 hex digits"),
        (["install", "--sha256", "a" * 64], "goes with"),
    ],
)
def test_wrong_flags_are_explained(args: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says) as caught:
        parse(args)
    assert caught.value.fix


def test_nobody_to_ask_means_no(env: dict[str, str], capsys: Capture) -> None:
    with pytest.raises(UsageError, match="no terminal to ask"):
        main(["install"], env)
    asked = capsys.readouterr().err
    assert "1,117 MB" in asked and "licence Apache-2.0" in asked and paths.DEFAULT.sha256 in asked
    assert "small offline model" in asked
    assert not os.path.exists(env["AGENYX_HOME"])


@pytest.mark.parametrize("answer", ["n\n", "\n", "", "whatever\n"])
def test_any_answer_but_yes_means_no(
    env: dict[str, str], gguf: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Person(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Person(answer))
    with pytest.raises(AgenyxError, match="nothing was changed"):
        main(["install", "--gguf", gguf], env)
    monkeypatch.setattr("sys.stdin", Person("Yes\n"))
    assert main(["install", "--gguf", gguf], env) == 0


def test_a_file_of_ones_own_from_install_to_remove(env: dict[str, str], gguf: str, capsys: Capture) -> None:
    assert main(["install", "--gguf", gguf, "--yes"], env) == 0
    out = capsys.readouterr().out
    assert "own-model.gguf" in out and "15 bytes, sha256 " in out and "agenyx --provider local" in out
    assert "Copyright" not in out

    assert main(["status"], env) == 0
    assert "own-model (in use)" in capsys.readouterr().out
    assert main(["status", "--json"], env) == 0
    status: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert status["in_use"] == "own-model" and status["runtime"] is True
    (model,) = status["models"]
    assert model["size"] == 15 and model["licence"] is None and model["source"] == os.path.realpath(gguf)

    with pytest.raises(UsageError, match="no terminal"):
        main(["remove"], env)
    assert main(["remove", "--yes"], env) == 0
    assert os.path.exists(gguf)
    capsys.readouterr()
    assert main(["status"], env) == 0
    assert "run: agenyx local install" in capsys.readouterr().out
    with pytest.raises(AgenyxError, match="no local model is installed"):
        main(["remove", "--yes"], env)


def test_a_relative_path_is_taken_from_where_the_person_is(
    env: dict[str, str], gguf: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(os.path.dirname(gguf))
    assert main(["install", "--gguf", os.path.basename(gguf), "--yes"], env) == 0


def test_a_missing_runtime_is_told_first(env: dict[str, str], gguf: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "runtime_missing", lambda: True)
    with pytest.raises(AgenyxError) as caught:
        main(["install", "--gguf", gguf, "--yes"], env)
    assert "pip install 'agenyx[local]'" in caught.value.fix
    assert not os.path.exists(env["AGENYX_HOME"])


def test_names_of_files_cannot_draw_on_the_terminal(env: dict[str, str], capsys: Capture) -> None:
    with pytest.raises(AgenyxError):
        main(["install", "--yes", "--gguf", "/none/\x1b[31mred.gguf"], env)
    captured = capsys.readouterr()
    assert "\x1b" not in captured.err + captured.out


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_progress_is_a_line_every_tenth() -> None:
    out = io.StringIO()
    progress = Progress(out)
    for done in range(1001):
        progress.show(Fetching(done * 1_000_000, 1_000_000_000))
    progress.end()
    lines = out.getvalue().splitlines()
    assert len(lines) == 11 and lines[0] == "Fetching 0 of 1,000 MB" and lines[-1] == "Fetching 1,000 of 1,000 MB"


def test_on_a_terminal_progress_is_a_bar_that_ends_full() -> None:
    out = Screen()
    progress = Progress(out)
    progress.show(Fetching(0, 300_000_000))
    progress.show(Fetching(300_000_000, 300_000_000))
    progress.show(Checking(300_000_000, 300_000_000))
    progress.show(Turned("pip is\x1b[2J gone", "https://h/x"))
    text = out.getvalue()
    assert "\r" in text and f"[{'#' * 30}]" in text and "MB/s" in text
    assert text.index("Fetching") < text.index("\n") < text.index("Checking")
    assert text.endswith("Trying https://h/x\n") and "\x1b[2J" not in text


def test_without_a_total_there_is_no_bar() -> None:
    out = Screen()
    Progress(out).show(Fetching(5_000_000, 0))
    assert "Fetching 5 MB" in out.getvalue() and "[#" not in out.getvalue()


def gguf_of(path: Path, context: int) -> str:
    """A GGUF file whose head says what its model was made for, as far as we read."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    pairs = [
        text("general.architecture") + struct.pack("<I", 8) + text("tiny"),
        text("tiny.rope.scale") + struct.pack("<If", 6, 1.0),
        text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("bc"),
        text("tokenizer.scores") + struct.pack("<IIQ", 9, 6, 3) + bytes(12),
        text("tiny.context_length") + struct.pack("<II", 4, context),
    ]
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs))
    return str(path)


def listed(env: dict[str, str], capsys: Capture) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["list", "--json"], env) == 0
    return json.loads(capsys.readouterr().out)


def test_list_and_use(env: dict[str, str], tmp_path: Path, capsys: Capture) -> None:
    assert main(["list"], env) == 0
    assert "agenyx local install" in capsys.readouterr().out
    assert main(["use", gguf_of(tmp_path / "Short.gguf", 2048)], env) == 0
    assert "short is in use, with a window of 2,048 tokens" in capsys.readouterr().out
    assert main(["install", "--yes", "--gguf", gguf_of(tmp_path / "long.gguf", 1 << 20)], env) == 0
    capsys.readouterr()
    assert main(["list"], env) == 0
    head, *rows = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "SIZE", "WINDOW", "LICENCE"]
    assert [row.split()[:2] for row in rows] == [["*", "long"], ["short", "0"]]
    assert "8,192" in rows[0], "no more than we serve, whatever the model was made for"
    assert main(["use", "Short"], env) == 0
    found = listed(env, capsys)
    assert found["in_use"] == "short"
    assert {model["name"]: model["window"] for model in found["models"]} == {"long": 8192, "short": 2048}
    assert main(["status"], env) == 0
    assert "short (in use)" in capsys.readouterr().out


def test_what_was_installed_last_is_in_use_again(env: dict[str, str], tmp_path: Path, capsys: Capture) -> None:
    for name in ("one", "two"):
        main(["use", gguf_of(tmp_path / f"{name}.gguf", 4096)], env)
    main(["use", "one"], env)
    main(["install", "--yes", "--gguf", gguf_of(tmp_path / "three.gguf", 4096)], env)
    assert listed(env, capsys)["in_use"] == "three"
    main(["remove", "three", "--yes"], env)
    assert "two is in use" in capsys.readouterr().out
    main(["remove", "one", "--yes"], env)
    assert [model["name"] for model in listed(env, capsys)["models"]] == ["two"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["use"], "needs the name of one model"),
        (["use", "a", "b"], "needs the name of one model"),
        (["list", "all"], "takes no name"),
        (["use", "nothing"], "no local model is called nothing"),
        (["remove", "nothing", "--yes"], "no local model is called nothing"),
        (["remove", "../models/x", "--yes"], "no local model is called"),
        (["use", "none.gguf"], "there is no file none.gguf|there is no file /"),
    ],
)
def test_names_that_mean_nothing(args: list[str], says: str, env: dict[str, str]) -> None:
    with pytest.raises(AgenyxError, match=says) as caught:
        main(args, env)
    assert caught.value.fix


def test_a_file_that_is_no_model_changes_nothing(env: dict[str, str], gguf: str, tmp_path: Path) -> None:
    main(["use", gguf], env)
    other = tmp_path / "text.gguf"
    other.write_text("not a model", "utf-8")
    with pytest.raises(AgenyxError, match="is not a GGUF file"):
        main(["use", str(other)], env)
    found = paths.installed(env["AGENYX_HOME"])
    assert found is not None and found.name == "own-model"


def test_an_unfinished_installation_is_listed_and_removed(env: dict[str, str], capsys: Capture) -> None:
    folder = Path(paths.models(env["AGENYX_HOME"]))
    folder.mkdir(parents=True)
    (folder / "half.gguf.partial").write_bytes(b"GGUF" + bytes(2_000_000))
    assert listed(env, capsys)["unfinished"] == [{"name": "half", "size": 2_000_004}]
    assert main(["list"], env) == 0
    assert "Unfinished: half, 2 MB" in capsys.readouterr().out
    assert main(["remove", "half", "--yes"], env) == 0
    assert listed(env, capsys)["unfinished"] == []


@pytest.mark.parametrize("command", ["install", "list", "use", "status", "remove"])
def test_each_command_has_its_help(command: str, capsys: Capture) -> None:
    assert main([command, "--help"], {"AGENYX_HOME": "not/absolute"}) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: agenyx local {command}") and max(map(len, out.splitlines())) <= 120


def test_a_head_that_is_cut_or_lies_is_no_window(tmp_path: Path) -> None:
    whole = Path(gguf_of(tmp_path / "m.gguf", 4096)).read_bytes()
    assert trained_window(str(tmp_path / "m.gguf")) == 4096
    for size in range(len(whole)):
        (tmp_path / "cut.gguf").write_bytes(whole[:size])
        assert trained_window(str(tmp_path / "cut.gguf")) is None
    (tmp_path / "odd.gguf").write_bytes(whole.replace(struct.pack("<II", 4, 4096), struct.pack("<II", 99, 4096)))
    assert trained_window(str(tmp_path / "odd.gguf")) is None
    assert trained_window(str(tmp_path / "none.gguf")) is None
