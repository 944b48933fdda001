from runner.bootstrap.runner import Conversation as Conversation
from runner.bootstrap.runner import Runner as Runner
from runner.core.tooling import ToolContext as ToolContext

__all__ = ["Conversation", "Runner", "ToolContext"]
