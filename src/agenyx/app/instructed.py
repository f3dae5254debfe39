"""All instructions that hold for one conversation: the person's, the project's, and rules for certain files.

Says what is told and what was left out; whoever shows it or tells it reads it here.
"""

from __future__ import annotations

from msgspec import Struct

from agenyx.app.extensions import Extensions
from agenyx.ext.instructions import ADVISED_CHARS, MOST_CHARS, Instruction, bounded, instructions, section
from agenyx.ext.rules import Rule, rules, standing


class Instructed(Struct, frozen=True):
    """`told` belongs to the system text, `rules` to the files they name. `left` are phrases: what was left out, why."""

    told: tuple[Instruction, ...]
    rules: tuple[Rule, ...]
    left: tuple[str, ...]

    @property
    def chars(self) -> int:
        return sum(len(item.text) for item in self.told)


def gathered(extensions: Extensions) -> Instructed:
    """What a new session would get now. Reads the files, where they were not read yet."""
    found = list(instructions(extensions.sources("instructions")))
    ruled, problems = rules(extensions.sources("rules"))
    always = standing(ruled)
    order = (
        *(item for item in found if item.own),
        *(item for item in always if item.own),
        *(item for item in found if not item.own),
        *(item for item in always if not item.own),
    )
    told, crowded = bounded(order)
    left = [f"{item.path} was left out: all instructions together exceed {MOST_CHARS:,} characters" for item in crowded]
    return Instructed(told, tuple(rule for rule in ruled if rule.patterns), (*problems, *left))


def instructed(extensions: Extensions) -> str:
    """The section for the system text of a new session. What is worth a word is told to the person."""
    found = gathered(extensions)
    for problem in found.left:
        extensions.tell("warning", f"{problem}.")
    for item in found.told:
        if item.hidden:
            extensions.tell("warning", f"{item.path} holds what cannot be seen, told as escapes: {item.hidden}.")
    if found.chars > ADVISED_CHARS:
        extensions.tell(
            "warning",
            f"The instructions hold {found.chars:,} characters, which every request carries.",
            f"Keep them below {ADVISED_CHARS:,}: move what holds for certain files only into rules with paths.",
        )
    return section(found.told)
