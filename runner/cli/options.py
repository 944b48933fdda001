"""Options and arguments that several commands have, and how their JSON is read."""

import json
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from runner.bootstrap.given import Given
from runner.core.contributing import Subject
from runner.core.coordination import Reach
from runner.core.errors import UsageError
from runner.core.jsonvalue import JsonObject, JsonValue

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
AgentName: TypeAlias = Annotated[str, typer.Argument(metavar="AGENT", help="The agent's name.")]
TurnId: TypeAlias = Annotated[str, typer.Argument(metavar="TURN", help="The turn's id.")]
Input: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--input", metavar="JSON|@FILE", help="Input as the agent's input_schema wants it."
    ),
]
Context: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--context", metavar="JSON|@FILE", help="An object that contributors and tools can read."
    ),
]
SubjectOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--subject",
        metavar="JSON|@FILE",
        help='What it is about: {"type": "ticket", "id": "7", "text": "…"}.',
    ),
]
Principal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--principal", metavar="JSON|@FILE", help="Who acts, as policies see it: an object."
    ),
]
Conversation: TypeAlias = Annotated[
    str, typer.Argument(metavar="CONVERSATION", help="The conversation's id.")
]
Text: TypeAlias = Annotated[str, typer.Argument(metavar="TEXT", help="What to say.")]
ApprovalId: TypeAlias = Annotated[
    str, typer.Argument(metavar="APPROVAL", help="The approval's id.")
]
Reason: TypeAlias = Annotated[
    str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is kept with the answer.")
]
Key: TypeAlias = Annotated[
    str | None, typer.Option("--key", help="Saying it twice with one key is saying it once.")
]
ReachOption: TypeAlias = Annotated[
    Reach,
    typer.Option("--reach", help="cascade: with everything below it; retain: the turn alone."),
]
ConversationId: TypeAlias = Annotated[
    str | None,
    typer.Option("--conversation", metavar="ID", help="The conversation to continue."),
]


def read_json(option: str, text: str | None) -> JsonValue:
    """
    Read JSON given in place, or as `@` and the path of a file; None where nothing is given.

    Raises:
        UsageError: It is not JSON.
        OSError: The file cannot be read.
    """
    if text is None:
        return None
    where = f"{option} {text}" if text.startswith("@") else option
    try:
        written = Path(text[1:]).read_text("utf-8") if text.startswith("@") else text
        value: JsonValue = json.loads(written)
    except UnicodeDecodeError as error:
        raise UsageError(f"{where} is not UTF-8") from error
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        hint = "write it like '{\"customer\": 7}', or @ and a file with it"
        raise UsageError(f"{where} is not JSON: {error.msg.lower()} at {place}; {hint}") from error
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply, or a number is too long"
        raise UsageError(f"{where} cannot be read: {reason}") from error
    return value


def read_object(option: str, text: str | None) -> JsonObject:
    """
    Read a JSON object like `read_json`; an empty one where nothing is given.

    Raises:
        UsageError: It is not a JSON object.
        OSError: The file cannot be read.
    """
    value = read_json(option, text)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise UsageError(f'{option} wants a JSON object, such as {{"customer": 7}}')
    return value


def read_given(context: str | None, subject: str | None) -> Given:
    """
    Read what `--context` and `--subject` give to a turn.

    Raises:
        UsageError: It is not JSON, or not a subject.
        OSError: A file cannot be read.
    """
    return Given(
        context=read_object("--context", context),
        subject=None if subject is None else Subject.of(read_object("--subject", subject)),
    )
