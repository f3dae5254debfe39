"""A task of the work graph, as it is kept on record. What may be done to it is told by tools.workgraph."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

Standing = Literal["pending", "in_progress", "completed", "deleted"]


class WorkTask(Struct, frozen=True, omit_defaults=True):
    """`active_form` is the subject while it is worked on. `blocked_by` are ids of tasks that have to be done before.

    A task that was deleted stays as its id and status, so that no other gets its id.
    """

    id: str
    subject: str = ""
    description: str = ""
    active_form: str = ""
    status: Standing = "pending"
    owner: str = ""
    metadata: dict[str, Any] = {}
    blocked_by: tuple[str, ...] = ()
