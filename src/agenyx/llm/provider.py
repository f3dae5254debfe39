"""The provider of a profile: puts the adapter, the client and the key together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping

from agenyx._version import VERSION
from agenyx.config.profiles import Profile
from agenyx.core.events import ModelEvent
from agenyx.core.redact import Masker
from agenyx.llm.chat_decode import ChatDecoder
from agenyx.llm.chat_encode import ChatEncoder
from agenyx.llm.dialects import dialect_of
from agenyx.llm.failures import Target
from agenyx.llm.http import Client
from agenyx.llm.request import Provider, Request
from agenyx.llm.stream import Post, Retry, stream


def headers_of(profile: Profile, accept: str) -> dict[str, str]:
    """The headers of every request to the profile's server; the key only where there is one."""
    headers = {"Accept": accept, "User-Agent": f"agenyx/{VERSION}"}
    if profile.api_key:
        headers["Authorization"] = f"Bearer {profile.api_key}"
    return headers


class ChatProvider(Provider):
    """A server of the chat-completions family. It may serve several sessions at once."""

    def __init__(
        self, profile: Profile, model: str, client: Client, masker: Masker, retry: Retry, *, own_client: bool
    ) -> None:
        self.binding = profile.fingerprint(model)
        self._profile = profile
        self._client = client
        self._own_client = own_client
        self._masker = masker
        self._retry = retry
        self._dialect = dialect_of(profile)
        self._encoder = ChatEncoder(self._dialect, self.binding)
        self._url = f"{profile.base_url}/chat/completions"
        self._headers = {**headers_of(profile, "text/event-stream"), "Content-Type": "application/json"}

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See llm.request.Provider."""
        target = Target(self._url, self._profile.host, request.model, bool(self._profile.api_key))
        idle = self._dialect.idle if self._retry.idle is None else self._retry.idle
        post = Post(target, self._headers, self._encoder.encode(request), idle)
        return stream(self._client, post, lambda: ChatDecoder(target, self.binding), self._masker, self._retry)

    def warm(self) -> None:
        """Begin to connect, so that the first request need not wait for it. Needs the running loop; never fails."""
        self._client.warm(self._url)

    async def close(self) -> None:
        """Close the connections, unless the client was handed in: then they are its owner's."""
        if self._own_client:
            await self._client.close()


def open_provider(
    profile: Profile,
    model: str,
    env: Mapping[str, str],
    *,
    client: Client | None = None,
    masker: Masker | None = None,
    retry: Retry | None = None,
) -> ChatProvider:
    """A provider for the profile. Contacts nothing.

    `env` names proxies and certificate authorities; `masker` knows the secrets to keep out of what the model says,
    by default the profile's key.
    """
    return ChatProvider(
        profile,
        model,
        client or Client(env),
        masker or Masker((profile.api_key,)),
        retry or Retry(),
        own_client=client is None,
    )
