"""An MCP server within the program. Here it is a function that answers messages; an object of the package `mcp`
(MCPServer, FastMCP) is given in the same way, and one that has to be started as {"command": ..., "args": [...]}."""

from typing import Any

from agenyx import Agent

ECHO = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


async def server(message: dict[str, Any]) -> dict[str, Any] | None:
    match message["method"], message.get("params", {}):
        case "initialize", params:
            info = {"name": "shout", "version": "1"}
            version = params["protocolVersion"]
            found: Any = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
        case "tools/list", _:
            found = {"tools": [{"name": "shout", "description": "Says it loudly.", "inputSchema": ECHO}]}
        case "tools/call", params:
            found = {"content": [{"type": "text", "text": params["arguments"]["text"].upper()}]}
        case _ if "id" not in message:
            return None
        case _:
            error = {"code": -32601, "message": "no such method"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    return {"jsonrpc": "2.0", "id": message["id"], "result": found}


# A server's tools are never seen through, so they need a rule or an approver.
agent = Agent(mcp_servers={"loud": server}, allow=["mcp__loud"], builtin_tools=[])
print(agent.run_sync("Shout 'hello' with the tool, and repeat what it says.").text)
