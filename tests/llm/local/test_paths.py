"""Which model is installed, as the files say."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from agenyx.llm.local import paths
from agenyx.llm.local.cores import threads

Put = Callable[..., paths.Installed]


def test_the_last_installed_model_is_in_use(home: str, put_model: Put) -> None:
    assert paths.installed(home) is None
    put_model("old", at=1.0)
    put_model("new", at=3.0)
    put_model("middle", at=2.0)
    assert [model.name for model in paths.all_installed(home)] == ["new", "middle", "old"]
    found = paths.installed(home)
    assert found is not None and found.name == "new"


def test_a_manifest_counts_only_with_its_whole_file(home: str, put_model: Put) -> None:
    model = put_model("cut")
    Path(model.file(home)).write_bytes(b"GG")
    assert paths.installed(home) is None
    Path(model.file(home)).unlink()
    assert paths.installed(home) is None


def test_other_files_are_passed_over(home: str, put_model: Put) -> None:
    put_model("good")
    folder = Path(paths.models(home))
    (folder / "broken.json").write_bytes(b'{"name": "bro')
    (folder / "array.json").write_bytes(b"[]")
    # A manifest that names another file must not make that file a model.
    (folder / "evil.json").write_bytes((folder / "good.json").read_bytes().replace(b"good", b"../x"))
    assert [model.name for model in paths.all_installed(home)] == ["good"]


def test_looking_for_a_model_imports_nothing_heavy(home: str) -> None:
    code = (
        "import sys; from agenyx.llm.local import paths; paths.installed(sys.argv[1])\n"
        "print(sorted({'asyncio','http.client','urllib.request','zipfile','hashlib','subprocess'} & set(sys.modules)))"
    )
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, msgspec; print(sorted(sys.modules))"], capture_output=True, text=True
    )
    seen = subprocess.run([sys.executable, "-c", code, home], capture_output=True, text=True, check=True)
    extra = [name for name in eval(seen.stdout) if f"'{name}'" not in bare.stdout]
    assert extra == []


def test_there_is_always_a_thread() -> None:
    assert threads() >= 1
