"""The agent as a program makes it: who answers, what it may do, which tools it has; and its runs and sessions."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, cast, overload

from msgspec.structs import replace

from agenyx.api.approving import Approvals, Asked
from agenyx.api.delivery import Delivery
from agenyx.api.hooks import Hooks, callbacks
from agenyx.api.own import check_clashes
from agenyx.api.result import Result
from agenyx.api.run import Run
from agenyx.api.session import Paths, Session
from agenyx.api.setup import Setup, Source, environment, mode_of, profile_of, rules_of, split_servers
from agenyx.api.tool import Tool
from agenyx.app.settings import Settings
from agenyx.config.profiles import Profile
from agenyx.core import json
from agenyx.core.errors import UsageError
from agenyx.core.verdict import Mode
from agenyx.llm.request import Provider

D = TypeVar("D")
T = TypeVar("T")


class Agent(Generic[D]):
    """Holds no state of a run, so one may have many at once; making one contacts and starts nothing."""

    def __init__(
        self,
        *,
        workspace: str | os.PathLike[str] | None = None,
        provider: str | Profile | Provider = "",
        model: str = "",
        base_url: str = "",
        effort: str = "",
        mode: Mode | None = None,
        allow: Sequence[str] = (),
        ask: Sequence[str] = (),
        deny: Sequence[str] = (),
        allow_bypass: bool = False,
        approver: Asked | None = None,
        approvals: Approvals | None = None,
        tools: Sequence[Tool[..., Any, D]] = (),
        builtin_tools: Sequence[str] | None = None,
        deps: D = None,
        hooks: Hooks | None = None,
        mcp_servers: Mapping[str, object] | None = None,
        agents: Mapping[str, Mapping[str, Any]] | None = None,
        system_prompt: str | None = None,
        append_system_prompt: str = "",
        max_steps: int = 0,
        max_usd: float = 0.0,
        max_tokens: int = 0,
        add_dirs: Sequence[str | os.PathLike[str]] = (),
        trust: bool = False,
        sources: Sequence[Source] | None = None,
        persist: bool = True,
        home: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
        secrets: Sequence[str] = (),
    ) -> None:
        """All of it is optional; what is left out is as it is for the command line.

        Who answers. `provider` is the id of a configured one, a Profile, or an object that is a Provider; `model`,
        `base_url` and `effort` are as the flags of these names. `env` stands for the environment, `home` for
        AGENYX_HOME, `secrets` are values to mask beside the keys that are known.

        What it may do. `workspace` is the directory, the current one unless given, `add_dirs` are further ones. `mode`
        is a permission mode (bypassPermissions needs `allow_bypass`); `allow`, `ask` and `deny` are rules such as
        "Bash(git status:*)" or the name of a tool. `approver` is a function that answers calls which need an approval;
        without one such a call is left open and the run ends with it in `Result.waiting`. `approvals` says so
        explicitly: "ask", "defer" or "deny". `hooks` are functions by event. `trust` lets instructions, settings and
        other files of the workspace act, which else have to be trusted before; `sources` says whose files count at all.

        What it has. `tools` are functions made by `@tool`, `deps` is what they get in their ToolContext;
        `builtin_tools` names those of ours to offer, None for all. `mcp_servers` are servers by name: an object of the
        `mcp` package, an async function that answers messages, or a mapping with a command to start. `agents` are
        subagents by name. `system_prompt` stands in place of the built-in instructions, `append_system_prompt` behind
        all of them.

        Limits. `max_steps` are responses of the model in one turn, `max_usd` and `max_tokens` are of a session. With
        `persist` off nothing is stored.

        Raises UsageError or ConfigError.
        """
        check_clashes(tools)
        environ = environment(env, home)
        config, _ = split_servers(mcp_servers or {})
        how: Approvals = approvals or ("ask" if approver else "defer")
        if how == "ask" and approver is None:
            raise UsageError('approvals="ask" needs an approver', "Give approver=, a function that answers.")
        given = profile_of(provider)
        settings = Settings(
            cwd=os.path.abspath(os.fspath(workspace) if workspace is not None else os.curdir),
            placed=workspace is not None,
            provider=given if isinstance(given, str) else "",
            model=model,
            base_url=base_url,
            effort=effort,
            mode=mode_of(mode, allow_bypass),
            mode_given=mode is not None,
            unsafe=allow_bypass,
            rules=rules_of(allow, ask, deny),
            max_steps=max_steps,
            max_usd=max_usd,
            max_tokens=max_tokens,
            persist=persist,
            trust=trust,
            sources=None if sources is None else tuple(sources),
            mcp_config=config,
            agents=json.encode(agents).decode() if agents else "",
            system_prompt=system_prompt,
            append_system=append_system_prompt,
            tools=None if builtin_tools is None else tuple(builtin_tools),
            add_dirs=tuple(os.fspath(one) for one in add_dirs),
        )
        self._setup = Setup(
            settings,
            environ,
            given,
            tuple(tools),
            callbacks(hooks or {}),
            approver,
            how,
            deps,
            tuple(value for value in secrets if value),
            dict(mcp_servers or {}),
        )
        self._explicit = approvals == "defer"

    def session(
        self, *, resume: str = "", continue_: bool = False, fork: bool = False, rebind: bool = False
    ) -> Session:
        """A conversation, to be opened with `async with`: a new one; with `resume` the one of that id or title, with
        `continue_` the last one of the workspace. With `fork` it goes on as a copy, with `rebind` also with another
        provider than it had. Raises UsageError."""
        return Session(self._setup, self._settings(resume, continue_, fork, rebind), Delivery())

    @overload
    def run(
        self, prompt: str, *, images: Paths = (), resume: str = "", continue_: bool = False, fork: bool = False
    ) -> Run[None]: ...

    @overload
    def run(
        self,
        prompt: str,
        *,
        output: type[T],
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Run[T]: ...

    @overload
    def run(
        self,
        prompt: str,
        *,
        output: Mapping[str, Any],
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Run[Any]: ...

    def run(
        self,
        prompt: str,
        *,
        output: Any = None,
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Run[Any]:
        """One prompt in a session of its own, or in the one that is named, which is closed when the run is over.

        Await it for its Result, or iterate over it for its events and read `Run.result` behind the loop.
        """
        if self._explicit and not self._setup.settings.persist:
            raise UsageError(
                'approvals="defer" leaves calls open, and without persist nobody could answer them later',
                "Use a session, or store it.",
            )
        settings, delivery = self._settings(resume, continue_, fork, False), Delivery()

        async def whole() -> Result[Any]:
            async with Session(self._setup, settings, delivery, alone=True) as session:
                return await session.prompt(prompt, output=output, images=images).inline()

        return Run(cast("Any", whole), delivery)

    @overload
    def run_sync(
        self, prompt: str, *, images: Paths = (), resume: str = "", continue_: bool = False, fork: bool = False
    ) -> Result[None]: ...

    @overload
    def run_sync(
        self,
        prompt: str,
        *,
        output: type[T],
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Result[T]: ...

    @overload
    def run_sync(
        self,
        prompt: str,
        *,
        output: Mapping[str, Any],
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Result[Any]: ...

    def run_sync(
        self,
        prompt: str,
        *,
        output: Any = None,
        images: Paths = (),
        resume: str = "",
        continue_: bool = False,
        fork: bool = False,
    ) -> Result[Any]:
        """As `run`, for a program without an event loop. Ctrl+C stops it in an orderly way. Raises UsageError within a
        running loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            pass
        else:
            raise UsageError("an event loop runs here already", "Write: await agent.run(...)")

        async def whole() -> Result[Any]:
            return await self.run(prompt, output=output, images=images, resume=resume, continue_=continue_, fork=fork)

        return asyncio.run(whole())

    def _settings(self, resume: str, continue_: bool, fork: bool, rebind: bool) -> Settings:
        if resume and continue_:
            raise UsageError("resume= and continue_= exclude each other", "Leave one of the two out.")
        if fork and not (resume or continue_):
            raise UsageError("fork= needs a session to copy", "Name it with resume=, or give continue_=True.")
        return replace(self._setup.settings, resume=resume, continue_=continue_, fork=fork, rebind=rebind)
