"""The conversation at the keyboard: an editor on a terminal or plain lines, one turn at a time."""

from agenyx.ui.repl.start import main as main
