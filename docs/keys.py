"""Writes docs/keys.md from the table of keys: python docs/keys.py"""

from __future__ import annotations

from pathlib import Path

from agenyx.ui.tui.keymap import markdown

if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(markdown(), "utf-8")
