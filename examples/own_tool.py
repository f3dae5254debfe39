"""A typed function as a tool. What it touches is declared, so it runs unasked; without that it would be asked about."""

from typing import Literal

from agenyx import Agent, ToolContext, ToolError, tool

Stock = dict[str, int]


@tool(effects="none")
def in_stock(ctx: ToolContext[Stock], item: str, unit: Literal["pieces", "boxes"] = "pieces") -> int:
    """How many of an item are in stock.

    Args:
        item: the name of the item, in lower case
        unit: a box holds 12 pieces
    """
    if item not in ctx.deps:
        raise ToolError(f"There is no item {item}. Known: {', '.join(ctx.deps)}.")
    ctx.show(f"counting {item}")
    return ctx.deps[item] // (12 if unit == "boxes" else 1)


@tool(reads="path")
def count_lines(path: str) -> int:
    """How many lines a file of the workspace has."""
    with open(path, encoding="utf-8") as file:  # the absolute path that was judged
        return sum(1 for _ in file)


agent = Agent(tools=[in_stock, count_lines], deps={"screw": 240, "nail": 12}, builtin_tools=[])
result = agent.run_sync("How many boxes of screws are there? Use the tool.")
print(result.text if result.ok else f"{result.kind}: {result.message}")
