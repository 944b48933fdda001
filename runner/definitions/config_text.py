"""The config that is in force where no file says otherwise."""

from typing import Final

#: Clients and models; everything else has its default in the models of the config.
EMBEDDED: Final = """\
clients:
  anthropic:
    type: anthropic
    api_key: ${ANTHROPIC_API_KEY:-}
    without_key: offline
  offline:
    type: scripted
    scripts: []
models:
  default: {client: anthropic, model: claude-sonnet-5-5}
  fast: {client: anthropic, model: claude-haiku-5-5}
"""
