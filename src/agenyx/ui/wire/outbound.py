"""What we write, as types: the schema that hosts get is made from them. Names are those of the two contracts.

Members of `dict[str, Any]` are JSON of others: a tool's arguments, an event of the Messages API.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from agenyx.ui.wire.answers import Answer, Failed

JsonObject = dict[str, Any]


class TextBlock(Struct, frozen=True, tag="text", tag_field="type"):
    text: str


class ThinkingBlock(Struct, frozen=True, tag="thinking", tag_field="type"):
    """`signature` is always there, as hosts insist on it; it is empty."""

    thinking: str
    signature: str = ""


class ToolUseBlock(Struct, frozen=True, tag="tool_use", tag_field="type"):
    id: str
    name: str
    input: JsonObject


class ToolResultBlock(Struct, frozen=True, tag="tool_result", tag_field="type"):
    tool_use_id: str
    content: tuple[TextBlock, ...]
    is_error: bool


class MessageUsage(Struct, frozen=True):
    """Tokens of one response."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0


class AssistantMessage(Struct, frozen=True):
    id: str
    model: str
    content: tuple[TextBlock | ThinkingBlock | ToolUseBlock, ...]
    usage: MessageUsage
    stop_reason: str | None = None
    stop_sequence: None = None
    type: Literal["message"] = "message"
    role: Literal["assistant"] = "assistant"
    phase: str | UnsetType = UNSET


class AssistantRecord(Struct, frozen=True, tag="assistant", tag_field="type"):
    """What the model said, or one call that it made. All of one response have the same `message.id`."""

    message: AssistantMessage
    session_id: str
    uuid: str
    parent_tool_use_id: str | None = None


class UserMessage(Struct, frozen=True):
    content: str | tuple[TextBlock | ToolResultBlock, ...]
    role: Literal["user"] = "user"


class UserRecord(Struct, frozen=True, tag="user", tag_field="type"):
    """The result of a call, a prompt that was taken up (`isReplay`), or what we say in the user's place."""

    message: UserMessage
    session_id: str
    uuid: str
    parent_tool_use_id: str | None = None
    isReplay: bool | UnsetType = UNSET
    isSynthetic: bool | UnsetType = UNSET
    tool_use_result: JsonObject | UnsetType = UNSET


class StreamEvent(Struct, frozen=True, tag="stream_event", tag_field="type"):
    """A piece of the answer while it is made: an event of the Messages API, or for AgentX hosts a text delta."""

    event: JsonObject
    session_id: str
    uuid: str
    parent_tool_use_id: str | None = None


class ToolProgress(Struct, frozen=True, tag="tool_progress", tag_field="type"):
    tool_use_id: str
    tool_name: str
    elapsed_time_seconds: float
    session_id: str
    uuid: str
    parent_tool_use_id: str | None = None


class Server(Struct, frozen=True):
    name: str
    status: str


class Init(Struct, frozen=True, tag="system", tag_field="type"):
    """What the session is: with each turn to the Agent SDKs, once to AgentX hosts."""

    session_id: str
    uuid: str
    cwd: str
    tools: tuple[str, ...]
    mcp_servers: tuple[Server, ...]
    model: str
    permissionMode: str
    slash_commands: tuple[str, ...]
    apiKeySource: str
    agenyx_version: str
    output_style: str
    skills: tuple[str, ...]
    plugins: tuple[JsonObject, ...]
    agents: tuple[str, ...]
    provider: str
    provider_type: str
    reasoning_capabilities: JsonObject
    claude_code_version: str | UnsetType = UNSET
    capabilities: tuple[str, ...] | UnsetType = UNSET
    input_capabilities: JsonObject | UnsetType = UNSET
    subtype: Literal["init"] = "init"


class StateChanged(Struct, frozen=True, tag="system", tag_field="type"):
    state: Literal["running", "requires_action", "idle"]
    session_id: str
    uuid: str
    sdk_host_only: bool | UnsetType = UNSET
    subtype: Literal["session_state_changed"] = "session_state_changed"


class CompactBoundary(Struct, frozen=True, tag="system", tag_field="type"):
    """`compact_metadata` has `trigger` (manual, auto) and `pre_tokens`."""

    compact_metadata: JsonObject
    session_id: str
    uuid: str
    subtype: Literal["compact_boundary"] = "compact_boundary"


class Informational(Struct, frozen=True, tag="system", tag_field="type"):
    """Something that a person should know: what was left out and how to change that, or who answers now."""

    content: str
    level: Literal["info", "warning"]
    session_id: str
    uuid: str
    subtype: Literal["informational"] = "informational"


class LocalOutput(Struct, frozen=True, tag="system", tag_field="type"):
    """What a slash command answered."""

    content: str
    session_id: str
    uuid: str
    subtype: Literal["local_command_output"] = "local_command_output"


class StatusRecord(Struct, frozen=True, tag="system", tag_field="type"):
    """The permission mode is another one from here on."""

    permissionMode: str
    session_id: str
    uuid: str
    status: None = None
    subtype: Literal["status"] = "status"


class ApiRetry(Struct, frozen=True, tag="system", tag_field="type"):
    attempt: int
    max_retries: int
    retry_delay_ms: int
    error: str
    session_id: str
    uuid: str
    subtype: Literal["api_retry"] = "api_retry"


class HookStarted(Struct, frozen=True, tag="system", tag_field="type"):
    """A hook begins to run: with --include-hook-events."""

    hook_id: str
    hook_name: str
    hook_event: str
    session_id: str
    uuid: str
    subtype: Literal["hook_started"] = "hook_started"


class HookResponse(Struct, frozen=True, tag="system", tag_field="type"):
    """What that hook came to. `exit_code` is null where there is none: it failed, and `stderr` says how."""

    hook_id: str
    hook_name: str
    hook_event: str
    output: str
    stderr: str
    exit_code: int | None
    outcome: Literal["success", "error"]
    session_id: str
    uuid: str
    subtype: Literal["hook_response"] = "hook_response"


class ResultRecord(Struct, frozen=True, tag="result", tag_field="type"):
    """The end of one turn. `result` where it went well, `errors` where it did not."""

    subtype: Literal[
        "success",
        "error_during_execution",
        "error_max_turns",
        "error_max_budget_usd",
        "error_max_structured_output_retries",
        "approval_required",
    ]
    duration_ms: int
    duration_api_ms: int
    is_error: bool
    num_turns: int
    stop_reason: str | None
    total_cost_usd: float | None
    usage: JsonObject
    modelUsage: JsonObject
    permission_denials: tuple[JsonObject, ...]
    session_id: str
    uuid: str
    result: str | UnsetType = UNSET
    errors: tuple[str, ...] | UnsetType = UNSET
    terminal_reason: str | UnsetType = UNSET
    api_error_status: UnsetType | None = UNSET
    prompt_uuid: str | UnsetType = UNSET
    user_message_uuid: str | UnsetType = UNSET
    data: Any = UNSET
    structured_output: Any = UNSET
    approvals: tuple[JsonObject, ...] | UnsetType = UNSET
    cost_known: bool | UnsetType = UNSET


class ImportResult(Struct, frozen=True, tag="attachment_import_result", tag_field="type"):
    """How an upload of an AgentX host stands. `attachment` is what a prompt has to name, once it is committed."""

    version: int
    upload_id: str
    attachment_id: str
    status: Literal["accepted", "committed", "aborted", "expired", "failed"]
    terminal: bool
    prompt_uuid: str
    attachment: JsonObject | UnsetType = UNSET
    reason: str | UnsetType = UNSET


class ImportRejected(Struct, frozen=True, tag="attachment_import_rejected", tag_field="type"):
    """A record about an upload that could not be taken; the upload, where there is one, stands as before."""

    version: int
    upload_id: str
    reason: str
    status: Literal["rejected"] = "rejected"
    terminal: bool = False


class ControlResponse(Struct, frozen=True, tag="control_response", tag_field="type"):
    """The answer to a `control_request` of the host, always exactly one."""

    response: Answer | Failed


class ControlRequest(Struct, frozen=True, tag="control_request", tag_field="type"):
    """What we ask the host: `can_use_tool`, `hook_callback`, `mcp_message`."""

    request_id: str
    request: JsonObject


class ControlCancel(Struct, frozen=True, tag="control_cancel_request", tag_field="type"):
    """The host need not answer that request of ours any more."""

    request_id: str


Outbound = (
    AssistantRecord
    | UserRecord
    | StreamEvent
    | ToolProgress
    | Init
    | StateChanged
    | CompactBoundary
    | Informational
    | LocalOutput
    | StatusRecord
    | ApiRetry
    | HookStarted
    | HookResponse
    | ResultRecord
    | ImportResult
    | ImportRejected
    | ControlResponse
    | ControlRequest
    | ControlCancel
)
