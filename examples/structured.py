"""An answer of a type: checked, and repaired by the model where it does not fit."""

from dataclasses import dataclass
from typing import Literal

from agenyx import Agent


@dataclass
class Finding:
    file: str
    problem: str
    severity: Literal["low", "high"]


result = Agent(mode="plan").run_sync("Look at this directory and name what is odd about it.", output=list[Finding])
for finding in result.output:
    print(f"{finding.severity}: {finding.file}: {finding.problem}")
