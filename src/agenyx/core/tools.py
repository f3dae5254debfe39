"""What a tool is to the model (ToolSpec) and what a call would do to the world (Effects)."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

ToolSet = Literal["full", "core", "small"]


class ToolSpec(Struct, frozen=True):
    """A tool as the model and the rules see it. `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: dict[str, Any]
    aliases: tuple[str, ...] = ()
    origin: Literal["builtin", "mcp", "host"] = "builtin"
    sets: tuple[ToolSet, ...] = ("full",)


class PathRef(Struct, frozen=True):
    """One path that a call touches.

    `shown` is scrubbed text for people and rules; `real` the resolved absolute path, bytes as the system has them;
    `root` the workspace root that holds it, None when it lies outside every root; `identity` (device, inode) where it
    exists; `protected` says why it is protected, `problem` why it must not be used at all; both may be empty.
    """

    shown: str
    real: bytes
    root: str | None
    identity: tuple[int, int] | None = None
    protected: str = ""
    problem: str = ""


class Observed(Struct, frozen=True):
    """The content of a file as a tool saw or left it: absolute real path and SHA-256 in hex."""

    path: str
    sha256: str


class Redirect(Struct, frozen=True):
    """One redirection of a command; `target` is None where it is not static."""

    op: str
    target: str | None


Kind = Literal["reads", "writes", "removes", "network", "runs", "unknown"]


class Concern(Struct, frozen=True):
    """What no rule may wave through. `part` is the path or program it speaks about.

    `refuse`: never done, in any mode. `always`: asked in every mode. `danger`: asked in every mode but bypass.
    """

    level: Literal["refuse", "always", "danger"]
    text: str
    part: str = ""


class Command(Struct, frozen=True):
    """One simple command of a script; a word that is not static is None.

    `cwd` is the directory it starts in: absolute, or relative to where the shell stands ("" is there), None when not
    known. `inside` tells that the command before it starts it (`timeout 5 make`, `find -exec`), not the script.
    What follows is the judgement of its words: `kinds` says what it does, () that it does nothing by itself (`cd`,
    `true`, a wrapper), "runs" that it executes code that is not in its words, "unknown" that anything may happen.
    `why` says what about it is not seen, such as an unknown option, "" if all is: no wildcard rule covers it then.
    `globs` holds the patterns of words that are None only because bash expands them, with their place in `argv`.
    `prefix` is what a rule for all its kind may begin with ("git commit"), "" where only the exact words may be
    offered, "-" where no rule may be: interpreters, wrappers, what removes.
    """

    argv: tuple[str | None, ...]
    assigns: tuple[str, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    cwd: str | None = ""
    inside: bool = False
    kinds: tuple[Kind, ...] = ("unknown",)
    reads: tuple[PathRef, ...] = ()
    writes: tuple[PathRef, ...] = ()
    removes: tuple[PathRef, ...] = ()
    hosts: tuple[str, ...] = ()
    why: str = ""
    concerns: tuple[Concern, ...] = ()
    globs: tuple[tuple[int, str], ...] = ()
    prefix: str = ""

    @property
    def looks(self) -> bool:
        """Whether it is known to change and contact nothing."""
        return not self.why and set(self.kinds) <= {"reads"} and not (self.writes or self.removes or self.hosts)


class Option(Struct, frozen=True):
    """One answer to choose. `value` is what goes on record for it, `label` where that is ""."""

    label: str
    description: str = ""
    value: str = ""


class Question(Struct, frozen=True):
    """What a person is asked. With `many` they may choose several of the options."""

    text: str
    options: tuple[Option, ...]
    header: str = ""
    many: bool = False


class Inquiry(Struct, frozen=True):
    """What a call asks a person. Their answer becomes the argument of this name in the arguments of their decision.

    For `answers` it maps the text of each question to what was chosen or said; for `mode` it is the value of the one
    that was chosen, and other words are a no that says what to change. `unanswered` is told where nobody can be asked.
    """

    questions: tuple[Question, ...]
    argument: Literal["answers", "mode"]
    unanswered: str


class Effects(Struct, frozen=True):
    """What a call would do. Everything that judges, shows or schedules a call derives from this value.

    Paths and hosts include those of `commands`. A non-empty `opaque` says why not everything is seen: such a call is
    allowed unasked only by a rule for the tool's own name (one without commands), or for exactly this script.
    `parallel` calls only look, so they may run together and again after a crash. `preview` is a diff or command for
    people. `script` is the shell text that `commands` come from, "" where there is none. `inquiry` is what is asked
    where the call is there to `interact`.
    """

    reads: tuple[PathRef, ...] = ()
    writes: tuple[PathRef, ...] = ()
    removes: tuple[PathRef, ...] = ()
    hosts: tuple[str, ...] = ()
    commands: tuple[Command, ...] = ()
    interact: bool = False
    opaque: str = ""
    parallel: bool = False
    preview: str = ""
    concerns: tuple[Concern, ...] = ()
    script: str = ""
    inquiry: Inquiry | None = None

    @property
    def acts(self) -> bool:
        """Whether anything outside the agent may change."""
        unseen = not all(command.looks for command in self.commands)
        return bool(self.writes or self.removes or self.hosts or unseen or self.opaque)
