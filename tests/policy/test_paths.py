"""Which names are protected from which use, in whatever spelling a file system may take for the same name."""

from __future__ import annotations

import pytest

from agenyx.policy.paths import Use, folded, known_files, protection

HOME = "/home/u/.agenyx"


def why(path: str, use: Use) -> str:
    return protection(path.encode(), "/w", HOME, use)


@pytest.mark.parametrize(
    "path",
    [
        "/w/.env", "/w/sub/.env.local", "/w/.envrc", "/w/.env.production.example.bak", "/w/deploy/id_rsa",
        "/w/deploy_ed25519", "/w/aws-credentials.json", "/w/credentials", "/w/.npmrc", "/w/.netrc", "/w/.pypirc",
        "/w/.git-credentials", "/w/auth.json", "/w/.mcp.json", "/w/certs/server.key", "/w/tls/private.pem",
        "/w/a.p12", "/w/a.PFX", "/w/vault.kdbx", "/home/u/.ssh/known_hosts", "/home/u/.ssh", "/home/u/.aws/config",
        "/home/u/.gnupg/pubring.kbx", "/home/u/.kube/config", "/home/u/.docker/config.json",
        "/home/u/.config/gh/hosts.yml", "/home/u/.config/google-chrome/Default/Cookies",
        "/home/u/.mozilla/firefox/x.default/cookies.sqlite", "/Users/u/Library/Keychains/login.keychain-db",
        "/home/u/.bash_history", "/etc/shadow", "/etc/gshadow", "/w/./a/../.env", "/w//.env", "/w/x./.ssh/y",
        "/etc/ssl/private/x", "/home/u/.agenyx/sessions/x",
    ],
)  # fmt: skip
def test_secrets_are_protected_from_every_use(path: str) -> None:
    assert why(path, "read") and why(path, "write") and why(path, "tree")


@pytest.mark.parametrize(
    "path",
    [
        "/w/.git", "/w/.git/config", "/w/.git/hooks/pre-commit", "/w/sub/.GIT/HEAD", "/w/.vscode/tasks.json",
        "/w/.idea/x.xml", "/w/.agenyx/settings.toml", "/w/.claude/settings.json", "/w/.codex/x", "/w/.gitmodules",
        "/home/u/.bashrc", "/home/u/.zshenv", "/home/u/.gitconfig",
    ],
)  # fmt: skip
def test_controls_are_asked_for_when_they_are_named_but_not_below_a_searched_folder(path: str) -> None:
    assert why(path, "read") and why(path, "write")
    assert why(path, "tree") == ""


@pytest.mark.parametrize(
    ("path", "danger"),
    [
        ("/w/package.json", "npm"),
        ("/w/web/Package.json", "npm"),
        ("/w/tests/conftest.py", "pytest"),
        ("/w/sitecustomize.py", "Python"),
        ("/w/lib/x.pth", "Python"),
        ("/w/AGENTS.md", "instructions"),
        ("/w/docs/claude.md", "instructions"),
        ("/w/.cursor/rules/x.mdc", "agent"),
        ("/w/.agents/skills/x/SKILL.md", "agent"),
        ("/w/.husky/pre-push", "hooks"),
        ("/w/.pre-commit-config.yaml", "hooks"),
        ("/w/lefthook.yml", "hooks"),
        ("/w/.github/workflows/ci.yml", "build servers"),
        ("/w/.gitlab-ci.yml", "build servers"),
        ("/w/Jenkinsfile", "build servers"),
        ("/w/.circleci/config.yml", "build servers"),
        ("/w/x.code-workspace", "editor"),
        ("/w/.devcontainer/devcontainer.json", "editors"),
        ("/w/.cargo/config.toml", "cargo"),
        ("/home/u/.config/systemd/user/x.service", "systemd"),
        ("/home/u/.config/autostart/x.desktop", "desktop"),
        ("/home/u/.config/fish/config.fish", "shell"),
        ("/Users/u/Library/LaunchAgents/x.plist", "macOS"),
        ("/var/spool/cron/crontabs/u", "clock"),
        ("/etc/cron.d/x", "clock"),
        ("/etc/crontab", "clock"),
        ("/etc/systemd/system/x.service", "systemd"),
        ("/etc/sudoers.d/x", "root"),
        ("/etc/ld.so.preload", "program"),
        ("/proc/sys/kernel/core_pattern", "system"),
        ("/sys/power/state", "system"),
        ("/home/u/.vimrc", "editor"),
    ],
)
def test_what_others_run_is_free_to_read_and_says_its_danger_before_a_change(path: str, danger: str) -> None:
    assert danger in why(path, "write")
    assert why(path, "read") == "" and why(path, "tree") == ""


@pytest.mark.parametrize(
    "path",
    [
        "/w", "/w/a.py", "/w/.env.example", "/w/.env.sample", "/w/sub/.env.template", "/w/.env.dist", "/w/env",
        "/w/.gitignore", "/w/.gitattributes", "/w/git/x", "/w/ssh/x", "/w/pyproject.toml", "/w/Makefile", "/w/setup.py",
        "/w/package-lock.json", "/w/my_conftest.py", "/w/keys.py", "/w/id_rsa.pub", "/w/certs/cacert.pem",
        "/w/.github/CODEOWNERS", "/w/keyrings/a.py", "/w/etc/hosts", "/w/config/gh/x", "/w/cron.py", "/etc/hosts",
        "/usr/share/dict/words", "/home/u/notes.txt",
        "/home/u/.agenyx-notes",
    ],
)  # fmt: skip
def test_ordinary_files_are_free(path: str) -> None:
    assert [why(path, use) for use in ("read", "write", "tree")] == ["", "", ""]


@pytest.mark.parametrize(
    "name",
    [
        ".ENV", ".Env.", ".env ", ".env..", ".\u200benv", ".\ufeffenv", ".e\u200dnv", "ID_RSA", "Id_Rsa.", ".\u017fsh",
        ".GNUPG", ".NPMRC. ", "Auth.JSON",
    ],
)  # fmt: skip
def test_spellings_that_a_file_system_may_fold_are_the_same_name(name: str) -> None:
    assert why(f"/w/sub/{name}", "tree")


def test_composed_and_decomposed_names_are_the_same() -> None:
    assert folded("Cafe\u0301") == folded("caf\u00e9") == folded("CAFÉ ")
    assert folded("...") == "..." and folded("a") == "a"


def test_code_and_published_packages_are_no_secrets_below_a_searched_folder() -> None:
    for path in (
        "/w/src/credentials.py",
        "/w/docs/credentials.md",
        "/w/node_modules/x/test/key.pem",
        "/w/.venv/lib/python3.12/site-packages/x/server.key",
    ):
        assert why(path, "tree") == "", path
        assert why(path, "read"), path


def test_a_workspace_below_a_protected_name_is_an_ordinary_one() -> None:
    for use in ("read", "write", "tree"):
        assert protection(b"/home/u/.codex/proj/a.py", "/home/u/.codex/proj", HOME, use) == ""
        assert protection(b"/home/u/.codex/proj/.env", "/home/u/.codex/proj", HOME, use)


def test_a_name_that_is_no_text_is_judged_all_the_same() -> None:
    assert protection(b"/w/\xff\xfe/.env", "/w", HOME, "tree")
    assert protection(b"/w/\xff.py", "/w", HOME, "write") == ""


def test_the_known_files_are_absolute_and_name_the_keys() -> None:
    known = known_files("/w", HOME, "/home/u")
    assert {b"/home/u/.agenyx/auth.json", b"/home/u/.ssh/*", b"/home/u/.netrc", b"/w/.git/config"} <= set(known)
    assert all(path.startswith(b"/") for path in known)
