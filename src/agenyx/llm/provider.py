"""The provider of a profile: puts the adapter of its wire, the client and the key together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Protocol

from msgspec import Struct

from agenyx._version import VERSION
from agenyx.config.profiles import Profile
from agenyx.core.events import ModelEvent
from agenyx.core.redact import Masker
from agenyx.llm.failures import Target
from agenyx.llm.http import Client
from agenyx.llm.masking import RequestGate
from agenyx.llm.request import Provider, Request
from agenyx.llm.stream import Decoder, Post, Retry, stream
from agenyx.llm.throttle import Throttle

ANTHROPIC_VERSION = "2023-06-01"


def headers_of(profile: Profile, accept: str) -> dict[str, str]:
    """The headers of every request to the profile's server; the key only where there is one."""
    headers = {"Accept": accept, "User-Agent": f"agenyx/{VERSION}"}
    if profile.wire == "anthropic":
        headers["anthropic-version"] = ANTHROPIC_VERSION
    if profile.api_key:
        match profile.type:
            case "azure_openai":
                headers["api-key"] = profile.api_key
            case _ if profile.wire == "anthropic":
                headers["x-api-key"] = profile.api_key
            case _:
                headers["Authorization"] = f"Bearer {profile.api_key}"
    return headers


def messages_url(base_url: str) -> str:
    """The address of a Messages server, whether or not its version stands in the base URL already."""
    return base_url + ("/messages" if base_url.endswith("/v1") else "/v1/messages")


class Encoder(Protocol):
    """Writes the body of a request; remembers what it wrote, so that a step costs what it adds."""

    def encode(self, request: Request) -> bytes: ...


class Adapter(Struct, frozen=True):
    """One wire as one server speaks it, without I/O. `idle` in seconds; a decoder serves one attempt."""

    url: str
    idle: float
    encoder: Encoder
    decoder: Callable[[Target, Request], Decoder]


def adapter_of(profile: Profile, binding: str) -> Adapter:
    """The adapter for the profile's wire. Imports only that wire."""
    match profile.wire:
        case "chat":
            return _chat(profile, binding)
        case "schema":
            return _schema(profile, binding)
        case "responses":
            return _responses(profile, binding)
        case "anthropic":
            return _anthropic(profile, binding)


def _chat(profile: Profile, binding: str) -> Adapter:
    from agenyx.llm.chat_decode import ChatDecoder
    from agenyx.llm.chat_encode import ChatEncoder
    from agenyx.llm.dialects import dialect_of

    dialect = dialect_of(profile)

    def decoder(target: Target, request: Request) -> Decoder:
        return _lenient(ChatDecoder(target, binding), request, text_calls=dialect.text_calls)

    return Adapter(f"{profile.base_url}/chat/completions", dialect.idle, ChatEncoder(dialect, binding), decoder)


def _schema(profile: Profile, binding: str) -> Adapter:
    """Chat completions whose model was taught no tools."""
    from agenyx.llm.dialects import dialect_of
    from agenyx.llm.schema_decode import SchemaDecoder
    from agenyx.llm.schema_encode import SMALL_STRING, SchemaEncoder

    dialect = dialect_of(profile)
    cap = SMALL_STRING if profile.type == "local" else 0
    encoder = SchemaEncoder(dialect, binding, cap)
    return Adapter(
        f"{profile.base_url}/chat/completions",
        dialect.idle,
        encoder,
        lambda target, _: SchemaDecoder(target, binding, cap),
    )


def _responses(profile: Profile, binding: str) -> Adapter:
    from agenyx.llm.azure import azure_url
    from agenyx.llm.dialects import responses_dialect_of
    from agenyx.llm.responses_decode import ResponsesDecoder
    from agenyx.llm.responses_encode import ResponsesEncoder

    dialect = responses_dialect_of(profile)
    azure = profile.type == "azure_openai"
    url = azure_url(profile.base_url, profile.api_version) if azure else f"{profile.base_url}/responses"

    def decoder(target: Target, request: Request) -> Decoder:
        plain = ResponsesDecoder(target, binding, strict=dialect.strict)
        return _lenient(plain, request, text_calls=dialect.text_calls)

    return Adapter(url, dialect.idle, ResponsesEncoder(dialect, binding, profile.deployment), decoder)


def _anthropic(profile: Profile, binding: str) -> Adapter:
    from agenyx.llm.anthropic_decode import AnthropicDecoder
    from agenyx.llm.anthropic_encode import AnthropicEncoder
    from agenyx.llm.dialects import messages_dialect_of

    dialect = messages_dialect_of(profile)
    encoder = AnthropicEncoder(dialect, binding)
    url = messages_url(profile.base_url)
    return Adapter(url, dialect.idle, encoder, lambda target, _: AnthropicDecoder(target, binding))


def _lenient(decoder: Decoder, request: Request, *, text_calls: bool) -> Decoder:
    """The decoder; where models print calls as text, around it the one that takes them."""
    if not (text_calls and request.tools):
        return decoder
    from agenyx.llm.text_calls import TextCalls

    return TextCalls(decoder, {tool.name for tool in request.tools})


class HttpProvider(Provider):
    """A model server over HTTP, on any wire. It may serve several sessions at once."""

    def __init__(
        self,
        profile: Profile,
        model: str,
        client: Client,
        masker: Masker,
        retry: Retry,
        throttle: Throttle,
        *,
        own_client: bool,
    ) -> None:
        self.binding = profile.fingerprint(model)
        self._profile = profile
        self._client = client
        self._own_client = own_client
        self._masker = masker
        self._gate = RequestGate(masker)
        self._retry = retry
        self._throttle = throttle
        self._adapter = adapter_of(profile, self.binding)
        self._headers = {**headers_of(profile, "text/event-stream"), "Content-Type": "application/json"}

    def stream(self, request: Request) -> AsyncIterator[ModelEvent]:
        """See llm.request.Provider."""
        adapter = self._adapter
        profile = self._profile
        keyed = bool(profile.api_key)
        target = Target(adapter.url, profile.host, request.model, keyed, profile.key_name, profile.url_name)
        idle = adapter.idle if self._retry.idle is None else self._retry.idle
        post = Post(target, self._headers, self._gate.sealed(adapter.encoder.encode(request)), idle)
        return stream(
            self._client, post, lambda: adapter.decoder(target, request), self._masker, self._retry, self._throttle
        )

    def warm(self) -> None:
        """Begin to connect, so that the first request need not wait for it. Needs the running loop; never fails."""
        self._client.warm(self._adapter.url)

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
    throttle: Throttle | None = None,
) -> HttpProvider:
    """A provider for the profile, on the wire that the profile names. Contacts nothing.

    `env` names proxies and certificate authorities; `masker` knows the secrets to keep out of what the model says,
    by default the profile's key.
    """
    return HttpProvider(
        profile,
        model,
        client or Client(env),
        masker or Masker((profile.api_key,)),
        retry or Retry(),
        throttle or Throttle(),
        own_client=client is None,
    )
