"""Turns titles into parts of web addresses."""


def words(title):
    return title.lower().split()


def slug(title):
    """The words of a title, joined by hyphens."""
    return "_".join(words(title))
