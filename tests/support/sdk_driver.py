"""Drives the command line by the Python Agent SDK, as a program of its own: `python sdk_driver.py SCENE CLI FOLDER`.

It runs in the environment that has the SDK, knows nothing of Agenyx, and prints what it saw as one JSON object.
"""

import asyncio
import dataclasses
import json
import sys

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    create_sdk_mcp_server,
    query,
    tool,
)

CLI, FOLDER = sys.argv[2:4]
stderr = []


def options(**more):
    return ClaudeAgentOptions(cli_path=CLI, cwd=FOLDER, stderr=stderr.append, **more)


def plain(value):
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"_": type(value).__name__, **fields}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


async def all_of(messages):
    return [plain(message) async for message in messages]


async def simple():
    return {"messages": await all_of(query(prompt="hi", options=options()))}


async def partial():
    return {"messages": await all_of(query(prompt="hi", options=options(include_partial_messages=True)))}


async def failing():
    seen = []
    try:
        async for message in query(prompt="hi", options=options()):
            seen.append(plain(message))
    except Exception as error:  # noqa: BLE001 - what was raised is what the scene is about
        return {"messages": seen, "error": type(error).__name__, "text": str(error)}
    return {"messages": seen}


async def client():
    async with ClaudeSDKClient(options=options()) as talk:
        turns = []
        for words in ("one", "two"):
            await talk.query(words)
            turns.append(await all_of(talk.receive_response()))
        info = await talk.get_server_info()
        await talk.set_permission_mode("acceptEdits")
        await talk.set_model("other-model")
        servers, usage = await talk.get_mcp_status(), await talk.get_context_usage()
        await talk.query("three")
        turns.append(await all_of(talk.receive_response()))
    return {"turns": turns, "info": info, "servers": servers, "usage": usage}


async def interrupt():
    async with ClaudeSDKClient(options=options(include_partial_messages=True)) as talk:
        await talk.query("one")
        first = []
        async for message in talk.receive_response():
            first.append(plain(message))
            if type(message).__name__ == "StreamEvent" and message.event["type"] == "content_block_delta":
                await talk.interrupt()
        await talk.query("two")
        return {"first": first, "second": await all_of(talk.receive_response())}


async def permission():
    """The first call is refused, the second allowed, the third edited."""
    asked = []

    async def decide(name, given, context):
        asked.append({"name": name, "input": given, "id": context.tool_use_id, "reason": context.decision_reason})
        if len(asked) == 1:
            return PermissionResultDeny(message="not that one")
        if len(asked) == 3:
            return PermissionResultAllow(updated_input={**given, "content": "edited"})
        return PermissionResultAllow()

    async with ClaudeSDKClient(options=options(can_use_tool=decide)) as talk:
        await talk.query("write")
        return {"messages": await all_of(talk.receive_response()), "asked": asked}


async def stopped():
    async def decide(name, given, context):
        return PermissionResultDeny(message="stop it", interrupt=True)

    async with ClaudeSDKClient(options=options(can_use_tool=decide)) as talk:
        await talk.query("write")
        return {"messages": await all_of(talk.receive_response())}


async def hooks():
    seen = []

    async def before(payload, ident, context):
        seen.append(payload)
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "the hook says no",
            }
        }

    async def submitted(payload, ident, context):
        seen.append(payload)
        return {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "HOOK-CONTEXT"}}

    given = {
        "PreToolUse": [HookMatcher(matcher="Write", hooks=[before], on_failure="block")],
        "UserPromptSubmit": [HookMatcher(hooks=[submitted])],
    }
    async with ClaudeSDKClient(options=options(hooks=given)) as talk:
        await talk.query("write")
        return {"messages": await all_of(talk.receive_response()), "seen": seen}


async def tools():
    @tool("add", "Add two numbers", {"a": float, "b": float})
    async def add(args):
        return {"content": [{"type": "text", "text": f"sum {args['a'] + args['b']}"}]}

    server = create_sdk_mcp_server(name="calc", version="1.0.0", tools=[add])
    given = options(mcp_servers={"calc": server}, allowed_tools=["mcp__calc__add"])
    async with ClaudeSDKClient(options=given) as talk:
        await talk.query("add")
        messages = await all_of(talk.receive_response())
        return {"messages": messages, "servers": await talk.get_mcp_status()}


async def tools_again():
    """The same tools in a session that goes on, then others."""

    def server(name):
        @tool(name, "Do it", {"a": float})
        async def done(args):
            return {"content": [{"type": "text", "text": f"{name} {args['a']}"}]}

        return {"calc": create_sdk_mcp_server(name="calc", version="1.0.0", tools=[done])}

    turns, ident = [], None
    for name in ("one", "one", "two"):
        given = options(mcp_servers=server(name), allowed_tools=["mcp__calc"], resume=ident)
        async with ClaudeSDKClient(options=given) as talk:
            await talk.query(name)
            turns.append(await all_of(talk.receive_response()))
        ident = turns[-1][-1]["session_id"]
    return {"turns": turns}


async def sessions():
    first = await all_of(query(prompt="one", options=options()))
    ident = first[-1]["session_id"]
    second = await all_of(query(prompt="two", options=options(resume=ident)))
    third = await all_of(query(prompt="three", options=options(resume=ident, fork_session=True)))
    last = await all_of(query(prompt="four", options=options(continue_conversation=True)))
    return {"ids": [messages[-1]["session_id"] for messages in (first, second, third, last)]}


async def streamed():
    async def prompts():
        for words in ("one", "two"):
            yield {"type": "user", "message": {"role": "user", "content": words}, "parent_tool_use_id": None}

    return {"messages": await all_of(query(prompt=prompts(), options=options()))}


async def rewound():
    given = options(
        permission_mode="acceptEdits", enable_file_checkpointing=True, extra_args={"replay-user-messages": None}
    )
    async with ClaudeSDKClient(options=given) as talk:
        await talk.query("write")
        messages = await all_of(talk.receive_response())
        ident = next(one["uuid"] for one in messages if one["_"] == "UserMessage" and one["uuid"])
        await talk.rewind_files(ident)
        return {"messages": messages}


async def structured():
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    given = options(output_format={"type": "json_schema", "schema": schema})
    return {"messages": await all_of(query(prompt="count", options=given))}


async def configured():
    """Folders, settings and another model, as a host gives them."""
    lib = f"{FOLDER}/../lib"
    settings = json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}, "env": {"STAGE": "blue"}})
    given = options(
        add_dirs=[lib],
        settings=settings,
        fallback_model="second-model",
        permission_mode="acceptEdits",
        allowed_tools=["Bash"],
    )
    return {"messages": await all_of(query(prompt="go", options=given))}


async def unreadable():
    """A rule that cannot be read."""
    try:
        given = options(settings=json.dumps({"permissions": {"deny": ["Bash(git"]}}))
        return {"messages": await all_of(query(prompt="go", options=given))}
    except Exception as error:  # noqa: BLE001 - what was raised is what the scene is about
        return {"error": type(error).__name__, "text": str(error)}


async def resumed_at():
    """Two turns; then a copy goes on after the answer of the first, and nothing else may be left behind."""
    async with ClaudeSDKClient(options=options(extra_args={"replay-user-messages": None})) as talk:
        turns = []
        for words in ("one", "two"):
            await talk.query(words)
            turns.append(await all_of(talk.receive_response()))
    session = turns[0][-1]["session_id"]
    said = next(one["uuid"] for one in turns[0] if one["_"] == "AssistantMessage")
    second = next(one["uuid"] for one in turns[1] if one["_"] == "UserMessage")
    at = {"resume": session, "fork_session": True, "resume_session_at": said}
    third = await all_of(query(prompt="three", options=options(**at, resume_drops_turn=second)))
    return {"turns": turns, "third": third}


async def agents():
    from claude_agent_sdk import AgentDefinition

    made = AgentDefinition(description="finds things", prompt="You find things.", tools=["Read"])
    async with ClaudeSDKClient(options=options(agents={"finder": made})) as talk:
        await talk.query("hi")
        return {"messages": await all_of(talk.receive_response()), "info": await talk.get_server_info()}


result = asyncio.run(globals()[sys.argv[1]]())
print(json.dumps({**result, "stderr": stderr}, default=str))
