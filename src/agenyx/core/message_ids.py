"""The UUIDs by which programs know the messages of a session: the same whenever, and by whomever, it is read.

They are made of the turn, the step and the call, which stay what they are in copies of a session. Pure.
"""

from __future__ import annotations

from hashlib import sha256


def said(turn: str, step: int) -> str:
    """Of what the model said in the response with this number of its turn, beside its calls."""
    return _uuid(f"said {turn} {step}")


def called(call: str) -> str:
    """Of a call, by its id."""
    return _uuid(f"called {call}")


def answered(call: str) -> str:
    """Of the result of a call."""
    return _uuid(f"answered {call}")


def _uuid(name: str) -> str:
    """A version 8 UUID (RFC 9562): made of a name."""
    value = bytearray(sha256(f"agenyx {name}".encode("utf-8", "surrogatepass")).digest()[:16])
    value[6] = value[6] & 0x0F | 0x80
    value[8] = value[8] & 0x3F | 0x80
    text = value.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
