"""Launch trees: a turn's place in one, and the limits that belong to its root."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from runner.core.authorization import AgentRef
from runner.core.ids import ExecutionId, TurnId


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeLimits:
    """The most a root and all turns below it may use together; taken from the root's definition."""

    max_iterations: int = 25
    max_tool_executions: int = 100
    max_tool_executions_by_name: Mapping[str, int] = field(default_factory=dict)
    #: Levels of turns below the root.
    max_depth: int = 3
    #: Turns below the root, over the tree's whole life.
    max_children: int = 50
    #: Sub-agents that one response may start at once.
    max_fan_out: int = 10
    #: Messages and callbacks of turns that may lead from one to the next.
    max_hops: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeUse:
    """What a tree has used of its limits; kept on the root."""

    iterations: int = 1
    tool_executions: int = 0
    children: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a turn stands in its launch tree."""

    root_id: TurnId
    parent_id: TurnId | None = None
    #: The parent's tool execution that launched it.
    launched_by: ExecutionId | None = None
    #: Levels below the root.
    depth: int = 0
    #: Messages and callbacks of turns that led here, one after another; none from a person counts.
    hops: int = 0
    limits: TreeLimits = field(default_factory=TreeLimits)
    #: The agents of the turns above, the root's first: their policies apply here too.
    ancestors: Sequence[AgentRef] = ()

    @property
    def is_root(self) -> bool:
        return self.parent_id is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reservation:
    """
    What a step takes from its tree before it is used, or gives back unused where negative.

    The store takes it at the root by one conditional statement each, in the step's transaction.
    """

    iterations: int = 0
    tool_executions: int = 0
    #: The tools whose executions are among *tool_executions*, by how many.
    by_name: Mapping[str, int] = field(default_factory=dict)
    children: int = 0

    @property
    def is_empty(self) -> bool:
        return not (self.iterations or self.tool_executions or self.children)
