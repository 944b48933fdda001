"""What a turn says when a terminal tool ends it."""

from runner.core.jsonvalue import JsonObject, dump_json
from runner.definitions.template import render


def terminal_message(template: str | None, content: JsonObject) -> str:
    """Fill *template* with the content of a tool's result, or show the content itself."""
    if template is not None:
        return render(template, content)
    shown = content["result"] if set(content) == {"result"} else content
    return shown if isinstance(shown, str) else dump_json(shown)
