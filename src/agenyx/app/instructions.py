"""Decides whether a workspace's instructions are shown to the model: trusted by hash, for this run, or by asking."""

from __future__ import annotations

from collections.abc import Callable

from agenyx.agent.ports import Approver
from agenyx.app.settings import Settings
from agenyx.core.approval import Approval
from agenyx.core.events import Body, Notice
from agenyx.core.messages import ToolCall
from agenyx.core.tools import Effects
from agenyx.core.verdict import Reason, Verdict
from agenyx.ext.instructions import Instruction, find, section
from agenyx.workspace.trust import Trust

_SHOWN = 4000  # characters of each file in the question


async def trusted_section(
    settings: Settings, home: str, workspace: str, approver: Approver, tell: Callable[[Body], None]
) -> str:
    """The section for the system prompt, "" when there is none or it is not trusted. Raises ConfigError."""
    if settings.bare:
        return ""
    found, problems = find(workspace)
    for problem in problems:
        tell(Notice("warning", f"{problem}."))
    if not found:
        return ""
    files = [(item.path, item.sha256) for item in found]
    trust = Trust(home)
    if settings.trust or trust.holds(workspace, files):
        return section(found)
    if (await approver.decide(_question(found))).choice == "allow":
        try:
            trust.grant(workspace, files)
        except OSError as error:
            tell(Notice("warning", f"Your answer could not be stored: {error.strerror}.", "You will be asked again."))
        return section(found)
    names = ", ".join(item.path for item in found)
    tell(
        Notice(
            "warning",
            f"The instructions of this workspace were not read, because it is not trusted: {names}.",
            "Read them, then use --trust-workspace, or --bare to leave them out silently.",
        )
    )
    return ""


def _question(found: tuple[Instruction, ...]) -> Approval:
    parts: list[str] = []
    for item in found:
        shown = item.text[:_SHOWN]
        more = f"\n[… {len(item.text) - _SHOWN} more characters …]" if len(item.text) > _SHOWN else ""
        parts.append(f"{item.path} (sha256 {item.sha256[:16]}…)\n\n{shown}{more}")
    reason = Reason("rule", "instructions of a workspace steer the model; say yes once you have read them")
    return Approval(
        "trust",
        ToolCall("", "", "Trusting the instructions of this workspace", "{}"),
        Verdict("ask", (reason,)),
        Effects(preview="\n\n".join(parts)),
    )
