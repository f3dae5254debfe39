"""/cost: tokens and money spent, and what broke the prompt cache."""

from __future__ import annotations

from agenyx.app.commands.spec import Desk, Reply
from agenyx.app.commands.wording import money, tokens, usage_data, usage_text
from agenyx.app.facts import price_of
from agenyx.core.events import Usage


async def run(desk: Desk, args: str) -> Reply:
    now = desk.conversation.status()
    used, cost, about = now.usage, now.cost, ""
    if used and cost == 0:  # nothing was asked since the session was opened: it is all from before
        cost, about = _priced(desk, used), f" at the price of {now.model}"
    data = {
        "usage": usage_data(used),
        "cost_usd": cost if used else None,
        "cache_hit_rate": used.hit_rate if used else None,
        "prefix_breaks": dict(now.breaks),
    }
    if used is None and now.context is None:
        return Reply("no tokens were counted yet", data)
    rows = [f"tokens     {usage_text(used)}", f"cost       {'unknown' if cost is None else money(cost) + about}"]
    if used:
        fresh, cached, written, out = map(tokens, (used.fresh, used.cache_read, used.cache_write, used.out))
        rows.append(f"in detail  {fresh} fresh, {cached} cached, {written} written to the cache, {out} out")
        if used.hit_rate is not None:
            rows.append(f"cache      {used.hit_rate:.0%} of the input came from it")
    causes = [f"{cause}{f' ({count} times)' if count > 1 else ''}" for cause, count in now.breaks.items()]
    rows += [f"{'anew' if not at else '':<10} {cause}" for at, cause in enumerate(causes)]
    return Reply("\n".join(rows), data)


def _priced(desk: Desk, used: Usage) -> float | None:
    model = desk.conversation.parts.source.model
    return price_of(model.profile, model.name, desk.home)(used)
