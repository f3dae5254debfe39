"""The skills of one conversation: the tool and the list that the model gets, and the commands that a person gets.

Read when the conversation opens, and only where there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agenyx.agent.context import estimate
from agenyx.agent.subagent import Order
from agenyx.app.commands.spec import Command, Desk, Reply
from agenyx.config.home import home_path
from agenyx.core.errors import AgenyxError
from agenyx.core.messages import Text, User
from agenyx.core.verdict import Scope
from agenyx.ext.skills.catalogue import budget, catalogue
from agenyx.ext.skills.reading import Skill, Skills, read
from agenyx.ext.skills.text import told
from agenyx.ext.skills.tool import Ports, prepared
from agenyx.ext.skills.tool import Skill as SkillTool
from agenyx.tools.spec import Outcome

if TYPE_CHECKING:
    from agenyx.app.extensions import Extensions
    from agenyx.app.runtime import Conversation
    from agenyx.ext.sources import Source


class Library:
    """Gives the conversation the tool Skill, where the model may call one."""

    def __init__(self, conversation: Conversation, extensions: Extensions) -> None:
        self._conversation, self._extensions = conversation, extensions
        self._read: tuple[tuple[Source, ...], Skills] = ((), Skills())
        source, registry = conversation.parts.source, conversation.parts.registry
        self._ports = Ports(
            self.skills,
            self._printed,
            self._fork if registry.find("Task") is not None else None,
            conversation.session_id,
            lambda: (conversation.model, conversation.effort),
            home_path(source.env),
        )
        if any(skill.listed for skill in self.skills().found.values()):
            registry.add(SkillTool(self._ports))

    def skills(self) -> Skills:
        """Those there are now."""
        sources = self._extensions.sources("skills")
        if sources is not self._read[0]:
            self._read = (sources, read(sources, self._conversation.parts.registry.aliases()))
        return self._read[1]

    def section(self) -> str:
        """The list for the system text, "" for none."""
        if self._conversation.parts.registry.find("Skill") is None:
            return ""
        most = budget(self._conversation.window())
        return catalogue(self.skills().found.values(), most, lambda text: estimate([User((Text(text),))]))

    def commands(self) -> tuple[Sequence[Command], Sequence[str]]:
        """A command for each skill that a person may call."""
        typed = [skill for skill in self.skills().found.values() if skill.typed]
        return [self._command(skill) for skill in typed], ()

    def _command(self, skill: Skill) -> Command:
        async def run(desk: Desk, args: str) -> Reply:
            return await self._reply(skill, args)

        return Command(skill.name, skill.description, run, skill.hint or "[TEXT]", origin=skill.path)

    async def _reply(self, skill: Skill, args: str) -> Reply:
        if skill.fork and skill.listed and self._ports.fork is not None:
            given = f" and these arguments: {args}" if args else ""
            text = f"Call Skill with the skill {skill.name}{given}. It runs as a subagent; then tell me its answer."
            return Reply(prompt=User((Text(text),)))
        text, notes = await prepared(skill, args, self._ports)
        user = User((Text(f"Follow this skill, which I call by its name.\n{told(skill, text, notes)}"),))
        return Reply(prompt=User(user.blocks, scope=skill.scope) if skill.scope.by else user)

    async def _printed(self, command: str) -> str:
        """What a command prints that is judged like one of the model. Raises AgenyxError."""
        from agenyx.app.aside import Aside  # few skills run something

        said = await Aside(self._conversation)("Bash", {"command": command})
        if not said.ran:
            raise AgenyxError("it was refused", said.result.text)
        return said.result.text

    async def _fork(self, call: str, text: str, scope: Scope, agent: str) -> Outcome:
        return await self._conversation.crew.run(Order(call, text, agent, scope, ("Skill",)))
