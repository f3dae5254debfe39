"""settings.toml: what it may say, what a mistake is told, and what changing one key leaves alone."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.config import settings
from agenyx.config.settings_table import BY_NAME, KEYS, RuleText, key_of
from agenyx.core.errors import ConfigError, UsageError
from agenyx.ui.flags import FLAGS, MODES, Options


def write(folder: Path, text: str, *, workspace: bool = False) -> Path:
    path = folder / ".agenyx" / "settings.toml" if workspace else folder / "settings.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    path.chmod(0o600)
    return path


def load(home: Path, workspace: Path | None = None, *, trusted: bool = False) -> dict[str, object]:
    files = settings.load(str(home), str(workspace or home / "none"), trusted)
    return {key.name: found.value for key in KEYS if (found := files.get(key.name))}


def test_nothing_there(tmp_path: Path) -> None:
    assert load(tmp_path) == {}


def test_every_key(tmp_path: Path) -> None:
    write(
        tmp_path,
        "# mine\nprovider = 'p'\nmodel = \"m\"\neffort = 'max'\npermission_mode = 'plan'\nmax_steps = 7\n"
        "output_format = 'json'\n",
    )
    assert load(tmp_path) == {
        "provider": "p",
        "model": "m",
        "effort": "max",
        "permission_mode": "plan",
        "max_steps": 7,
        "output_format": "json",
    }


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("modle = 'x'", 1, "Did you mean model?"),
        ("\n# c\npermission-mode = 'plan'", 3, "Did you mean permission_mode?"),
        ("zzzzz = 1", 1, "agenyx config list"),
        ("\nmodel = 7", 2, "must be a text in quotes"),
        ("model = ''", 1, "must not be empty"),
        ("model = ' m'", 1, "white space"),
        ('model = "a\\u0000"', 1, "control"),
        ("effort = 'HIGH'", 1, "must be one of: none, low"),
        ("permission_mode = 'bypassPermissions'", 1, "must be one of: default, acceptEdits, plan, dontAsk"),
        ("max_steps = '7'", 1, "whole number, without quotes"),
        ("max_steps = true", 1, "whole number"),
        ("max_steps = 1.5", 1, "whole number"),
        ("max_steps = 0", 1, "from 1 to 100000"),
        ("model = 'm'\n[permisions]\nallow = []", 2, "unknown key 'permisions'"),
        ("model = 'm'\n[permissions]\nalow = []", 3, "Did you mean permissions.allow?"),
        ("[permissions]\nask = []\nallow = 'Bash(ls)'", 3, "must be a list of rules"),
        ("[permissions]\nallow = [\n 'Bash(ls)',\n [1],\n]", 2, "rules as texts in quotes"),
        ("[permissions]\nask = ['']", 2, "rules as texts in quotes"),
        ("[permissions]\nask = [{rule = 'Bash', match = []}]", 2, "unknown key 'match'"),
        ("[permissions]\nask = [{rule = 'Bash', matches = 'ls'}]", 2, "not a list of texts"),
        ("permissions.read_only_shell = 'always'", 1, "must be one of: sandboxed, ask"),
        ("[shell]\nprogram = 'zsh'", 2, "must be one of: auto, bash, sh"),
        ("permissions = 3", 1, "unknown key 'permissions'"),
        ("base_url = 'https://x'", 1, "unknown key 'base_url'"),
    ],
)
def test_mistakes_name_file_line_and_remedy(text: str, line: int, words: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path)
    assert f"{path}:{line}:" in caught.value.message
    assert words in f"{caught.value.message} {caught.value.fix}"


def test_rules_with_and_without_examples(tmp_path: Path) -> None:
    write(tmp_path, "[permissions]\nallow = ['Bash(ls)', {rule = 'Edit(src/**)', matches = ['Edit(src/a.py)']}]\n")
    wanted = (RuleText("Bash(ls)"), RuleText("Edit(src/**)", ("Edit(src/a.py)",)))
    assert load(tmp_path) == {"permissions.allow": wanted}


RULES = (RuleText("Bash(npm test)"), RuleText('Bash(echo "[x")', ("Bash(ls)",), ('Bash(echo "]")',)))


@pytest.mark.parametrize(
    "before",
    [
        "",
        "model = 'm'",
        "[permissions]\n",
        "[permissions]\nallow = ['Bash(x)']\n",
        "[permissions]\n# why\nallow = [\n  'Bash([)', # ]\n  \"]\",\n]\nask = ['Bash']\n\n[shell]\nprogram = 'sh'\n",
        "[shell]\nprogram = 'sh'\n\n[permissions]\ndeny = [ 'Read(.env)',\n]\n# end\n",
    ],
)
def test_rules_are_stored_beside_what_was_there(before: str, tmp_path: Path) -> None:
    path = write(tmp_path, before)
    was = {**load(tmp_path)}
    settings.store(str(tmp_path), BY_NAME["permissions.allow"], RULES)
    assert load(tmp_path) == {**was, "permissions.allow": RULES}
    for line in before.splitlines():
        assert not line.startswith("#") or line in path.read_text().splitlines(), "comments stay"
    settings.store(str(tmp_path), BY_NAME["permissions.allow"], None)
    was.pop("permissions.allow", None)
    assert load(tmp_path) == was


@pytest.mark.parametrize("text", ["model = ", "model = 'a'\nmodel = 'b'", "= 1", "\x00"])
def test_what_is_not_toml(text: str, tmp_path: Path) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError, match="is not TOML") as caught:
        load(tmp_path)
    assert str(path) in caught.value.message


def test_files_that_others_could_change_or_that_are_none(tmp_path: Path) -> None:
    path = write(tmp_path, "model = 'm'")
    path.chmod(0o622)
    with pytest.raises(ConfigError, match="changed by other users"):
        load(tmp_path)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ConfigError, match="not a regular file"):
        load(tmp_path)
    path.unlink()
    path.write_bytes(b"#" * (64 * 1024 + 1))
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="64 KiB"):
        load(tmp_path)
    path.write_bytes(b"# \xff")
    with pytest.raises(ConfigError, match="UTF-8"):
        load(tmp_path)


def test_a_workspace_counts_only_when_it_is_trusted_and_wins_over_the_home(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(), work.mkdir()
    write(home, "model = 'home'\nmax_steps = 5")
    write(work, "model = 'work'", workspace=True)
    assert load(home, work) == {"model": "home", "max_steps": 5}
    assert load(home, work, trusted=True) == {"model": "work", "max_steps": 5}


@pytest.mark.parametrize("key", [key.name for key in KEYS if key.ceiling == "home"])
def test_keys_that_a_workspace_may_not_set(key: str, tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(), work.mkdir()
    values = {"permission_mode": "plan", "output_format": "json"}
    write(work, f"{key} = '{values.get(key, 'x')}'", workspace=True)
    with pytest.raises(ConfigError, match=f"a workspace may not set {key}"):
        load(home, work, trusted=True)
    assert load(home, work) == {}


def test_the_table_fits_the_flags() -> None:
    by_field = {flag.field: flag for flag in FLAGS}
    options = vars(Options())
    of_lists = {"permissions.allow": "allowed_tools", "permissions.deny": "disallowed_tools"}
    for key in KEYS:
        if not key.flag:
            continue
        field = of_lists.get(key.name, key.name)
        assert options[field] == "", "an option that nobody chose is empty"
        assert key.flag in by_field[field].names
        if key.choices:
            wanted = [mode for mode in MODES if mode != "bypassPermissions"]
            assert key.choices == tuple(wanted if key.name == "permission_mode" else by_field[key.name].choices)
    assert BY_NAME["permission_mode"].ceiling == BY_NAME["provider"].ceiling == "home"


@pytest.mark.parametrize(
    ("before", "name", "value", "after"),
    [
        ("", "model", "m", 'model = "m"\n'),
        ("# top\n", "max_steps", 7, "# top\nmax_steps = 7\n"),
        ("effort = 'low'", "model", "m", "effort = 'low'\nmodel = \"m\"\n"),
        ("# a\nmodel = 'x'  # why\n# b\n", "model", "m", '# a\nmodel = "m"  # why\n# b\n'),
        ("# a\nmodel = 'x'  # why\n# b\n", "model", None, "# a\n# b\n"),
        ("model = 'x'\nmax_steps = 3\n", "model", None, "max_steps = 3\n"),
        ("max_steps = 3\n", "model", None, "max_steps = 3\n"),
        ('"model" = "x"\n', "model", "y", 'model = "y"\n'),
    ],
)
def test_changing_one_line(before: str, name: str, value: str | int | None, after: str, tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    if before:
        write(tmp_path, before)
    assert settings.store(str(tmp_path), BY_NAME[name], value) == str(path)
    assert path.read_text() == after
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_form_that_one_line_does_not_hold_is_left_alone(tmp_path: Path) -> None:
    path = write(tmp_path, 'effort = """\\\nlow"""\nmodel = "x"\n')
    with pytest.raises(ConfigError, match="not changed automatically"):
        settings.store(str(tmp_path), BY_NAME["effort"], "high")
    assert path.read_text() == 'effort = """\\\nlow"""\nmodel = "x"\n'


@given(
    st.text(
        st.characters(min_codepoint=32, exclude_categories=["Cs", "Cc", "Cf", "Zl", "Zp", "Zs", "Co", "Cn"]), min_size=1
    )
)
def test_any_text_survives_being_written(text: str) -> None:
    found = settings.check(settings.edited("# x\n", "model", text), "f")
    assert found["model"].value == text


@pytest.mark.parametrize(
    ("name", "text", "value"), [("max_steps", "12", 12), ("model", "12", "12"), ("effort", "max", "max")]
)
def test_values_from_a_command_line(name: str, text: str, value: object) -> None:
    assert settings.parse_value(BY_NAME[name], text) == value


@pytest.mark.parametrize(
    ("name", "text"),
    [("max_steps", "x"), ("max_steps", "0"), ("max_steps", "-1"), ("effort", "much"), ("model", ""), ("model", "a\n")],
)
def test_values_that_are_wrong(name: str, text: str) -> None:
    with pytest.raises(UsageError, match=name):
        settings.parse_value(BY_NAME[name], text)


def test_explaining_names_every_place_the_strongest_first(tmp_path: Path) -> None:
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir(), work.mkdir()
    path = write(home, "\nmodel = 'h'")
    inside = write(work, "model = 'w'", workspace=True)
    for trusted, said in ((True, "w"), (False, "")):
        files = settings.load(str(home), str(work), trusted)
        env = {"AGENYX_MODEL": "v"}
        rows = settings.explain("model", files, env, trusted=trusted, workspace=str(work))
        assert [row[0] for row in rows] == ["flag", "environment", "workspace", "home", "default"]
        assert rows[1] == ("environment", "AGENYX_MODEL", "v")
        assert rows[2][2] == said and str(inside) in rows[2][1]
        assert ("not trusted" in rows[2][1]) is not trusted
        assert rows[3] == ("home", f"{path}:2", "h")
    with pytest.raises(UsageError, match="unknown key"):
        settings.explain("modell", settings.Files(), {}, trusted=True, workspace="")


def test_keys_of_the_full_screen_are_text_or_lists_and_never_an_error(tmp_path: Path) -> None:
    found = settings.read(str(write(tmp_path, '[keys]\nhelp = ["f1", "f12"]\nside = ""\nfly = 3\n')))
    assert {name: one.value for name, one in found.items()} == {
        "keys.help": "f1 f12",
        "keys.side": "",
        "keys.fly": "3",
    }


def test_a_workspace_may_not_set_keys(tmp_path: Path) -> None:
    path = write(tmp_path, '[keys]\nhelp = "f12"\n')
    with pytest.raises(ConfigError, match=r"a workspace may not set keys\.help"):
        settings.read(str(path), of_workspace=True)


def test_a_key_is_stored_and_taken_away(tmp_path: Path) -> None:
    key = key_of("keys.help")
    assert key is not None
    settings.store(str(tmp_path), key, "f12")
    assert settings.read(str(tmp_path / "settings.toml"))["keys.help"].value == "f12"
    settings.store(str(tmp_path), key, None)
    assert settings.read(str(tmp_path / "settings.toml")) == {}
