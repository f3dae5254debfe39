"""`agenyx local`: its command line and its help. What the commands do stands in local_install and local_models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from agenyx.config.home import home_path
from agenyx.core.errors import UsageError
from agenyx.core.tty import safe
from agenyx.llm.local import paths
from agenyx.ui.standard import show

SMALL = (
    "It is a small offline model: good to try Agenyx and for small, clear tasks without a network.\n"
    "It gets many real tasks wrong. For real work connect a bigger model (OPENAI_API_KEY, OPENAI_BASE_URL)."
)
HELP = f"""\
Usage: agenyx local install [--yes] [--gguf PATH | --url URL] [--sha256 HEX]
       agenyx local list [--json]
       agenyx local use NAME | PATH.gguf
       agenyx local status [--json]
       agenyx local remove [NAME] [--yes]

The embedded model runs on this machine, in a process of its own that only this machine can reach.
{SMALL}

  install         fetch {paths.DEFAULT.title}, {paths.DEFAULT.size / 1e9:.1f} GB, licence {paths.DEFAULT.licence}
    --gguf PATH   use a GGUF model file of yours instead
    --url URL     fetch a GGUF model file from an https address instead
    --sha256 HEX  refuse the file if its SHA-256 is another one
    --yes         do not ask
  list            the installed models, their size and context window, and which one is in use
    --json        for programs
  use             make an installed model, or a GGUF file of yours, the one in use
  status          what is installed and where
    --json        for programs
  remove          remove a model: the one in use, or the one named
    --yes         do not ask

An interrupted install goes on where it stopped. The runtime is an extra: pip install 'agenyx[local]'
Then: agenyx --provider local. More of one command: agenyx local use --help
"""
HELPS = {
    "install": """\
Usage: agenyx local install [--yes] [--gguf PATH | --url URL] [--sha256 HEX]

Fetches the default model, or a GGUF file of yours, and makes it the model in use. What was fetched is checked by
SHA-256; an interrupted install goes on where it stopped.

Examples:
  agenyx local install --yes
  agenyx local install --gguf ~/models/some-model.gguf
  agenyx local install --url https://host/some-model.gguf --sha256 HEX
""",
    "list": """\
Usage: agenyx local list [--json]

Shows the installed models, the one in use marked with *, and installations that did not end. WINDOW is the context
window in tokens with which Agenyx serves the model.
""",
    "use": """\
Usage: agenyx local use NAME | PATH.gguf

Makes a model the one in use, from the next start on. NAME is an installed one (agenyx local list). A GGUF file is
installed first: it gets a second name in the home, or is copied where that cannot be.

Examples:
  agenyx local use qwen2.5-coder-1.5b-instruct-q4_k_m
  agenyx local use ~/models/some-model.gguf
""",
    "status": """\
Usage: agenyx local status [--json]

Shows the runtime, and each installed model with its file, SHA-256 and source.
""",
    "remove": """\
Usage: agenyx local remove [NAME] [--yes]

Removes an installed model: the one in use, or the one named. A file of yours that was installed stays where it is.
""",
}
ALLOWED = {
    "install": ("--yes", "--gguf", "--url", "--sha256"),
    "list": ("--json",),
    "use": (),
    "status": ("--json",),
    "remove": ("--yes",),
}
WORDS = {"use": (1, 1), "remove": (0, 1)}  # the least and the most names behind a command


class Flags(Struct, frozen=True):
    """The command line after `agenyx local`. `help_of` is the command whose help is wanted, "" for all."""

    command: str = "help"
    yes: bool = False
    as_json: bool = False
    gguf: str = ""
    url: str = ""
    sha256: str = ""
    name: str = ""
    help_of: str = ""


def parse(args: Sequence[str]) -> Flags:
    """Raises UsageError."""
    if not args or args[0] in ("help", "--help", "-h"):
        return Flags()
    command, rest = args[0], list(args[1:])
    if command not in ALLOWED:
        raise UsageError(f"unknown command: agenyx local {safe(command)}", f"Known: {', '.join(ALLOWED)}.")
    if "--help" in rest or "-h" in rest:
        return Flags(help_of=command)
    values: dict[str, str] = {}
    words: list[str] = []
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if not name.startswith("-"):
            words.append(name + equals + value)
            continue
        if name == "-y":
            name = "--yes"
        if name not in ALLOWED[command]:
            raise UsageError(f"agenyx local {command} has no {safe(name)}", f"See: agenyx local {command} --help")
        if name in ("--yes", "--json"):
            if equals:
                raise UsageError(f"{name} takes no value", f"See: agenyx local {command} --help")
            value = "1"
        elif not equals:
            value = rest.pop(0) if rest else ""
        if not value:
            raise UsageError(f"{name} needs a value", f"See: agenyx local {command} --help")
        values[name] = value
    least, most = WORDS.get(command, (0, 0))
    if not least <= len(words) <= most or "" in words:
        wants = "needs the name of one model" if most else "takes no name"
        raise UsageError(f"agenyx local {command} {wants}", f"See: agenyx local {command} --help")
    return _checked(
        Flags(
            command,
            "--yes" in values,
            "--json" in values,
            values.get("--gguf", ""),
            values.get("--url", ""),
            values.get("--sha256", ""),
            "".join(words),
        )
    )


def _checked(flags: Flags) -> Flags:
    if flags.gguf and flags.url:
        raise UsageError("--gguf and --url exclude each other", "Leave one of them out.")
    if flags.sha256 and not (len(flags.sha256) == 64 and all(c in "0123456789abcdefABCDEF" for c in flags.sha256)):
        raise UsageError("--sha256 is not 64 hex digits", "Copy it from where the file is published.")
    if flags.sha256 and not (flags.gguf or flags.url):
        raise UsageError("--sha256 goes with --gguf or --url", "The default model has its own.")
    return flags


def main(args: Sequence[str], env: Mapping[str, str]) -> int:
    """The exit code. Raises AgenyxError for the caller to show."""
    flags = parse(args)
    if flags.command == "help":
        show(HELPS.get(flags.help_of, HELP))
        return 0
    from agenyx.ui import local_models

    home = home_path(env)
    match flags.command:
        case "install":
            from agenyx.ui.local_install import install

            return install(flags.gguf, flags.url, flags.sha256, home, env, yes=flags.yes)
        case "list":
            return local_models.show_list(home, as_json=flags.as_json)
        case "use":
            return local_models.use(flags.name, home, env)
        case "status":
            return local_models.show_status(home, as_json=flags.as_json)
        case _:
            return local_models.remove(flags.name, home, yes=flags.yes)
