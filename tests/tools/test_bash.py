from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from agenyx.core.limits import SHELL_CHARS
from agenyx.proc.environment import child_env
from agenyx.proc.spawn import Processes
from agenyx.shell.system import Shell
from agenyx.tools.bash import Bash, BashArgs
from agenyx.tools.registry import parse_args
from agenyx.tools.spec import Context, Outcome, describe
from agenyx.workspace.root import Root

TOOL = Bash()
T = TypeVar("T")


@pytest.fixture
def session(tmp_path):
    """Run a coroutine function with a context; everything it started is ended after it."""
    (tmp_path / "work").mkdir()

    def run(body: Callable[[Context], Awaitable[T]], **fields: Any) -> T:
        async def main() -> T:
            processes = Processes()
            root = Root(str(tmp_path / "work"))
            shell = Shell(processes, root.path, str(tmp_path / "state"), child_env(dict(os.environ)))
            fields.setdefault("output", lambda _: None)
            try:
                async with asyncio.timeout(50):
                    return await body(Context(root, {}, shell, processes, **fields))
            finally:
                await processes.close()

        return asyncio.run(main())

    return run


@pytest.fixture
def call(session):
    """Call the tool with JSON arguments; gives the outcome and what was shown live."""

    def run(args: str, **fields: Any) -> tuple[Outcome, bytes]:
        shown = bytearray()
        outcome = session(lambda ctx: TOOL.run(parse_args(TOOL, args), ctx), output=shown.extend, **fields)
        return outcome, bytes(shown)

    return run


@pytest.fixture
def project(session):
    return lambda command: session(lambda ctx: TOOL.project(BashArgs(command), ctx))


def said(outcome: Outcome) -> str:
    return "".join(getattr(block, "text", "") for block in outcome.content)


@pytest.mark.parametrize(
    ("command", "status", "text"),
    [
        ("echo hi; echo there >&2", "ok", "hi\nthere"),
        ("true", "ok", "(no output)"),
        ("false", "error", "(no output)\n[exit code 1]"),
        ("echo no; exit 3", "error", "no\n[exit code 3]"),
        ("kill -KILL $$", "error", "(no output)\n[killed by SIGKILL]"),
        ("printf '\\\\377\\\\000ok'", "ok", "\ufffd\x00ok"),
    ],
)
def test_what_the_model_reads(call, command, status, text):
    outcome, shown = call(f'{{"command": "{command}"}}')
    assert (outcome.status, said(outcome)) == (status, text)
    assert bool(shown) == ("(no output)" not in text)


def test_directory_and_undone_cd(call, tmp_path):
    (tmp_path / "work" / "sub").mkdir()
    call('{"command": "cd sub"}')
    outcome, _ = call('{"command": "pwd; cd /"}')
    assert said(outcome).startswith(f"{tmp_path}/work/sub\n[/ is outside the workspace")
    assert outcome.status == "ok"


def test_timeout_keeps_what_was_printed(call):
    outcome, shown = call('{"command": "echo begun; sleep 600", "timeout": 1500}')
    assert outcome.status == "timed_out"
    assert said(outcome).startswith("begun\n[timed out after 1500 ms") and shown == b"begun\n"


def test_what_runs_on_is_told(call):
    outcome, _ = call('{"command": "sleep 600 >/dev/null & echo $!"}')
    pid = said(outcome).split("\n")[0]
    assert outcome.status == "ok" and f"[still running in the background: {pid}." in said(outcome)


def test_long_output_keeps_both_ends_and_the_whole_is_on_disk(call, tmp_path):
    spill = tmp_path / "spill"
    outcome, shown = call('{"command": "seq 1 100000; exit 2"}', spill=str(spill))
    text = said(outcome)
    whole = "".join(f"{n}\n" for n in range(1, 100001)).encode()
    assert spill.read_bytes() == whole == shown
    assert outcome.spill == str(spill) and outcome.status == "error"
    assert len(text) <= SHELL_CHARS
    assert text.startswith("1\n2\n3\n") and text.endswith("\n99999\n100000\n[exit code 2]")
    head, mark, tail = text.partition("\n[… ")
    omitted, _, rest = tail.partition(" bytes omitted; the whole output: ")
    assert mark and rest.startswith(f"{spill}]\n")
    shown_tail = rest.removeprefix(f"{spill}]\n").removesuffix("[exit code 2]")
    assert len(head) + int(omitted) + len(shown_tail) == len(whole)


def test_long_output_names_the_call_where_the_model_can_page(call, tmp_path):
    outcome, _ = call('{"command": "seq 1 100000"}', spill=str(tmp_path / "spill"), call="call_7")
    assert "bytes omitted; the whole output: ToolResultRead with tool_use_id call_7]" in said(outcome)
    assert outcome.spill == str(tmp_path / "spill")


def test_without_jobs_nothing_goes_to_the_background(call):
    outcome, _ = call('{"command": "ls", "run_in_background": true}')
    assert outcome.status == "error" and "without run_in_background" in said(outcome)


def test_small_results_for_small_models_and_no_spill(call):
    outcome, _ = call('{"command": "seq 1 100000"}', result_chars=2000)
    assert len(said(outcome)) <= 2000 and " bytes omitted]" in said(outcome) and outcome.spill is None


@pytest.mark.parametrize("offset", range(4))
def test_cut_output_holds_whole_characters(call, offset):
    outcome, _ = call(f'{{"command": "printf {"x" * offset}.; yes 🙂 | head -n 20000 | tr -d \\"\\\\n\\""}}')
    assert " bytes omitted" in said(outcome)
    assert "\ufffd" not in said(outcome)


def test_what_cannot_run_is_an_error_result(call):
    outcome, _ = call('{"command": "' + "x" * 200_000 + '"}')
    assert outcome.status == "error" and "was not run" in said(outcome) and "longer than" in said(outcome)
    outcome, _ = call('{"command": "echo a\\u0000b"}')
    assert outcome.status == "error" and "NUL" in said(outcome)


def test_effects_show_the_parts(project):
    effects = project("sudo rm -rf x | tee y")
    assert [command.argv for command in effects.commands] == [
        ("sudo", "rm", "-rf", "x"),
        ("rm", "-rf", "x"),
        ("tee", "y"),
    ]
    assert [command.inside for command in effects.commands] == [False, True, False]
    assert [ref.shown for ref in effects.removes] == ["x"] and [ref.shown for ref in effects.writes] == ["y"]
    assert effects.script == "sudo rm -rf x | tee y" and effects.opaque == ""
    assert effects.preview == "sudo rm -rf x | tee y" and effects.acts and not effects.parallel
    assert "only when it runs" in project("$X").opaque


def test_projecting_runs_nothing(project, tmp_path):
    project("touch hit; $(touch hit) `touch hit`")
    assert list((tmp_path / "work").iterdir()) == []


def test_arguments():
    assert parse_args(TOOL, '{"command": "ls"}').timeout == 120_000
    for bad in ("{}", '{"command": ""}', '{"command": "ls", "timeout": 0}', '{"command": "ls", "timeout": 600001}'):
        with pytest.raises(ValueError):
            parse_args(TOOL, bad)
    with pytest.raises(ValueError):
        parse_args(TOOL, '{"command": "ls", "unknown": 1}')


def test_description_is_short():
    spec = describe(TOOL)
    assert len(spec.description.encode()) < 1000
    assert set(spec.schema["properties"]) == {"command", "timeout", "description", "run_in_background"}
    small = describe(TOOL, "small")
    assert len(small.description) < 200 and set(small.schema["properties"]) == {"command"}
