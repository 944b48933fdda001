"""Definitions as they are written, for tests of projects."""

AGENT = "name: helper\ninstructions: Help.\n"

PYTHON = {
    "config.yaml": "python_modules: [agents/python]\n",
    "agents/python/shop.py": "def refund(): ...\n",
}
