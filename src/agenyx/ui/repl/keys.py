"""What keys do. The editing keys are the line editor's own."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition, is_searching
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.key_binding.bindings.open_in_editor import load_open_in_editor_bindings
from prompt_toolkit.key_binding.key_bindings import KeyBindingsBase, merge_key_bindings
from prompt_toolkit.keys import Keys

from agenyx.ui.intake import pasted, typed

if TYPE_CHECKING:
    from agenyx.ui.repl.editor import Editor


def bindings(editor: Editor) -> KeyBindingsBase:
    """The keys of `editor`; what they mean for the conversation is told to its editor.driver."""
    keys = KeyBindings()
    empty = Condition(lambda: not editor.input.text)
    running = Condition(lambda: editor.driver.running)
    idle_search = ~is_searching

    @keys.add("enter", filter=idle_search)
    def _(event: KeyPressEvent) -> None:
        buffer = editor.input
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        else:
            send(buffer.text)

    def send(text: str) -> None:
        buffer = editor.input
        buffer.text = typed(text)
        if buffer.text.strip():
            buffer.append_to_history()
        sent = buffer.text
        buffer.reset()
        editor.driver.submit(sent)

    @keys.add("escape", "enter", filter=idle_search)
    @keys.add("c-j", filter=idle_search)
    def _(event: KeyPressEvent) -> None:
        editor.input.insert_text("\n")

    @keys.add(Keys.BracketedPaste)
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(pasted(event.data))

    @keys.add("c-c", filter=idle_search)
    def _(event: KeyPressEvent) -> None:
        if editor.input.text:
            editor.input.reset()
        else:
            editor.driver.interrupt()

    @keys.add("c-d", filter=empty & idle_search)
    def _(event: KeyPressEvent) -> None:
        editor.driver.leave()

    @keys.add("c-s", filter=running & ~empty & idle_search)
    def _(event: KeyPressEvent) -> None:
        if editor.driver.steer(typed(editor.input.text)):
            editor.input.append_to_history()
            editor.input.reset()

    @keys.add("c-z")
    def _(event: KeyPressEvent) -> None:
        event.app.renderer.erase()
        os.kill(0, signal.SIGTSTP)  # the whole job; our handler puts the terminal back before we stop

    @keys.add("tab", filter=idle_search)
    def _(event: KeyPressEvent) -> None:
        if editor.input.complete_state:
            editor.input.complete_next()
        else:
            editor.input.start_completion(select_first=True)

    return merge_key_bindings([load_open_in_editor_bindings(), keys])
