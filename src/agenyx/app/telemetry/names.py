"""The names of the OpenTelemetry conventions for generative AI, and what of ours goes by them. Data only.

They are written down here, as the package that has them is an optional one and calls its own copies outdated.
"""

from __future__ import annotations

from agenyx.config.profiles import Profile
from agenyx.core.messages import Stop

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
CONVERSATION = "gen_ai.conversation.id"
AGENT_ID = "gen_ai.agent.id"
AGENT_NAME = "gen_ai.agent.name"
AGENT_VERSION = "gen_ai.agent.version"
REQUEST_MODEL = "gen_ai.request.model"
REQUEST_STREAM = "gen_ai.request.stream"
RESPONSE_ID = "gen_ai.response.id"
RESPONSE_MODEL = "gen_ai.response.model"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
OUTPUT_TYPE = "gen_ai.output.type"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHE_READ = "gen_ai.usage.cache_read.input_tokens"
CACHE_CREATION = "gen_ai.usage.cache_creation.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE = "gen_ai.token.type"
TOOL_NAME = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_ARGUMENTS = "gen_ai.tool.call.arguments"
TOOL_RESULT = "gen_ai.tool.call.result"
INPUT_MESSAGES = "gen_ai.input.messages"
OUTPUT_MESSAGES = "gen_ai.output.messages"
MCP_METHOD = "mcp.method.name"
SERVER = "server.address"
PORT = "server.port"
ERROR = "error.type"

DURATION = "gen_ai.client.operation.duration"
TOKENS = "gen_ai.client.token.usage"
TIME_TO_FIRST = "gen_ai.client.operation.time_to_first_chunk"
TIME_PER_CHUNK = "gen_ai.client.operation.time_per_output_chunk"

_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0)
_CHUNK = (0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5)
HISTOGRAMS = {
    DURATION: ("s", "How long an operation took.", _SECONDS),
    TOKENS: ("{token}", "Input and output tokens of one response.", tuple(float(4**n) for n in range(14))),
    TIME_TO_FIRST: ("s", "From the request to the first piece of the answer.", _FIRST),
    TIME_PER_CHUNK: ("s", "From one piece of the answer to the next.", _CHUNK),
}
"""Unit, description and bucket boundaries of each metric."""

FINISH: dict[Stop, str] = {
    "end": "stop",
    "calls": "tool_call",
    "length": "length",
    "refusal": "content_filter",
    "filter": "content_filter",
    "cut": "error",
}

_BY_HOST = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "api.deepseek.com": "deepseek",
    "api.groq.com": "groq",
    "api.mistral.ai": "mistral_ai",
    "api.x.ai": "x_ai",
    "api.perplexity.ai": "perplexity",
    "api.cohere.com": "cohere",
    "generativelanguage.googleapis.com": "gcp.gemini",
}
_BY_TYPE = {"openai": "openai", "anthropic": "anthropic", "azure_openai": "azure.ai.openai"}


def provider_name(profile: Profile) -> str:
    """What the conventions call the provider; where they have no name for it, the id of the profile."""
    return _BY_HOST.get(profile.host) or _BY_TYPE.get(profile.type) or profile.id
