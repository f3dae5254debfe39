from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.core.tty import safe
from agenyx.ext.mcp.clean import clean, is_name, one_line


@given(st.text(), st.integers(8, 60))
def test_within_the_size_visible_and_unchanged_where_nothing_is_wrong(text, most):
    found = clean(text, most)
    assert len(found.encode()) <= most
    assert safe(found) == found
    if len(text.encode("utf-8", "replace")) <= most and safe(text) == text:
        assert found == text


@pytest.mark.parametrize("value", [None, 7, [], {}])
def test_what_is_no_text_is_none(value):
    assert clean(value) == "" and not is_name(value)


def test_a_cut_is_shown():
    assert clean("x" * 100, 20) == "x" * 16 + " …"
    assert one_line("a\r\n  b\tc") == "a b c"


@pytest.mark.parametrize(("name", "good"), [("a b", True), ("", False), ("a\x00", False), ("ü" * 129, False)])
def test_names(name, good):
    assert is_name(name) == good
