"""The table of programs itself: well formed, without contradictions, documented, and enough for a new program."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

import agenyx
from agenyx.core import json
from agenyx.policy import table as module
from agenyx.policy.table import Change, Entry, build, table

SOURCE = Path(agenyx.__file__).parent / "policy"
DOCS = Path(__file__).parents[2] / "docs" / "programs.md"


def entries() -> list[tuple[str, Entry]]:
    found: dict[int, tuple[str, Entry]] = {}
    stack = list(table().programs.items())
    while stack:
        name, entry = stack.pop()
        if id(entry) not in found:
            found[id(entry)] = (name, entry)
            stack += [(f"{name} {sub}", child) for sub, child in entry.sub.items()]
    return list(found.values())


def test_the_table_is_well_formed() -> None:
    assert len(table().programs) >= 120
    slots = {
        "text", "read", "write", "remove", "move", "rev", "word", "at", "host", "check", "script", "name", "export",
        "key", "remote", "remotewrite", "where", "own", "changes", "unknown", "inner",
    }  # fmt: skip
    kinds = {"reads", "writes", "removes", "network", "runs", "unknown"}
    for name, entry in entries():
        assert {slot.rstrip("*") for slot in entry.operands.split()} <= slots, name
        assert sum(slot.endswith("*") for slot in entry.operands.split()) <= 1, name
        for stated in (entry, *(change for option in entry.options.values() for change in option.changes)):
            assert set((stated.kinds or "").split()) <= kinds, name
            assert not stated.concern or re.match(r"(refuse|always|danger): \w", stated.concern), name
            re.compile(stated.check or "")
        assert entry.kinds is not None, f"{name} says no kinds"


def test_no_name_and_no_option_stands_twice() -> None:
    raw = json.decode((SOURCE / "programs.json").read_bytes())
    names = [name for key in raw["programs"] for name in key.split("|")]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    stack = [(key, entry) for key, entry in raw["programs"].items()]
    twice: list[str] = []
    while stack:
        name, entry = stack.pop()
        stack += [(f"{name} {sub}", child) for sub, child in entry.get("sub", {}).items()]
        groups = [entry.get(role, "") for role in module._VALUE_ROLES] + list(entry.get("asks", ()))
        takes = [token for group in groups for token in module._tokens(group)]
        twice += [f"{name} {option}" for option, n in Counter(option for option, _ in takes).items() if n > 1]
        for tokens in entry.get("when", {}):
            twice += [f"{name} {o} takes {t}" for o, t in module._tokens(tokens) if dict(takes).get(o, t) != t]
    assert twice == []


def test_a_mistake_in_the_table_is_told() -> None:
    with pytest.raises(json.JsonError, match="kind"):
        build(b'{"variables": {"harmless": "", "risky": ""}, "programs": {"x": {"kind": "reads"}}}')


def test_every_member_of_the_table_is_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for struct in (Entry, Change):
        for field in msgspec.structs.fields(struct):
            assert f"`{field.name}`" in text, field.name
    for slot in ("rev", "remotewrite", "where", "changes", "unknown", "inner", "script", "move", "key", "check"):
        assert f"`{slot}`" in text, slot


def test_a_new_program_needs_no_code() -> None:
    data = b"""{"variables": {"harmless": "", "risky": ""}, "programs": {
        "frob": {"kinds": "reads", "operands": "read*", "flags": "v verbose", "write": "o= output="},
        "frob2": {"like": "frob", "flags": "x"}}}"""
    entry = build(data).programs["frob2"]
    assert {"-v", "--verbose", "-o", "--output", "-x"} == set(entry.options)


def test_the_interpreter_is_short() -> None:
    assert len((SOURCE / "programs.py").read_text(encoding="utf-8").splitlines()) < 200
