"""/logout: the same words as /login."""

from __future__ import annotations

from agenyx.app.commands.login import run as run
