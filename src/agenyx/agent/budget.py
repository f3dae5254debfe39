"""What a run may cost, and what it has cost so far. Counts; asks nobody and stops nothing by itself."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agenyx.core.events import Outcome, Usage


class Limits(Struct, frozen=True):
    """The most that a run may spend: US dollars, and tokens of input and output together. None is no limit."""

    usd: float | None = None
    tokens: int | None = None


def budget(tokens: int, cost: float | None, silent: bool, limits: Limits) -> Outcome | None:
    """The outcome that ends a run which has reached a limit, None while it may go on.

    `cost` is None when a price was unknown; `silent` says that a response came without its token counts. A limit that
    cannot be checked any more counts as reached.
    """
    if limits.usd is None and limits.tokens is None:
        return None
    if silent:
        return _over("The server does not say how many tokens it used, so the budget cannot be kept")
    if limits.tokens is not None and tokens >= limits.tokens:
        return _over(f"Stopped at the token budget: {tokens:,} of {limits.tokens:,} tokens are used")
    if limits.usd is None:
        return None
    if cost is None:
        return _over("The price of a response is not known, so the budget cannot be kept")
    return _over(f"Stopped at the budget: ${cost:.4f} of ${limits.usd:.4f} are spent") if cost >= limits.usd else None


def _over(text: str) -> Outcome:
    return Outcome("budget", f"{text}; the task may not be done. Go on with agenyx --continue and a larger budget.")


class Meter:
    """Adds up the responses of one run. `price` gives the cost of one response in US dollars, None when unknown.

    It is asked after the first response, so that knowing prices costs nothing before it.
    """

    def __init__(self, limits: Limits | None = None, price: Callable[[Usage], float | None] | None = None) -> None:
        self.limits, self.price = limits or Limits(), price
        self._tokens, self._cost, self._silent = 0, 0.0, False
        self._known = True
        self._turn: float | None = None
        self._turn_known = True

    def begin(self) -> None:
        """A turn begins: `turn_cost` counts anew."""
        self._turn, self._turn_known = None, True

    def take(self, usage: Usage | None) -> None:
        """Count one whole response; None when the server did not say."""
        if usage is None:
            self._silent, self._known, self._turn_known = True, False, False
            return
        self.add(usage, self.price(usage) if self.price else None)

    def add(self, usage: Usage, cost: float | None) -> None:
        """Count a response that has cost so much, None when that is not known."""
        self._tokens += usage.fresh + usage.cache_read + usage.cache_write + usage.out
        if cost is None:
            self._known = self._turn_known = False
            return
        self._cost += cost
        self._turn = (self._turn or 0.0) + cost

    @property
    def turn_cost(self) -> float | None:
        """What the turn has cost in US dollars; None when that is not known, or nothing was asked yet."""
        return self._turn if self._turn_known else None

    @property
    def cost(self) -> float | None:
        """What the run has cost in US dollars, None when that is not known."""
        return self._cost if self._known else None

    def over(self) -> Outcome | None:
        """The outcome that ends the run, None while it may ask for another response."""
        return budget(self._tokens, self.cost, self._silent, self.limits)


class Share(Meter):
    """The part of a run that a subagent has, at the price of its own model: it counts in the whole, whose limits
    hold."""

    def __init__(self, whole: Meter, price: Callable[[Usage], float | None] | None) -> None:
        super().__init__(whole.limits, price)
        self._whole = whole

    def take(self, usage: Usage | None) -> None:
        super().take(usage)
        if usage is None:
            self._whole.take(None)

    def add(self, usage: Usage, cost: float | None) -> None:
        super().add(usage, cost)
        self._whole.add(usage, cost)

    def over(self) -> Outcome | None:
        return self._whole.over()
