"""The steps from nothing to a model that answers. Every step can be left, and each error leads on to another try."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping

from agenyx.app import login
from agenyx.config.environment import BY_ID, Row, named
from agenyx.config.profiles import LOCAL_ID, Profile
from agenyx.core.errors import AgenyxError
from agenyx.llm.local import install as work
from agenyx.llm.local import paths
from agenyx.llm.local.sources import Checking, Event, Fetching, FromIndex, Turned
from agenyx.proc.spawn import Processes
from agenyx.ui.tui.first_run.port import Choice, Ready, Shows, Stopped

NAMES = {
    "openai": "OpenAI",
    "anthropic": "Anthropic",
    "azure": "Azure OpenAI",
    "openrouter": "OpenRouter",
    "deepseek": "DeepSeek",
    "moonshot": "Moonshot",
    "mistral": "Mistral",
    "groq": "Groq",
}
SERVERS = {"ollama": "Ollama", "llamacpp": "llama.cpp", "lmstudio": "LM Studio", "vllm": "vLLM"}
NONE = "No model is set up yet. Choose where answers come from; Esc leaves it for later."
ANY = "Choose where answers come from."
_SMALL = "works offline; good for a first try and small tasks, wrong in many real ones"


class Flow:
    """One run through the steps. `processes` starts what fetches the embedded model."""

    def __init__(
        self,
        shows: Shows,
        env: Mapping[str, str],
        home: str,
        processes: Processes,
    ) -> None:
        self._shows, self._env, self._home, self._processes = shows, env, home, processes

    async def run(self, title: str = NONE) -> Ready | None:
        """What to begin with; None when the person leaves it for later."""
        note = ""
        while True:
            try:
                servers = await self._shows.busy("Looking for model servers on this machine", lambda _: self._detect())
            except Stopped:
                servers = []
            name = await self._shows.choose(title, self._choices(servers), note)
            if name is None:
                return None
            note, ready = "", None
            found = next((server for server in servers if f"server:{server.id}" == name), None)
            if found is not None:
                return Ready(found.id, told=f"{SERVERS[found.id]} on this machine answers at {found.base_url}")
            match name:
                case "again":
                    note = "No server answered. Start one, then look again."
                case "embedded":
                    ready = await self._embedded()
                case _:
                    ready = await self._provider(name)
            if ready is not None:
                return ready

    def _choices(self, servers: list[Profile]) -> list[Choice]:
        made = [
            Choice(f"server:{server.id}", SERVERS.get(server.id, server.id), f"runs on this machine, {server.base_url}")
            for server in servers
        ]
        set_ = {row.id: row.key_variable for row in named(self._env)}
        for ident, label in NAMES.items():
            text = f"{set_[ident]} is set: use it" if ident in set_ else "with a key"
            made.append(Choice(ident, label, text))
        made.append(
            Choice("other", "Another server", "that speaks like OpenAI: its address, and a key if it wants one")
        )
        model = paths.DEFAULT
        size = f"{model.size / 1e9:.1f} GB"
        here = paths.installed(self._home) is not None
        made.append(Choice("embedded", "The embedded model", "is installed" if here else f"{size} to fetch; {_SMALL}"))
        if not servers:
            named_ = ", ".join(SERVERS.values())
            made.append(Choice("again", "Look again", f"for {named_} on this machine: none answers"))
        return made

    async def _detect(self) -> list[Profile]:
        from agenyx.llm.detect import detect

        return await detect(self._env)

    # --- a provider with a key ---------------------------------------------------------------------------------------

    async def _provider(self, ident: str) -> Ready | None:
        row = BY_ID.get(ident)
        if row is not None and row in named(self._env):
            return Ready(row.id, told=f"{NAMES[ident]} is used with {row.key_variable} of the environment")
        wanted = await self._asked(ident, row)
        while wanted is not None:
            label = NAMES.get(ident, wanted.id)
            optional = " Leave it empty where the server wants none." if ident == "other" else ""
            key = await self._shows.enter(
                f"{label}: the key. It is tried with one request, then stored in auth.json for you alone.{optional}",
                "Key (not shown): ",
                hidden=True,
            )
            if key is None:
                return None
            if not key and ident != "other":
                continue
            ready = await self._tried(wanted, key)
            if ready is not None:
                return ready
        return None

    async def _asked(self, ident: str, row: Row | None) -> login.Wanted | None:
        """What beside the key has to be known. None to go back."""
        if ident == "azure":
            values: list[str] = []
            for label in ("Endpoint (https://NAME.openai.azure.com): ", "Model: ", "Deployment: ", "API version: "):
                value = await self._shows.enter("Azure OpenAI", label)
                if value is None:
                    return None
                values.append(value.strip())
            url, model, deployment, version = values
            return await self._complete(login.Wanted("azure", "azure_openai", url, model, "", deployment, version))
        if row is None:
            url = await self._shows.enter("A server that speaks like OpenAI", "Address (https://host/v1): ")
            if url is None:
                return None
            return await self._complete(login.Wanted("", "openai_compatible", url.strip()))
        return await self._complete(login.Wanted(row.id))

    async def _complete(self, wanted: login.Wanted) -> login.Wanted | None:
        try:
            whole = login.complete(wanted)
            login.profile_of(login.entry_of(whole, "k" * 20))
        except AgenyxError as error:
            await self._failed(error)
            return None
        return whole

    async def _tried(self, wanted: login.Wanted, key: str) -> Ready | None:
        """Try the key, then store it. None where it is to be typed again."""
        try:
            profile = login.profile_of(login.entry_of(wanted, key))
            told = await self._shows.busy(f"Asking {profile.host}", lambda _: login.attempt(profile, self._env))
            wanted = await self._with_model(wanted, profile)
        except Stopped:
            return None
        except AgenyxError as error:
            if await self._failed(error, store=True) != "store":
                return None
            told = "the key was not tried"
        try:
            login.store(self._home, wanted, key, default=False)
        except AgenyxError as error:
            await self._failed(error)
            return None
        return Ready(wanted.id, told=f"{wanted.id}: {told}. The profile is in auth.json, readable for you alone.")

    async def _with_model(self, wanted: login.Wanted, profile: Profile) -> login.Wanted:
        """Ask for the model where a server has many and nothing says which."""
        if wanted.model or wanted.type != "openai_compatible" or wanted.id in BY_ID:
            return wanted
        from msgspec.structs import replace

        from agenyx.llm.http import Client
        from agenyx.llm.models import list_models

        client = Client(self._env)
        try:
            names = await list_models(profile, client)
        except AgenyxError:
            names = []
        finally:
            await client.close()
        if len(names) < 2:
            return wanted
        name = await self._shows.choose("Which model?", [Choice(name, name) for name in names])
        return replace(wanted, model=name) if name else wanted

    async def _failed(self, error: AgenyxError, *, store: bool = False) -> str | None:
        choices = [Choice("again", "Try again")]
        if store:
            choices.append(Choice("store", "Store it untried", "for a server that cannot be reached from here now"))
        return await self._shows.choose(f"{error.message}\n{error.fix}".rstrip(), choices)

    # --- the embedded model ------------------------------------------------------------------------------------------

    async def _embedded(self) -> Ready | None:
        while paths.runtime_missing():
            again = await self._shows.choose(
                "The runtime of the embedded model is not installed.\nIn another terminal: pip install 'agenyx[local]'",
                [Choice("again", "Look again")],
            )
            if again is None:
                return None
            importlib.invalidate_caches()
        if paths.installed(self._home) is not None:
            return Ready(LOCAL_ID, told="the embedded model is used")
        model = paths.DEFAULT
        title = (
            f"{model.title}, licence {model.licence}\n{model.size / 1e6:,.0f} MB to fetch and to keep, in "
            f"{paths.models(self._home)}\nIt {_SMALL}."
        )
        while True:
            if (
                await self._shows.choose(title, [Choice("fetch", "Fetch it", "Esc stops; it goes on from there")])
                is None
            ):
                return None
            try:
                installed = await self._shows.busy("Fetching", self._fetch)
            except Stopped:
                title = "Stopped. What was fetched is kept: fetching again goes on from there."
                continue
            except AgenyxError as error:
                title = f"{error.message}\n{error.fix}".rstrip()
                continue
            return Ready(LOCAL_ID, told=f"{installed.name} is installed, {installed.size / 1e6:,.0f} MB")

    async def _fetch(self, tell: Callable[[str], None]) -> paths.Installed:
        def show(event: Event) -> None:
            match event:
                case Fetching(done, total):
                    tell(progress("Fetching", done, total))
                case Checking(done, total):
                    tell(progress("Checking", done, total))
                case Turned(why, to):
                    tell(f"{why}; trying {to}")

        return await work.install(self._processes, self._home, self._env, FromIndex(), show)


def progress(word: str, done: int, total: int) -> str:
    """Such as `Fetching 120 of 1,117 MB [###.................]`."""
    if not total:
        return f"{word} {done / 1e6:,.0f} MB"
    full = 20 * done // total
    return f"{word} {done / 1e6:,.0f} of {total / 1e6:,.0f} MB [{'#' * full}{'.' * (20 - full)}]"
