"""Sessions whose workspace was moved: found again where that is certain, and said so."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenyx.app.place import is_same, place_of
from support.mock import Mock, agenyx, command_env, mock_server


@pytest.fixture(scope="module")
def mock() -> Iterator[Mock]:
    with mock_server() as running:
        yield running


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=x", "-c", "user.email=x@y")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def repository(folder: Path) -> Path:
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    commit(folder, f"first of {folder.name}")
    return folder


def commit(folder: Path, text: str) -> None:
    (folder / "a.txt").write_text(text, "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", text)


def environment(mock: Mock, tmp_path: Path) -> dict[str, str]:
    return command_env(tmp_path, OPENAI_API_KEY="k" * 20, OPENAI_BASE_URL=f"{mock.url}/v1", AGENYX_MODEL="m")


def begun(mock: Mock, work: Path, tmp_path: Path) -> str:
    mock.reset("hello", keep_bodies=True)
    done = agenyx("-p", "--output-format", "json", "one", cwd=work, env=environment(mock, tmp_path))
    return json.loads(done.stdout)["session_id"]


def said(mock: Mock) -> list[str]:
    return [m["content"] for m in json.loads(mock.bodies()[-1])["messages"] if m["role"] == "user"]


def test_a_folder_is_known_after_a_move_and_a_git_tree_after_a_copy(tmp_path: Path) -> None:
    plain, tree = tmp_path / "plain", repository(tmp_path / "tree")
    plain.mkdir()
    (tree / "sub").mkdir()
    places = {name: place_of(str(tmp_path / name)) for name in ("plain", "tree", "tree/sub")}
    commit(tree, "second")
    shutil.copytree(tree, tmp_path / "copy")
    plain.rename(tmp_path / "moved")
    assert is_same(places["plain"], str(tmp_path / "moved"))
    assert is_same(places["tree"], str(tmp_path / "copy"))
    assert is_same(places["tree/sub"], str(tmp_path / "copy" / "sub"))
    others = repository(tmp_path / "other")
    commit(others, "elsewhere")
    assert not is_same(places["tree"], str(others))
    assert not is_same(places["tree"], str(tmp_path / "copy" / "sub"))
    assert not is_same(places["plain"], str(tmp_path / "copy"))
    assert not is_same("", str(plain))
    assert place_of(str(tmp_path / "gone")) == ""


def test_a_moved_workspace_is_found_again_and_the_model_is_told(mock: Mock, tmp_path: Path) -> None:
    work, env = repository(tmp_path / "work"), environment(mock, tmp_path)
    session = begun(mock, work, tmp_path)
    moved = tmp_path / "moved"
    work.rename(moved)
    done = agenyx("-p", "--resume", session, "two", cwd=moved, env=env)
    assert done.returncode == 0, done.stderr
    assert f"{work} is gone, so this session goes on in {moved}" in done.stderr
    assert said(mock)[1] == "one"
    assert f"The workspace moved from {work} to {moved}" in said(mock)[2]
    assert said(mock)[3] == "two"
    again = agenyx("-p", "--continue", "three", cwd=moved, env=env)
    assert again.returncode == 0, again.stderr
    assert "is gone" not in again.stderr, "said once"
    assert said(mock)[-1] == "three"
    assert sum("workspace moved" in text for text in said(mock)) == 1


def test_another_folder_is_not_taken_for_the_one_that_is_gone(mock: Mock, tmp_path: Path) -> None:
    work, env = repository(tmp_path / "work"), environment(mock, tmp_path)
    session = begun(mock, work, tmp_path)
    shutil.rmtree(work)
    other = tmp_path / "other"
    other.mkdir()
    refused = agenyx("-p", "--resume", session, "two", cwd=other, env=env)
    assert refused.returncode == 1
    assert f"belongs to {work}, which no longer exists" in refused.stderr
    assert "--cwd DIRECTORY" in refused.stderr
    assert agenyx("-p", "--continue", "two", cwd=other, env=env).returncode == 2
    named = agenyx("-p", "--resume", session, "--cwd", str(other), "two", cwd=tmp_path, env=env)
    assert named.returncode == 0, named.stderr
    assert f"goes on in {other}" in named.stderr


def test_a_fork_from_elsewhere_leaves_the_session_as_it_is(mock: Mock, tmp_path: Path) -> None:
    work, env = repository(tmp_path / "work"), environment(mock, tmp_path)
    session = begun(mock, work, tmp_path)
    (transcript,) = tmp_path.rglob("transcript.jsonl")
    before = transcript.read_bytes()
    argv = ("-p", "--output-format", "json", "--resume", session, "--fork-session", "two")
    done = agenyx(*argv, cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    copy = json.loads(done.stdout)["session_id"]
    assert copy != session
    assert transcript.read_bytes() == before
    assert said(mock)[1:] == ["one", "two"]
    agenyx("-p", "--resume", session, "other", cwd=work, env=env)
    assert said(mock)[1:] == ["one", "other"]
    agenyx("-p", "--resume", copy, "three", cwd=work, env=env)
    assert said(mock)[1:] == ["one", "two", "three"]
