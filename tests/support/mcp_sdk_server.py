"""A server written with the official Python SDK: the peer that knows both eras of the protocol."""

from typing import Annotated

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel, Field

server = MCPServer("peer", instructions="Add before you multiply.")


class Size(BaseModel):
    size: int = Field(description="How large.", ge=1)
    colour: str = "blue"


class Point(BaseModel):
    x: float
    y: float


async def how_large() -> Elicit[Size]:
    return Elicit("How large?", Size)


@server.tool()
def add(a: int, b: int) -> int:
    """Adds."""
    return a + b


@server.tool()
def middle(points: list[Point]) -> Point:
    """The middle of points."""
    return Point(x=sum(p.x for p in points) / len(points), y=sum(p.y for p in points) / len(points))


@server.tool()
async def order(what: str, size: Annotated[Size, Resolve(how_large)]) -> str:
    """Asks the person for the size."""
    return f"{what} {size.size} {size.colour}"


@server.tool()
async def count(to: int, ctx: Context) -> str:
    """Counts with progress."""
    for number in range(to):
        await ctx.report_progress(number + 1, to, f"at {number + 1}")
    return "counted"


@server.tool()
def picture() -> Image:
    """A picture."""
    return Image(data=b"\x89PNG\r\n", format="png")


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("it went wrong")


@server.tool()
async def grow(ctx: Context) -> str:
    """One tool more."""

    def grown() -> str:
        return "new"

    server.add_tool(grown)
    await ctx.notify_tools_changed()
    return "grown"


@server.resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return f"note of {name}"


@server.prompt()
def review(code: str) -> str:
    """Reviews."""
    return f"Review {code}."


if __name__ == "__main__":
    server.run("stdio")
