"""Whether an address carries what looks like a secret or a file away. Pure; a guess by shape, not a proof.

Knows no key that is in use (masking does) and no host: any host may be the wrong one. Meant to be silent about ordinary
addresses, so it looks for the shapes of credentials, for text in disguise (Base64, hexadecimal, long percent-encoding)
and, where pages have no reason for it, for long random values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote, unquote_plus, urlsplit

from agenyx.workspace.disguise import LOOSE, STRICT, disguised, is_digest, random_part

_MOST_VALUE = 200  # characters of running text that one parameter or path segment may hold
_MOST_URL = 2000
_MOST_DATA = 1000  # characters of query and fragment as a whole
_MOST_HOST = 120
_MOST_NAME = 60
_MOST_PAGE, _MOST_ID = 64, 48  # characters of a random name in a path, in a parameter
_DECODINGS = 3

# Where tokens begin is public knowledge, so that scanners can find them; this is what their issuers document.
_KEYS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"sk-(?=[A-Za-z0-9_-]{0,99}[0-9])[A-Za-z0-9_-]{0,60}[A-Za-z0-9_]{16}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{12}|whsec_[A-Za-z0-9]{16}"
    r"|gh[pousr]_[A-Za-z0-9]{20}|github_pat_[A-Za-z0-9_]{20}|GHSAT[A-Z0-9]{20}|gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{16}"
    r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])|AIza[A-Za-z0-9_-]{30}|ya29\.[A-Za-z0-9_-]{20}|GOCSPX-[\w-]{20}"
    r"|xox[abeoprs]-[A-Za-z0-9-]{10}|xapp-[0-9]-[A-Za-z0-9-]{10}"
    r"|npm_[A-Za-z0-9]{30}|pypi-AgE[A-Za-z0-9_-]{16}|hf_[A-Za-z0-9]{24}|dop_v1_[a-f0-9]{32}|shpat_[a-f0-9]{24}"
    r"|SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16}|AGE-SECRET-KEY-1[A-Z0-9]{20}|[0-9]{8,10}:AA[A-Za-z0-9_-]{30}"
    r"|eyJ[A-Za-z0-9_-]{8,400}\.[A-Za-z0-9_-]{8}"
    r")|-----BEGIN [A-Z ]{0,40}(?:KEY|CERTIFICATE)|ssh-(?:rsa|ed25519)[ +]AAAA"
)
_SECRET = r"(?:passw(?:or)?d|passwd|pwd|passphrase|secret_?(?:access_?)?(?:key)?|private_?key)"
_KEY = (
    r"(?:(?:api|access)_?key|(?:(?:access|auth|refresh|id|session|bearer)_?)?token|auth|authorization|cookie|session)"
)
_PASSWORD = re.compile(
    rf"(?i)(?<![a-z]){_SECRET}[ \t]{{0,4}}[=:]\s{{0,4}}(?=[^\s&]{{0,60}}[0-9!@#$%^*+?~])[^\s&<{{$]{{6}}"
)
_SECRET_NAME = re.compile(rf"(?i)(?:.*[_.-])?{_SECRET}")
_KEY_NAME = re.compile(rf"(?i)(?:.*[_.-])?{_KEY}")
_LOGIN = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[A-Za-z]{2,24}[:;|, ]{1,3}"
    r"(?=[^\s/]{0,60}[^A-Za-z\s./])[^\s/]{6,60}(?!\S)"
)
_ASSIGNED = re.compile(r"(?m)^(?:export )?[A-Z][A-Z0-9_]{2,}=\S")
_ACCOUNT = re.compile(r"(?m)^[a-z_][a-z0-9_-]*:[^:\n]*:\d+:\d+:")
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^\s'\"<>|]+")
_BARE = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+(?::\d+)?[/?#]\S*")
# The last word of parameters that usually hold the name of a thing, and of those that hold a digest.
_ID_NAMES = "id ids list uuid guid doc file video cursor after before at"
_DIGEST_NAMES = "sha sha1 sha256 md5 ref rev revision commit hash digest checksum etag v ver version h oid"
_IDS, _DIGESTS = frozenset(_ID_NAMES.split()), frozenset(_DIGEST_NAMES.split())
_HEX = re.compile(r"[0-9a-f]{32,64}")


def suspicious(url: str) -> str:
    """Why an address looks as if it carried data away, "" where it looks ordinary. `url` needs a scheme."""
    if len(url) > _MOST_URL:
        return f"it is {len(url):,} characters long"
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        login = parts.password is not None
    except ValueError:
        return "it cannot be taken apart"
    if login:
        return "it holds a user name and a password"
    pieces = list(_pieces(parts.path, parts.query, parts.fragment))
    whole = _decoded(url, plus=True)
    if why := secret_in(whole):
        return why
    if why := _host(host):
        return why
    if len(parts.query) + len(parts.fragment) > _MOST_DATA:
        return f"its query holds {len(parts.query) + len(parts.fragment):,} characters"
    for name, value in pieces:
        if why := _piece(name, value):
            return why
    return ""


def secret_in(text: str) -> str:
    """Which kind of credential a text seems to hold, "" for none."""
    if found := _KEYS.search(text):
        return f"it holds what looks like a key ({found[0][:6]}…)"
    if _PASSWORD.search(text) or _LOGIN.search(text):
        return "it holds what looks like a password"
    return ""


def carried(argv: Sequence[str | None]) -> str:
    """The same for the words of a command that uses the network; what is known only when it runs is not looked at."""
    for word in filter(None, argv[1:]):
        if found := _KEYS.search(word):
            return f"it holds what looks like a key ({found[0][:6]}…)"
        urls = _URL.findall(word) or ([f"http://{word}"] if _BARE.fullmatch(word) else [])
        for why in filter(None, map(suspicious, urls)):
            return why
    return ""


def _piece(name: str, value: str) -> str:
    """`name` is that of a parameter, "/" for a segment of the path."""
    text = _decoded(value, plus=name != "/")
    short = name.lower().strip("[]")[:_MOST_NAME]
    if len(text) >= 4 and _SECRET_NAME.fullmatch(short):
        return "a parameter is named as a password"
    if len(text) >= 16 and _KEY_NAME.fullmatch(short) and any(map(str.isdigit, text)):
        return "a parameter is named as a credential"
    if _ASSIGNED.search(text) and ("\n" in text or name == "/" or len(text) > 20):
        return "it holds settings with their values"
    if _ACCOUNT.search(text):
        return "it holds lines of an account file"
    if len(text) > _MOST_VALUE and (" " in text or "\n" in text):
        return f"it holds {len(text)} characters of text"
    if "\n" in text.strip() and len(text) > 60:
        return "it holds several lines of text"
    if disguised(text):
        return "it holds text that was encoded"
    run = random_part(text, STRICT if name == "/" else LOOSE)
    if run and not _usual(short, run):
        return f"it holds a random value of {len(run)} characters"
    return ""


def _usual(name: str, run: str) -> bool:
    """Whether a random value may stand there: pages are often named by one, parameters seldom."""
    if name == "/":
        return len(run) <= _MOST_PAGE or is_digest(run)
    kind = re.split(r"[_.-]", name)[-1]
    return (kind in _IDS and len(run) <= _MOST_ID) or (kind in _DIGESTS and _HEX.fullmatch(run) is not None)


def _pieces(path: str, query: str, fragment: str) -> Iterator[tuple[str, str]]:
    """Segments, and parameters with their names; also the names, which can be made to carry something."""
    yield from (("/", segment) for segment in path.split("/") if segment)
    for part in _parameters(query):
        yield from _named(part)
    if "=" in fragment:
        for part in _parameters(fragment):
            yield from _named(part)
    else:
        yield from (("#", segment) for segment in re.split(r"[/?&]", fragment) if segment)
    # Base64 may hold slashes: a path that is one value.
    if re.fullmatch(r"/[A-Za-z0-9+/]{40,}={0,2}", path) and path.count("/") < len(path) // 20:
        yield "/", path[1:]


def _parameters(query: str) -> Iterable[str]:
    return (part for part in re.split(r"[&;]", query) if part)


def _named(part: str) -> Iterator[tuple[str, str]]:
    name, equals, value = part.partition("=")
    if not equals:
        yield "?", part
        return
    yield unquote_plus(name), value
    if len(name) > 16:
        yield "?", name


def _host(host: str) -> str:
    if len(host) > _MOST_HOST:
        return f"its host name has {len(host)} characters"
    for label in host.split("."):
        if disguised(label) or (len(label) >= 32 and not label.startswith("xn--") and random_part(label, STRICT)):
            return "its host name holds what looks encoded"
    return ""


def _decoded(text: str, plus: bool) -> str:
    for _ in range(_DECODINGS):
        after = unquote_plus(text) if plus else unquote(text)
        if after == text:
            break
        text = after
    return text
