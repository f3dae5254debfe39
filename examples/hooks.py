"""Functions on events: one refuses, one keeps a log. Their form is that of docs/hooks.md."""

from typing import Any

from agenyx import Agent, Hook

log: list[str] = []


def no_push(payload: dict[str, Any]) -> dict[str, Any] | None:
    if "git push" in payload["tool_input"].get("command", ""):
        return {"decision": "block", "reason": "Pushing is for people. Say what you would push instead."}
    return None


async def keep_log(payload: dict[str, Any]) -> None:
    log.append(f"{payload['tool_name']} ran for {payload['duration_ms']} ms")


agent = Agent(
    hooks={"PreToolUse": [Hook(no_push, matcher="Bash")], "PostToolUse": [keep_log]},
    allow=["Bash(git status:*)", "Bash(git push:*)"],
    approvals="deny",
)
print(agent.run_sync("Run git push, and if that is refused say why.").text)
print("\n".join(log) or "nothing ran")
