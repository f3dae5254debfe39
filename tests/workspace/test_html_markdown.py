"""A page as Markdown: what its readers see, and nothing that they do not see."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenyx.workspace.html_markdown import markdown


def made(html: str, base: str = "https://site.example/docs/page") -> str:
    return markdown(html, base).text


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<h1>One</h1><h3>Th<em>re</em>e</h3>", "# One\n\n### Th*re*e"),
        ("<p>a\n  b<p>c<br>d", "a b\n\nc\nd"),
        ("x <b>bold </b>y <i></i><code>f(x)</code>", "x **bold** y `f(x)`"),
        ("<b>never closed", "**never closed**"),
        ("a &lt;b&gt; &amp;amp; &nbsp; &#8212; &copy;", "a <b> &amp; — ©"),
        ("<ul><li>a<li>b<ul><li>c</ul><li>d</ul>e", "- a\n- b\n  - c\n- d\n\ne"),
        ("<ol start=9><li>a</li><li><p>b</p><p>c</p></li></ol>", "9. a\n10. b\n\n    c"),
        ("<li>alone<li>more", "- alone\n- more"),
        ("<blockquote><p>a<p>b<ul><li>c</ul></blockquote>d", "> a\n\n> b\n\n> - c\n\nd"),
        ("<pre>\n  a  b\n\nc &lt;</pre>", "```\n  a  b\n\nc <\n```"),
        ("<pre class='language-py'><code>x = 1\n</code></pre>", "```py\nx = 1\n```"),
        ("<pre><code class='lang-c++'>a</code></pre>", "```c++\na\n```"),
        ("<pre>a\n```\nb</pre>", "````\na\n```\nb\n````"),
        ("<a href='../x?a=1&amp;b=2'>go <b>on</b></a>", "[go **on**](https://site.example/x?a=1&b=2)"),
        ("<a href=https://e.example/>https://e.example/</a>", "https://e.example/"),
        ("<a href='javascript:alert(1)'>a</a> <a href='#x'>b</a> <a href='data:x'>c</a> <a>d</a>", "a b c d"),
        ("<a href=/x></a><a href=/y>y</a>", "[y](https://site.example/y)"),
        ("<a href='/a(b)'>x</a>", "[x](https://site.example/a%28b%29)"),
        ("<img src=i.png alt='a  cat'><img src=x><img alt=y src='data:image/png;base64,xx'>",
         "![a cat](https://site.example/docs/i.png)[image: y]"),
        ("a<hr>b", "a\n\n---\n\nb"),
        ("<dl><dt>T<dd>D</dl>", "T\n\nD"),
        ("<table><tr><th>A<th>B<tr><td>1|2<td><p>x</p><p>y</table>", "| A | B |\n| --- | --- |\n| 1\\|2 | x y |"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<table><tr><td>side<td><pre>code</pre></table>", "side\n\n```\ncode\n```"),
        ("<table><tr><td>only</table>after", "only\n\nafter"),
        ("<table><tr><td><table><tr><td>in<td>ner</table><td>b<tr><td>c<td>d</table>", "in\n\nner\n\nb\n\nc\n\nd"),
        ("", ""),
    ],
)  # fmt: skip
def test_elements(html: str, text: str) -> None:
    assert made(html) == text


@pytest.mark.parametrize(
    "hidden",
    [
        "<script>EVIL</script>",
        "<style>EVIL</style>",
        "<!-- EVIL -->",
        "<noscript>EVIL</noscript>",
        "<template><p>EVIL</template>",
        "<p hidden>EVIL</p>",
        "<span style='display : NONE'>EVIL <b>x</b></span>",
        "<div style='color:red;visibility:hidden'><div>EVIL</div>EVIL</div>",
        "<div aria-hidden=true>EVIL</div>",
        "<nav><ul><li>EVIL</ul></nav>",
        "<select><option>EVIL</select>",
        "<svg><text>EVIL</text></svg>",
        "<iframe>EVIL</iframe>",
        "<img alt=EVIL hidden>",
        "<a title=EVIL></a>",
        "<input value=EVIL>",
    ],
)
def test_what_readers_do_not_see_is_left_out(hidden: str) -> None:
    text = made(f"<p>before</p>{hidden}<p>after</p>")
    assert text == "before\n\nafter"


def test_invisible_characters_stay_and_hints_for_line_breaks_go() -> None:
    tagged = "\U000e0041\U000e0042"
    assert made(f"<p>a\u202eb{tagged}c&#8238;&#27;[31m</p>") == f"a\u202eb{tagged}c\u202e[31m"
    assert made("<p>👩\u200d💻 می\u200cخواهم</p>") == "👩\u200d💻 می\u200cخواهم"
    assert made("<p>Sil\xadben&shy;tren\u200bnung\ufeff und&#8288;mehr</p>") == "Silbentrennung undmehr"
    assert made("<p>a\u200b\u200b\u2060b\u200b\u200cc\xad\xadd</p>") == "a\u200b\u200b\u2060b\u200b\u200cc\xad\xadd"


def test_title_base_and_documents_without_head_and_body_tags() -> None:
    page = markdown(
        "<title>A &amp;\n B</title><base href='https://other.example/d/'><h1>x</h1><a href=y>z</a>", "https://s/"
    )
    assert page.title == "A & B" and page.text == "# x\n\n[z](https://other.example/d/y)"
    page = markdown("<html><head><meta charset=x><title>T</title><body><title>no</title><p>b", "https://s/")
    assert (page.title, page.text) == ("T", "b")
    assert made("<head><link rel=x><p>no end of the head") == "no end of the head"


def test_stray_and_crossed_tags() -> None:
    assert made("</p></div></table>a</li><b>x<i>y</b>z</i>") == "a**x*y***z"
    assert made("<div><p>a</div>b</p>c") == "a\n\nbc"
    assert made("<table><tr><td>a</div></body>b<td>c<tr><td>d<td>e</table>").splitlines()[0] == "| ab | c |"


def test_deep_and_endless_markup_ends() -> None:
    assert made("<div>" * 5000 + "deep") == "deep"
    assert made("<ul><li>" * 5000 + "deep").endswith("- deep")
    page = markdown("<i>x</i>" * 150_000, "https://s/")
    assert page.cut and not markdown("<i>x</i>", "https://s/").cut


_PIECES = (
    "<p>|</p>|<ul>|<li>|</ul>|<table>|<tr>|<td>|</table>|<pre>|</pre>|<a href=x>|</a>|<b>|</b>|<blockquote>|"
    "</blockquote>|<h2>|</h2>|word|<br>|<nav>|</nav>"
)


@given(st.lists(st.sampled_from(_PIECES.split("|")), max_size=30))
def test_any_order_of_tags_keeps_the_words_that_are_seen(pieces: list[str]) -> None:
    text = made("".join(pieces))
    if "<nav>" not in pieces:
        assert text.count("word") == pieces.count("word")
    assert not set(text) & set("\x01\x02\x03\x04")
