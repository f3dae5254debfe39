"""Figures in words, for commands and for whoever shows them. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.core.events import Usage


def tokens(count: int) -> str:
    """A count of tokens, such as `950`, `12.3k`, `128k`, `1.2M`."""
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if count >= size:
            value = count / size
            return f"{value:.1f}".removesuffix(".0") + unit if value < 100 else f"{value:.0f}{unit}"
    return str(count)


def money(dollars: float | None) -> str:
    """US dollars; an unknown price is no zero."""
    if dollars is None:
        return "$?"
    return f"${dollars:.2f}" if dollars >= 1 or dollars == 0 else f"${dollars:.4f}".rstrip("0")


def usage_text(usage: Usage | None) -> str:
    """Tokens in and out, in words."""
    if usage is None:
        return "unknown: the server did not say"
    cached = f", of them {tokens(usage.cache_read)} from the cache" if usage.cache_read else ""
    thought = f", of them {tokens(usage.reasoning)} reasoning" if usage.reasoning else ""
    return f"{tokens(usage.given)} in{cached}; {tokens(usage.out)} out{thought}"


def usage_data(usage: Usage | None) -> dict[str, int] | None:
    """The same for programs; None when nothing was counted."""
    if usage is None:
        return None
    return {
        "input_tokens": usage.given,
        "output_tokens": usage.out,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_read_input_tokens": usage.cache_read,
        "reasoning_output_tokens": usage.reasoning,
        "total_tokens": usage.given + usage.out,
    }


def clip(text: str, width: int) -> str:
    """The text on one line, cut with a mark where it is longer."""
    flat = " ".join(text.split())
    return flat if len(flat) <= width else flat[: width - 3] + "..."


def rows(facts: Mapping[str, str], width: int = 10) -> str:
    """One row a fact; facts without text are left out."""
    return "\n".join(f"{name:<{width}} {text}" for name, text in facts.items() if text)
