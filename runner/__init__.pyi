from runner.bootstrap.conversation import Conversation as Conversation
from runner.bootstrap.given import Given as Given
from runner.bootstrap.runner import Runner as Runner
from runner.core.contributing import ContributorContext as ContributorContext
from runner.core.contributing import Subject as Subject
from runner.core.tooling import ToolContext as ToolContext

__all__ = ["ContributorContext", "Conversation", "Given", "Runner", "Subject", "ToolContext"]
