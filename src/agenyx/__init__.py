"""Agenyx: a coding agent for the terminal and an agent runtime for Python."""

TYPE_CHECKING = False  # as in typing, which costs more to import than all that is here

if TYPE_CHECKING:
    from agenyx import events as events
    from agenyx import providers as providers
    from agenyx.api.agent import Agent as Agent
    from agenyx.api.approving import Allow as Allow
    from agenyx.api.approving import Answer as Answer
    from agenyx.api.approving import Deny as Deny
    from agenyx.api.context import ToolContext as ToolContext
    from agenyx.api.context import ToolError as ToolError
    from agenyx.api.declared import Touches as Touches
    from agenyx.api.hooks import Hook as Hook
    from agenyx.api.hooks import Hooks as Hooks
    from agenyx.api.result import Result as Result
    from agenyx.api.result import RunError as RunError
    from agenyx.api.run import Run as Run
    from agenyx.api.session import Session as Session
    from agenyx.api.tool import Tool as Tool
    from agenyx.api.tool import approvable as approvable
    from agenyx.api.tool import tool as tool
    from agenyx.core.approval import Approval as Approval
    from agenyx.core.approval import Decision as Decision
    from agenyx.core.errors import AgenyxError as AgenyxError
    from agenyx.core.errors import ConfigError as ConfigError
    from agenyx.core.errors import StoreError as StoreError
    from agenyx.core.errors import UsageError as UsageError
    from agenyx.core.events import AgentEvent as AgentEvent
else:
    _PLACES = {
        "api.agent": ("Agent",),
        "api.approving": ("Allow", "Answer", "Deny"),
        "api.context": ("ToolContext", "ToolError"),
        "api.declared": ("Touches",),
        "api.hooks": ("Hook", "Hooks"),
        "api.result": ("Result", "RunError"),
        "api.run": ("Run",),
        "api.session": ("Session",),
        "api.tool": ("Tool", "approvable", "tool"),
        "core.approval": ("Approval", "Decision"),
        "core.errors": ("AgenyxError", "ConfigError", "StoreError", "UsageError"),
        "core.events": ("AgentEvent",),
    }
    _PLACE = {name: place for place, names in _PLACES.items() for name in names}
    _MODULES = ("events", "providers")

    def __getattr__(name):
        from importlib import import_module

        if name in _MODULES:
            return import_module(f"agenyx.{name}")
        if name not in _PLACE:
            raise AttributeError(f"module 'agenyx' has no attribute {name!r}")
        value = getattr(import_module(f"agenyx.{_PLACE[name]}"), name)
        globals()[name] = value
        return value

    def __dir__():
        return sorted((*globals(), *_PLACE, *_MODULES))
