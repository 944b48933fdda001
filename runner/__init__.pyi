from runner.bootstrap.conversation import Conversation as Conversation
from runner.bootstrap.desk import Given as Given
from runner.bootstrap.runner import Runner as Runner
from runner.core.tooling import ToolContext as ToolContext

__all__ = ["Conversation", "Given", "Runner", "ToolContext"]
