"""Turns what a server or the network said into a Failure: its kind, one sentence, and what to do next. No I/O."""

from __future__ import annotations

import re
from typing import Any, cast

from msgspec import Struct

from agenyx.core import json
from agenyx.core.events import Failure, FailureKind
from agenyx.llm.http_errors import ConnectFailed, HttpError, IdleTimeout, ProtocolError, ProxyRefused, TlsFailed

SHOWN = 300  # characters of a server's own text
DOCUMENT_BYTES = 16 << 20  # of a response that is one document in place of a stream

# Compiled when something failed: few runs need them.
_QUOTA = r"insufficient_(user_)?quota|billing|exceeded your current quota|credit balance|insufficient (credits|balance)"
_OVERFLOW = (
    r"context_length_exceeded|context[ _]window|maximum context|context length|exceed_context_size|context size"
    r"|prompt is too long|input is too long|too many (input )?tokens|reduce the length|input token count"
    r"|max_model_len|request too large"
)
_BUSY = r"rate.?limit|overloaded|too many requests|capacity|unavailable|try again"
_AUTH = r"invalid_api_key|incorrect api key|authentication|unauthorized|permission"


def _says(pattern: str, said: Complaint) -> bool:
    return re.search(pattern, f"{said.codes} {said.message}", re.I) is not None


class Target(Struct, frozen=True):
    """What was asked: for messages that name it. `key_name` and `url_name` are where a person sets key and address."""

    url: str
    host: str
    model: str
    secured: bool  # whether a key went along
    key_name: str = "OPENAI_API_KEY"
    url_name: str = "OPENAI_BASE_URL"


def brief(text: str, limit: int = SHOWN) -> str:
    """One bounded line of foreign text."""
    line = " ".join(text[: 4 * limit].split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class Complaint(Struct, frozen=True):
    """A server's error, reduced: its text and its codes in one searchable string."""

    message: str
    codes: str = ""
    status: int = 0


def complaint(error: object) -> Complaint:
    """From the error value of any known envelope: an object, a string, or an object around either."""
    if isinstance(error, str):
        return Complaint(error)
    if isinstance(error, list) and error:
        return complaint(cast("list[Any]", error)[0])
    if not isinstance(error, dict):
        return Complaint("")
    fields = cast("dict[str, Any]", error)
    inner = fields.get("error")
    if isinstance(inner, dict | list) or (isinstance(inner, str) and "message" not in fields):
        return complaint(cast("object", inner))
    message = fields.get("message") or fields.get("detail") or fields.get("msg") or ""
    if not isinstance(message, str):
        message = json.encode(message).decode()
    names = [fields.get(name) for name in ("code", "type", "status")]
    codes = " ".join(str(name) for name in names if isinstance(name, str | int))
    code = fields.get("code")
    digits = isinstance(code, str) and len(code) == 3 and code.isdigit()
    status = code if isinstance(code, int) else int(code) if isinstance(code, str) and digits else 0
    return Complaint(message, codes, status)


def of_body(body: bytes) -> Complaint:
    """From the body of an error response, which may be anything."""
    try:
        found = complaint(json.decode(body))
    except json.JsonError:
        text = body.decode("utf-8", "replace")
        if "<" in text:
            text = re.sub(r"<(script|style)\b.*?</\1>|<[^>]*>", " ", text[:16384], flags=re.I | re.S)
        return Complaint(text)
    return found


def _kind(status: int, said: Complaint) -> FailureKind:
    if _says(_OVERFLOW, said) and status in (0, 400, 413, 422, 500):
        return "overflow"
    if status == 402 or (status in (0, 400, 403, 429) and _says(_QUOTA, said)):
        return "quota"
    match status:
        case 401 | 403:
            return "auth"
        case 404 | 405 | 410:
            return "not_found"
        case 413:
            return "overflow"
        case 408 | 409 | 425 | 429 | 503 | 529:
            return "busy"
        case 0:
            return "busy" if _says(_BUSY, said) else "auth" if _says(_AUTH, said) else "server"
        case _ if status >= 500:
            return "server"
        case _ if 300 <= status < 400:
            return "protocol"
        case _:
            return "invalid"


def _fix(kind: FailureKind, target: Target) -> str:
    match kind:
        case "auth" if not target.secured:
            return f"{target.host} wants a key: set {target.key_name}."
        case "auth":
            model = target.model or "the model"
            return f"Check that {target.key_name} is a valid key of {target.host} and may use {model}."
        case "not_found":
            if "/openai/responses" in target.url or "/openai/v1/responses" in target.url:
                return f"Check the deployment, the endpoint ({target.url_name}) and the API version."
            base = f"the base URL ({target.url_name}, often ending in /v1)"
            return f"Check the model (--model or AGENYX_MODEL) and {base}."
        case "quota":
            return f"Check plan and billing at {target.host}, or use another key or provider."
        case "overflow":
            return "The conversation no longer fits the model: shorten it, or use a model with a larger context."
        case "busy":
            return "Try again later."
        case "server":
            return "The fault is the server's: try again later."
        case "invalid":
            return "Check that the server knows the model and these options."
        case _:
            return f"Check the base URL ({target.url_name})."


def of_status(status: int, location: str, said: Complaint, target: Target) -> Failure:
    """A response that is not a success. `location` is where a redirect points."""
    if 300 <= status < 400:
        return Failure(
            "protocol",
            f"{target.url} answered {status} and points to {brief(location, 120) or 'nowhere'}; "
            "redirects are not followed, so that key and code go nowhere else",
            f"If the new address is right, set it as the base URL ({target.url_name}).",
        )
    kind = _kind(status, said)
    detail = f": {brief(said.message)}" if said.message.strip() else ""
    if kind == "not_found":
        message = f"{target.url} does not know the path or the model {target.model!r} ({status}){detail}"
    else:
        message = f"{target.host} answered {status}{detail}"
    retryable = kind in ("busy", "server") or status in (408, 409, 425)
    return Failure(kind, message, _fix(kind, target), retryable)


def of_stream(error: object, target: Target) -> Failure:
    """An error object inside a stream."""
    said = complaint(error)
    kind = _kind(said.status if 400 <= said.status < 600 else 0, said)
    detail = brief(said.message or said.codes) or "it did not say why"
    return Failure(
        kind, f"{target.host} broke off with an error: {detail}", _fix(kind, target), kind in ("busy", "server")
    )


def of_http(error: HttpError, target: Target) -> Failure:
    """A fault below HTTP."""
    match error:
        case TlsFailed():
            return Failure("tls", error.message, error.hint)
        case ProxyRefused():
            return Failure("connect", error.message, error.hint)
        case ConnectFailed():
            fix = (
                "Correct or unset HTTPS_PROXY (or ALL_PROXY), or name the host in NO_PROXY."
                if error.proxy
                else f"Nothing listens there: start the server, or check the base URL ({target.url_name})."
                if error.refused
                else f"Check the network, the base URL ({target.url_name}) and the proxy (HTTPS_PROXY, NO_PROXY)."
            )
            return Failure("connect", error.message, fix, True)
        case IdleTimeout():
            return Failure("idle", f"{target.host} went silent: {error.message}", "Try again.", True)
        case ProtocolError():
            return Failure("protocol", error.message, _fix("protocol", target))
        case _:
            return Failure("truncated", f"{target.host}: {error.message}", "Try again.", True)
