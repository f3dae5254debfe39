from slug import slug, words


def test_words():
    assert words("Hello  World") == ["hello", "world"]


def test_slug():
    assert slug("My First Page") == "my-first-page"
