"""A hook for several events, written with the published library cchooks."""

from cchooks import create_context

c = create_context()
match type(c).__name__:
    case "SessionStartContext":
        c.output.add_context(f"started by {c.source}")
    case "UserPromptSubmitContext":
        c.output.add_context(f"asked for: {c.prompt}")
    case "PreToolUseContext":
        if "rm -rf" in c.tool_input["command"]:
            c.output.deny("nothing is removed here")
        else:
            c.output.allow("it is harmless")
    case "PostToolUseContext":
        c.output.add_context(f"the call of {c.tool_name} was seen")
    case "StopContext":
        c.output.halt("") if c.stop_hook_active else c.output.exit_success("")
    case _:
        c.output.exit_success("")
