"""Figures that more than one module needs. Sizes in bytes, times in seconds; sources beside them."""

from __future__ import annotations

MAX_STEPS = 100
MAX_PARALLEL = 10  # calls of one group that run at once (reference: AgentX scheduler)
RESULT_CHARS = 50_000  # text of one result that the model sees
SHELL_CHARS = 30_000
CALLS_PER_RESPONSE = 256
ARGS_BYTES = 1 << 20
TOOL_NAME_CHARS = 64  # longer names are refused by OpenAI-compatible servers
RECORD_BYTES = 32 << 20
TRANSCRIPT_BYTES = 256 << 20
TRANSCRIPT_RECORDS = 100_000  # of one session (reference: AgentX §8.3)
STDIN_BYTES = 8 << 20
FILE_BYTES = 16 << 20  # largest file that a tool reads or writes whole
MOST_RULES = 4096  # permission rules of one place (reference: AgentX §6.3)
