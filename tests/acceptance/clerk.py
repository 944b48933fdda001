"""A project with a clerk who takes notes."""

CLERK = """\
name: clerk
description: Keeps notes.
model: default
tools:
  - {name: note, python: "notes:note"}
  - {name: save, python: "notes:save", terminal: "{saved} is saved."}
instructions: Keep notes.
input_schema:
  type: object
  required: [name]
  properties: {name: {type: string}}
"""

NOTES = '''\
"""Tools of the tests."""

from runner import ToolContext


def note(text: str, context: ToolContext) -> str:
    """Note something."""
    if text == "nothing":
        raise ValueError("there is\\x1b[2J nothing [red]to note[/red]")
    return f"{context.context.get('pen', 'pencil')} {text}"


def save(name: str) -> dict[str, str]:
    """Save the notes."""
    return {"saved": name}
'''

SCRIPT = """\
- agent: hello
  when: fail
  answers:
    - error: {kind: rejected}
- agent: hello
  when: stumble
  answers:
    - error: {kind: unavailable, times: 1}
      text: Up again.
- agent: hello
  answers:
    - thinking: Somebody is there.
      text: "Hello! You said: {task}"
- agent: clerk
  answers:
    - text: I note it.
      tool_calls:
        - {name: note, arguments: {text: nothing}}
        - {name: note, arguments: {text: "milk"}}
    - tool_calls: [{name: save, arguments: {name: shopping.txt}}]
"""
