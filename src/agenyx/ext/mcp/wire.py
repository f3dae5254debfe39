"""JSON-RPC 2.0 as MCP uses it over stdio: one message a line. Pure."""

from __future__ import annotations

from typing import Any, cast

from msgspec import UNSET, Struct

from agenyx.core import json

INVALID_REQUEST = -32600
NO_METHOD = -32601
UNSUPPORTED_VERSION = -32022

Object = dict[str, Any]
Id = int | str


class Incoming(Struct, frozen=True):
    """A message as it came. With a method it is a request (it has an id) or a notification, else a response."""

    id: Any = UNSET
    method: Any = UNSET
    params: Any = UNSET
    result: Any = UNSET
    error: Any = UNSET


class RpcError(Exception):
    """The other side answered with an error. `data` is decoded JSON."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


_one: json.Decoder[Incoming] = json.Decoder(Incoming)
_batch: json.Decoder[list[Incoming]] = json.Decoder(list[Incoming])


def decode(line: bytes) -> list[Incoming]:
    """The messages of a line: one, or several in a list, as revision 2025-03-26 has it. Raises JsonError."""
    return _batch.decode(line) if line.startswith(b"[") else [_one.decode(line)]


def request(id_: Id, method: str, params: Object) -> bytes:
    return json.encode({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}) + b"\n"


def notification(method: str, params: Object | None = None) -> bytes:
    body: Object = {"jsonrpc": "2.0", "method": method}
    return json.encode(body | ({"params": params} if params is not None else {})) + b"\n"


def response(id_: Id, result: Object) -> bytes:
    return json.encode({"jsonrpc": "2.0", "id": id_, "result": result}) + b"\n"


def failure(id_: Id, code: int, message: str) -> bytes:
    return json.encode({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}) + b"\n"


def members(value: object) -> Object:
    """The value where it is an object, else an empty one: servers send what they like."""
    return cast("Object", value) if isinstance(value, dict) else {}


def is_object(value: object) -> bool:
    return isinstance(value, dict)


def items(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def error_of(value: object) -> RpcError:
    """The error of a response."""
    fields = members(value)
    code, message = fields.get("code"), fields.get("message")
    return RpcError(
        code if isinstance(code, int) and not isinstance(code, bool) else 0,
        message if isinstance(message, str) and message else "an error without words",
        fields.get("data"),
    )


def is_id(value: object) -> bool:
    return isinstance(value, int | str) and not isinstance(value, bool) and value is not UNSET
