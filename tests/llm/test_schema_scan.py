"""Reading one JSON object as it arrives: any split, any escape, and what is no object of the protocol."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.llm.schema_scan import ARGUMENTS, FINAL, TOOL, Scanner


def scan(parts: list[str]) -> tuple[str, str, Scanner]:
    scanner = Scanner()
    answer, draft = "", ""
    for part in parts:
        said, drafted = scanner.feed(part)
        answer, draft = answer + said, draft + drafted
    return answer + scanner.end(), draft, scanner


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    return [text[a:b] for a, b in itertools.pairwise(places)]


@given(st.text(), st.booleans(), st.lists(st.integers(0, 500), max_size=8))
def test_a_final_answer_comes_out_as_it_was_said(said: str, ascii_only: bool, cuts: list[int]) -> None:
    text = json.dumps({FINAL: said}, ensure_ascii=ascii_only)
    answer, draft, scanner = scan(pieces(text, cuts))
    assert (answer, draft, scanner.whole) == (said, "", True)
    assert scanner.value(FINAL) == said and scanner.raw == text


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.text(min_size=1), st.dictionaries(st.text(), values, max_size=4), st.lists(st.integers(0, 500), max_size=8))
def test_arguments_keep_their_exact_text(name: str, arguments: dict[str, object], cuts: list[int]) -> None:
    exact = json.dumps(arguments, indent=1)
    answer, draft, scanner = scan(pieces(f'  {{"{TOOL}" : {json.dumps(name)},\n"{ARGUMENTS}":{exact} }} ', cuts))
    assert (answer, draft) == ("", exact)
    assert (scanner.value(TOOL), scanner.value(ARGUMENTS), scanner.whole) == (name, exact, True)


ODD = {
    "prose": 'Hello, {"tool": 1} is no call.',
    "prose after white space": " \n Hello",
    "white space only": " \n",
    "cut in the answer": '{"final_answer": "half a sen',
    "cut in an escape": r'{"final_answer": "a\u00',
    "cut between two halves of a character": r'{"final_answer": "a\ud83d',
    "half a character": r'{"final_answer": "a\ud83d b \udc00"}',
    "an escape that does not exist": r'{"final_answer": "a\uzzzz b"}',
    "a control character": '{"final_answer": "a\nb\tc"}',
    "an answer that is no text": '{"final_answer": {"a": [1, "x}"]}}',
    "a number": '{"final_answer": 42}',
    "arguments as text": r'{"tool": "T", "arguments": "{\"a\": 1}"}',
    "cut in the arguments": '{"tool": "T", "arguments": {"a": "b',
    "broken": '{"tool": "T" oops',
    "not a key": "{tool: 1}",
    "an empty object": "{}",
    "another member": '{"thought": {"a": "}"}, "final_answer": "x"}',
    "text behind it": '{"final_answer": "x"} and more',
    "raw escapes": r'{"tool": "T", "arguments": {"a": "q\"\\", "b": "\u12"}}',
}
SAYS = {
    "prose": ODD["prose"],
    "prose after white space": " \n Hello",
    "white space only": "",
    "cut in the answer": "half a sen",
    "cut in an escape": "a",
    "cut between two halves of a character": "a\ufffd",
    "half a character": "a\ufffd b \ufffd",
    "an escape that does not exist": "a\ufffdzzzz b",
    "a control character": "a\nb\tc",
    "an answer that is no text": '{"a": [1, "x}"]}',
    "a number": "42",
    "another member": "x",
    "text behind it": "x",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_texts_are_read_alike_at_every_split(name: str) -> None:
    text = ODD[name]

    def facts(parts: list[str]) -> tuple[object, ...]:
        answer, draft, scanner = scan(parts)
        return answer, draft, scanner.value(TOOL), scanner.value(ARGUMENTS), scanner.whole

    whole = facts([text])
    assert whole[0] == SAYS.get(name, "")
    for cut in range(len(text) + 1):
        assert facts([text[:cut], text[cut:]]) == whole, cut
    assert facts(list(text)) == whole
    assert whole[4] == (name not in NOT_WHOLE)


NOT_WHOLE = {
    *("prose", "prose after white space", "white space only", "broken", "not a key"),
    *(name for name in ODD if name.startswith("cut")),
}


def test_arguments_as_text_are_taken_for_what_they_say() -> None:
    assert scan([ODD["arguments as text"]])[2].value(ARGUMENTS) == '{"a": 1}'


def test_a_large_call_in_one_read() -> None:
    arguments = {"items": ["x\n"] * 100_000}
    scanner = scan([json.dumps({TOOL: "T", ARGUMENTS: arguments})])[2]
    assert scanner.whole and json.loads(scanner.value(ARGUMENTS)) == arguments
