"""Skills by the open standard: folders with a SKILL.md that say how a kind of task is done."""
