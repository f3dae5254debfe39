"""Lets `--settings` decide what no flag did. Loaded only where the flag is given."""

from __future__ import annotations

from collections.abc import Mapping

from agenyx.app.host_settings import FLAG, read
from agenyx.config.secrets import masker
from agenyx.core.errors import UsageError
from agenyx.ui.exits import complaint, write_error
from agenyx.ui.flags import Options


def apply(options: Options, env: Mapping[str, str]) -> None:
    """A flag wins over what the settings say, and their rules and folders count beside those of flags.

    What has no effect is told on standard error. Raises UsageError.
    """
    host = options.host = read(options.settings)
    if host.mode and not (options.permission_mode or options.dangerous):
        if host.mode == "bypassPermissions" and not options.allow_bypass:
            raise UsageError(
                f"permissions.defaultMode bypassPermissions in {FLAG} needs --dangerously-skip-permissions",
                "Give that flag as well, if nothing here can be damaged; otherwise try acceptEdits.",
            )
        options.permission_mode = host.mode
    if host.no_bypass and (options.dangerous or options.allow_bypass):
        raise UsageError(
            f"{FLAG} forbids the mode bypassPermissions, and a flag asks for it", "Leave one of the two out."
        )
    options.model = options.model or host.model
    options.output_style = options.output_style or host.style
    options.add_dir = "\0".join(filter(None, (options.add_dir, *host.folders)))
    mask = masker(env) if host.warnings else None
    for warning in host.warnings:
        write_error(complaint(mask.text(warning) if mask else warning))
