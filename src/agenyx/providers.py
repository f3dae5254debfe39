"""What a provider of one's own is made of: the protocol, what it is asked, and what it gives."""

from agenyx.config.profiles import Profile as Profile
from agenyx.core.events import CallDraft as CallDraft
from agenyx.core.events import Done as Done
from agenyx.core.events import Failure as Failure
from agenyx.core.events import ModelEvent as ModelEvent
from agenyx.core.events import ReasoningDelta as ReasoningDelta
from agenyx.core.events import Retrying as Retrying
from agenyx.core.events import Started as Started
from agenyx.core.events import TextDelta as TextDelta
from agenyx.core.events import Usage as Usage
from agenyx.core.messages import Assistant as Assistant
from agenyx.core.messages import Entry as Entry
from agenyx.core.messages import Media as Media
from agenyx.core.messages import Opaque as Opaque
from agenyx.core.messages import Reasoning as Reasoning
from agenyx.core.messages import Step as Step
from agenyx.core.messages import Summary as Summary
from agenyx.core.messages import Text as Text
from agenyx.core.messages import ToolCall as ToolCall
from agenyx.core.messages import ToolResult as ToolResult
from agenyx.core.messages import User as User
from agenyx.core.tools import ToolSpec as ToolSpec
from agenyx.llm.request import Options as Options
from agenyx.llm.request import Provider as Provider
from agenyx.llm.request import Request as Request
