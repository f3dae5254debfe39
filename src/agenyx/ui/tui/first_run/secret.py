"""A field whose text is never drawn: a dot stands for each character."""

from __future__ import annotations

from textual.strip import Strip

from agenyx.ui.tui.field import Field
from agenyx.ui.tui.sheet import painter_of


class Secret(Field):
    """What is typed and pasted here is a key: `hidden` says whether it is now."""

    hidden = True

    def render_line(self, y: int) -> Strip:
        if not self.hidden:
            return super().render_line(y)
        width = self.size.width
        room = max(width - len(self.label) - 2, 1)
        dots = "*" * min(len(self.text), room)
        caret = (("caret", " "),) if self.has_focus else ()
        return painter_of(self).strip((("key", self.label), ("", dots), *caret), width)
