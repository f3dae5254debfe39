"""TLS: which certificate authorities are trusted, and what a failed handshake means. Imported for https only.

Parsing a whole bundle costs about 50 ms and a hashed directory 2 ms, so a directory with hash links is preferred;
a caller that is refused with it tries again with the bundle, in case a private authority was only added there.
"""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

from agenyx.llm.http_errors import TlsFailed

# Where systems keep the bundle, for interpreters that were built on another system.
_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
    "/etc/ssl/ca-bundle.pem",
)
_OWN_CA = "If your network has its own certificate authority, set SSL_CERT_FILE to its PEM file."
_HINTS = {
    9: "Check this machine's clock.",
    10: "Check this machine's clock; else the server needs a new certificate.",
    18: _OWN_CA,
    19: _OWN_CA,
    20: _OWN_CA,
    21: _OWN_CA,
    62: "Check the host name in the base URL.",
    64: "Use the host name of the certificate in the base URL instead of the address.",
}


def _hashed(directory: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(entry.name.endswith(".0") for entry in entries)
    except OSError:
        return False


def context(env: Mapping[str, str], *, whole: bool = False) -> tuple[ssl.SSLContext, bool]:
    """A client context, and whether a refusal is worth a second try with `whole` (the system's full bundle).

    `SSL_CERT_FILE` and `SSL_CERT_DIR` replace the system's authorities. Raises TlsFailed when one cannot be used.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    file, directory = env.get("SSL_CERT_FILE", ""), env.get("SSL_CERT_DIR", "")
    if file or directory:
        try:
            made.load_verify_locations(file or None, directory or None)
        except (OSError, ssl.SSLError) as error:
            name = "SSL_CERT_FILE" if file else "SSL_CERT_DIR"
            raise TlsFailed(
                f"{name} {(file or directory)!r} holds no usable certificates: {error}",
                f"Set {name} to a PEM file of certificate authorities, or unset it.",
            ) from error
        return made, False
    paths = ssl.get_default_verify_paths()
    if not whole and paths.capath and _hashed(paths.capath):
        made.load_verify_locations(capath=paths.capath)
        return made, True
    made.load_default_certs()
    if not paths.cafile:
        for bundle in _BUNDLES:
            if os.path.exists(bundle):
                made.load_verify_locations(bundle)
                break
    return made, False


def explain(error: ssl.SSLError, host: str) -> TlsFailed:
    """Say what a failed handshake with `host` means and what to do about it."""
    if isinstance(error, ssl.SSLCertVerificationError):
        hint = _HINTS.get(error.verify_code, "Check the server's certificate with its owner.")
        return TlsFailed(f"the certificate of {host} is not valid: {error.verify_message}", hint)
    reason = (error.reason or str(error)).replace("_", " ").lower()
    hint = "Check the base URL: does this port speak https?"
    return TlsFailed(f"no secure connection to {host}: {reason}", hint)
