"""What a session needs on record before a prompt: all at first, later only what changed since the last one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agenyx.agent.notices import environment, folders_changed, mode_changed, restored, rewound, workspace_moved
from agenyx.agent.prompt import make_prefix
from agenyx.app.compose import Parts
from agenyx.app.guidance import Guidance
from agenyx.app.head import renewed, specs
from agenyx.app.place import place_of
from agenyx.app.release import version
from agenyx.app.sight import binding_of
from agenyx.app.terms import terms_of
from agenyx.core.events import PrefixBroke
from agenyx.core.messages import User
from agenyx.core.verdict import Mode
from agenyx.session import records
from agenyx.workspace import git
from agenyx.workspace.names import show

if TYPE_CHECKING:
    from agenyx.app.mcp import Mcp
    from agenyx.app.skills import Library


class Preamble:
    """`told_mode` is the mode that the model takes for granted."""

    def __init__(self, parts: Parts, guidance: Guidance) -> None:
        self._parts, self._guidance, self._source = parts, guidance, parts.source
        state, settings = parts.source.session.state, parts.source.settings
        self.told_mode: Mode = state.terms.mode if state.entries else settings.mode

    def __call__(self, mode: Mode, library: Library | None, mcp: Mcp | None) -> list[records.Body]:
        """The records, in order; breaks of the prefix are told as they are found."""
        parts, source, emit = self._parts, self._source, self._parts.emit
        settings, root, model, state = source.settings, source.root, source.model, source.session.state
        bodies = list[records.Body]()
        binding = binding_of(source, model)
        before, rebound = state.binding, False
        if state.opened is None or state.opened.workspace != root.path:
            place = place_of(root.path)
            bodies.append(records.Opened(source.session.id, root.path, version(), place=place))
        moved = before is not None and replace(before, rebound=False, sees=binding.sees) != binding
        if before is None or (not moved and before.sees != binding.sees):
            bodies.append(binding)
        elif moved:
            was, now = before.model, model.name
            if before.profile != model.profile.id or before.fingerprint != model.profile.fingerprint(was):
                rebound = settings.rebind
                was, now = f"{was} of {before.profile}", f"{now} of {model.profile.id}"
            emit(PrefixBroke(f"the model changed from {was} to {now}"))
            bodies.append(replace(binding, rebound=rebound))
        if state.prefix is None:
            system = self._guidance.system(library)
            bodies.append(make_prefix(model.options, system, specs(parts.registry, parts.shell)))
        else:
            given = settings.tool_set or settings.retool or settings.tools is not None
            chosen = specs(parts.registry, parts.shell) if given or rebound else None
            chosen = mcp.head(state.prefix) or chosen if mcp is not None else chosen
            head = renewed(state.prefix, model.options, chosen, moved=moved)
            if head is not None:
                emit(PrefixBroke(head.cause))
                bodies.append(head)
        bodies += self.terms(mode)
        added = tuple(show(one.real) for one in root.beside)
        if state.folders != added:
            bodies.append(records.Folders(added))
            if state.entries:
                bodies.append(records.Prompt(folders_changed(added)))
        if not state.entries or state.prefix is None:  # an imported session has entries, and was told nothing yet
            bodies.append(records.Prompt(self._environment(mode, added)))
        elif "plan" in {self.told_mode, mode} and self.told_mode != mode and not state.rewound:
            bodies.append(records.Prompt(mode_changed(mode)))
        self.told_mode = mode
        if state.opened is not None and state.opened.workspace != root.path:
            bodies.append(records.Prompt(workspace_moved(state.opened.workspace, root.path)))
        if state.rewound:
            emit(PrefixBroke("the conversation goes on from another point"))
            bodies.append(records.Prompt(rewound(mode)))
        if state.restored:
            bodies.append(records.Prompt(restored(state.restored, root.path)))
        return bodies

    def terms(self, mode: Mode) -> list[records.Body]:
        """The mode and the rules of flags, where they are not what stands on record."""
        terms = terms_of(mode, self._parts.boundary.policy)
        return [] if terms == self._source.session.state.terms else [terms]

    def _environment(self, mode: Mode, folders: tuple[str, ...]) -> User:
        root = self._source.root
        facts, uname = git.facts(root.path), os.uname()
        words = f"branch {facts.branch or '(detached)'}, HEAD {facts.head[:12] or '(no commit)'}" if facts else ""
        platform = f"{uname.sysname} {uname.machine}"
        return environment(self._source.session.clock(), platform, root.path, words, mode, folders)
