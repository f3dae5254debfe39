"""HTML is cut where browsers cut it, whatever is broken, and in time linear in its length."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace.html_tokens import End, Start, Text, tokens


def cut(html: str) -> list[str]:
    shown = {Text: "{0.text}", Start: "<{0.name}>", End: "</{0.name}>"}
    return [shown[type(token)].format(token) for token in tokens(html)]


@pytest.mark.parametrize(
    ("html", "pieces"),
    [
        ("a<b>c</B >d", ["a", "<b>", "c", "</b>", "d"]),
        ("1 < 2 && 3 > 2", ["1 ", "<", " 2 && 3 > 2"]),
        ("a<!-- <b> -->c<!doctype html><?php x ?>d", ["a", "c", "d"]),
        ("a<!-- never", ["a"]),
        ("a<b", ["a"]),
        ("<p title='a > b' x=\"</p>\">c", ["<p>", "c"]),
        ("<p title='never closed>c</p>d", ["<p>", "c", "</p>", "d"]),
        ("<p don't>c", ["<p>", "c"]),
        ("<script>if (a<b) '</p>'</script>c", ["<script>", "if (a<b) '</p>'", "</script>", "c"]),
        ("<style>never", ["<style>", "never"]),
        ("<title>a<b></TITLE\n>c", ["<title>", "a<b>", "</title>", "c"]),
        ("</ x></3>a", ["a"]),
        ("<br/><x-y:z>", ["<br>", "<x-y:z>"]),
        ("<", ["<"]),
        ("", []),
    ],
)
def test_pieces(html: str, pieces: list[str]) -> None:
    assert cut(html) == pieces


def test_attributes() -> None:
    (start,) = tokens("<a href=x.html TITLE='a &amp; b' data-x = \"1\" hidden href=second>")
    assert isinstance(start, Start)
    assert start.attributes() == {"href": "x.html", "title": "a & b", "data-x": "1", "hidden": ""}


@given(st.text(alphabet="<>/!-?='\"ab p&;\n", max_size=80))
def test_any_text_is_cut_and_nothing_is_invented(html: str) -> None:
    for token in tokens(html):
        match token:
            case Text(text):
                assert text and text in html
            case Start(name) | End(name):
                assert name in html.lower()


@pytest.mark.parametrize("piece", ["<a ", "<", '<a b="', "<!--", '<a =" >', "<a x='>", "<script>", "</p", "<a b=\"'>"])
def test_broken_text_takes_linear_time(piece: str) -> None:
    def seconds(count: int) -> float:
        began = time.process_time()
        for _ in tokens(piece * count):
            pass
        return time.process_time() - began

    # Twenty times the text: quadratic time would be four hundred times as long.
    assert seconds(200_000) < 0.5 + 100 * max(seconds(10_000), 0.005)
