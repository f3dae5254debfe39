"""A tool whose every call needs a yes, whatever modes and rules say. The program asks at its own terminal."""

from agenyx import Agent, Allow, Answer, Approval, Deny, approvable, tool


@tool(effects="none")
def transfer(amount: int, to: str) -> str:
    """Transfers an amount of euros to somebody."""
    return f"transferred {amount} euros to {to}"


def ask(approval: Approval) -> Answer:
    print(approval.effects.preview)
    print("why it is asked:", approval.verdict.text)
    said = input("[y]es, [h]alf of it, or a reason why not: ").strip()
    if said == "y":
        return True
    if said == "h":
        return Allow(args={"amount": 50, "to": "Ada"})
    return Deny(said)


agent = Agent(tools=[approvable(transfer)], builtin_tools=[], approver=ask)
print(agent.run_sync("Transfer 100 euros to Ada with the tool, then say what happened.").text)
