"""What the model layer's tests share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from agenyx.config.profiles import Profile
from agenyx.core.events import ModelEvent, ReasoningDelta, Retrying, TextDelta
from agenyx.core.messages import Entry, Text, User
from agenyx.llm.http import Client
from agenyx.llm.provider import open_provider
from agenyx.llm.request import Options, Request
from agenyx.llm.stream import Retry

KEY = "sk-test-0123456789abcdef"


class Bench:
    """Asks a server one thing and returns what came; a retry sleeps only on paper, in `slept`."""

    key = KEY

    def __init__(self) -> None:
        self.slept: list[float] = []

    def retry(self, **changes: Any) -> Retry:
        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)

        return Retry(**{"sleep": sleep, "random": lambda: 1.0, "idle": 30.0, **changes})

    def ask(
        self,
        url: str,
        *,
        entries: Sequence[Entry] = (User((Text("hello"),)),),
        env: dict[str, str] | None = None,
        key: str = KEY,
        **retry: Any,
    ) -> list[ModelEvent]:
        profile = Profile("openai", "openai_compatible", url + "/v1", key)

        async def run() -> list[ModelEvent]:
            client = Client(env or {})
            provider = open_provider(profile, "a-model", {}, client=client, retry=self.retry(**retry))
            try:
                request = Request("a-model", Options(), (), ("Be brief.",), entries)
                return [event async for event in provider.stream(request)]
            finally:
                await client.close()

        return asyncio.run(run())

    @staticmethod
    def text(events: Sequence[ModelEvent]) -> str:
        return "".join(event.text for event in events if isinstance(event, TextDelta))

    @staticmethod
    def reasoning(events: Sequence[ModelEvent]) -> str:
        return "".join(event.text for event in events if isinstance(event, ReasoningDelta))

    @staticmethod
    def retries(events: Sequence[ModelEvent]) -> list[Retrying]:
        return [event for event in events if isinstance(event, Retrying)]


@pytest.fixture
def bench() -> Bench:
    return Bench()
