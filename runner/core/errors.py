"""
Every error this package raises, as two trees: failures, and interruptions no tool may swallow.

RunnerError
  UsageError
  NotFound
  AuthorizationError
    NotPermitted
    ConditionFailed
  ConfigError
    DefinitionError
    PathRefused
    BadCondition
  StoreError
    StoreUnavailable
    SchemaMismatch
  ConflictError
    InvalidMove
    ConversationBusy
    WaitCycle
    KeyConflict
    LimitReached
    InputsArrived
    ApprovalAnswered
  DispatchFailed
  ModelError
    ModelUnavailable
    ModelRejected
    PromptTooLong
    ModelAccessDenied
    ModelTransport
    CallCancelled
  ToolError
    ToolRefused
    ToolTimeout
  ContributorFailed
  OutboundError
    OutboundRefused
    OutboundTimeout
    OutboundCancelled

Interruption
  ClaimLost
  HandBack
"""


class RunnerError(Exception):
    """Base of every error raised on purpose."""


class UsageError(RunnerError):
    """The caller asked for something that cannot be done as asked."""


class NotFound(RunnerError):
    """Nothing is stored or declared under this name."""


class AuthorizationError(RunnerError):
    """Policies have the last word, and it was not yes."""


class NotPermitted(AuthorizationError):
    """
    Policies do not allow it; the message says why.

    Attributes:
        rule: The rule that decided, and its policy, where one did.
        source: Where it stands, as `file:line`.
    """

    def __init__(self, message: str, *, rule: str | None = None, source: str | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.source = source


class ConditionFailed(AuthorizationError):
    """A rule's condition is neither true nor false for what is attempted; that denies it."""


class ConfigError(RunnerError):
    """The configuration cannot be used."""


class DefinitionError(ConfigError):
    """Definitions are wrong; the message counts the problems and names the command to list them."""


class PathRefused(ConfigError):
    """
    A file names a path that does not lead to where it may.

    Attributes:
        code: The stable word for problems of this kind.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class BadCondition(ConfigError):
    """
    A text is no condition of a rule.

    Attributes:
        offset: Where in the text, from zero.
        hint: What to do about it.
    """

    def __init__(self, message: str, *, offset: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.hint = hint


class StoreError(RunnerError):
    """The database did not do what was asked."""


class StoreUnavailable(StoreError):
    """The database cannot be reached, or stayed locked for longer than its time limit."""


class SchemaMismatch(StoreError):
    """The database has another schema version than this program; the message names the command."""


class ConflictError(RunnerError):
    """The record is not in a state that allows this."""


class InvalidMove(ConflictError):
    """A record was asked to enter a state it cannot reach from where it is."""


class ConversationBusy(ConflictError):
    """Another turn of the conversation has not ended, so this one cannot run here and now."""


class WaitCycle(ConflictError):
    """This wait would close a circle of turns that wait for one another; nothing was stored."""


class KeyConflict(ConflictError):
    """The key was used before for something else; nothing is said about what."""


class LimitReached(ConflictError):
    """
    A limit of the whole tree leaves no room for what was to be reserved; nothing was stored.

    Attributes:
        path: The limit by its YAML path in the root's definition.
        limit: How much it allows in all.
        left: How much of it is left.
    """

    def __init__(self, *, path: str, limit: int, left: int = 0) -> None:
        super().__init__(f"{path} allows {limit}, and {left} are left")
        self.path = path
        self.limit = limit
        self.left = left


class InputsArrived(ConflictError):
    """The turn was about to end when it was steered; nothing was stored, and it goes on."""


class ApprovalAnswered(ConflictError):
    """The approval was answered before; the message says how and by whom."""


class DispatchFailed(RunnerError):
    """A wake-up could not be sent; the turn is safe and a sweep will find it."""


class ModelError(RunnerError):
    """
    The model gave no usable answer.

    Attributes:
        request_id: The provider's id of the failed request, where it gave one.
    """

    def __init__(self, message: str, *, request_id: str | None = None) -> None:
        super().__init__(message)
        self.request_id = request_id


class ModelUnavailable(ModelError):
    """
    The provider failed in a way that may pass.

    Attributes:
        retry_after: Seconds the provider asked to wait, where it did.
    """

    def __init__(
        self, message: str, *, retry_after: float | None = None, request_id: str | None = None
    ) -> None:
        super().__init__(message, request_id=request_id)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The provider will not answer this request, however often it is sent."""


class PromptTooLong(ModelError):
    """The request does not fit the model's context."""


class ModelAccessDenied(ModelError):
    """The key is missing, wrong, or not allowed to use this model."""


class ModelTransport(ModelError):
    """The answer was cut, stalled, or ended without a stop reason; nothing of it is kept."""


class CallCancelled(ModelError):
    """The call was given up because its token was cancelled."""


class ToolError(RunnerError):
    """A tool call failed in a way the model is told about."""


class ToolRefused(ToolError):
    """The call was not made: unknown tool, invalid arguments, or over a limit."""


class ToolTimeout(ToolError):
    """The call ran past its time limit."""


class ContributorFailed(RunnerError):
    """
    A contributor gave nothing that can be used; its message holds neither values nor secrets.

    Attributes:
        contributor: Its name.
    """

    def __init__(self, contributor: str, reason: str) -> None:
        super().__init__(f"the contributor {contributor!r} failed: {reason}")
        self.contributor = contributor
        self.reason = reason


class OutboundError(RunnerError):
    """What was to be fetched, run or read outside the process went wrong."""


class OutboundRefused(OutboundError):
    """It was not tried, or was given up, because it may not be."""


class OutboundTimeout(OutboundError):
    """Its time was up."""


class OutboundCancelled(OutboundError):
    """Nobody wants it any more."""


class Interruption(BaseException):
    """Base of what ends an execution at once; not an Exception, so no tool can catch it as one."""


class ClaimLost(Interruption):
    """The turn belongs to someone else now; whatever this execution did must not be written."""


class HandBack(Interruption):
    """The worker is stopping; the turn goes back to pending with its committed steps kept."""
