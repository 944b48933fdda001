"""Every kind of problem, by its stable code."""

from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """What is wrong, as a word that programs may rely on."""

    AGENT_LOOP = "agent-loop", "Agents can start each other in a circle."
    BAD_CONDITION = (
        "bad-condition",
        "A condition of a rule is not an expression, or cannot be one here.",
    )
    BAD_DURATION = "bad-duration", "A duration is not written like `30s`, `10m` or `1h30m`."
    BAD_FRONTMATTER = (
        "bad-frontmatter",
        "The beginning of a `SKILL.md` cannot be told from its text.",
    )
    BAD_INTERPOLATION = "bad-interpolation", "A `${` is not followed by a variable and a `}`."
    BAD_NAME = "bad-name", "A name has characters or a length that names may not have."
    BAD_NUMBER = "bad-number", "A number is infinite, not a number, or has too many digits."
    BAD_SCHEMA = "bad-schema", "A JSON Schema is not valid, or refers to what is not there."
    BAD_SQL = "bad-sql", "A text is not one SQL statement, or its parameters are not those given."
    BAD_TEMPLATE = "bad-template", "A template has a brace that is around nothing it can name."
    BAD_URL = "bad-url", "A URL does not start with a scheme that is known here."
    BAD_VALUE = "bad-value", "A value is not one of those that are allowed."
    CLIENT_LOOP = "client-loop", "Clients name each other as the one to use without a key."
    COMPLEX_KEY = "complex-key", "A key of a mapping is not a plain text."
    CONTRADICTORY_RULE = (
        "contradictory-rule",
        "Two rules apply to the same; one allows, one denies.",
    )
    DUPLICATE_CONTEXT = "duplicate-context", "A list names the same contributor twice."
    DUPLICATE_DEFINITION = "duplicate-definition", "Two definitions of a kind have the same name."
    DUPLICATE_KEY = "duplicate-key", "A mapping has the same key twice."
    DUPLICATE_SKILL = "duplicate-skill", "A skill is listed twice."
    DUPLICATE_TOOL = "duplicate-tool", "An agent has two tools or sub-agents of the same name."
    EMPTY_FILE = "empty-file", "A file beneath the agents folder holds no definition."
    EMPTY_SKILL = "empty-skill", "A skill has no text."
    FILE_TOO_LARGE = "file-too-large", "A file is larger than 1 MB."
    IMPORT_FAILED = "import-failed", "A function that a file names cannot be imported or used."
    INVALID_SYNTAX = "invalid-syntax", "A file is not YAML."
    KEY_CONFLICT = "key-conflict", "Two keys are given of which only one may be."
    MISSING_FILE = "missing-file", "A file or folder that is named does not exist."
    MISSING_KEY = "missing-key", "A key that must be given is not."
    MISSING_VARIABLE = "missing-variable", "A variable without a default is not set."
    MODULE_NOT_ALLOWED = "module-not-allowed", "A module is not listed in `python_modules`."
    NOT_TEXT = "not-text", "A file is not UTF-8, or holds a character that YAML does not allow."
    NOTHING_TO_LAUNCH = "nothing-to-launch", "A tool starts agents, and there are none for it."
    NULL_VALUE = "null-value", "A key stands without a value."
    PATH_OUTSIDE = "path-outside", "A path is absolute or leads outside the project."
    RECURSIVE_ALIAS = "recursive-alias", "An alias stands inside what it refers to."
    RECURSIVE_FILE = "recursive-file", "A file includes itself."
    RESERVED_NAME = (
        "reserved-name",
        "A tool or sub-agent has the name of one that agents have by themselves.",
    )
    SECRET_IN_FILE = "secret-in-file", "A secret stands in a file where a variable should."
    SKILL_NOT_SHOWN = (
        "skill-not-shown",
        "The prompt leaves out the skills that the agent always has.",
    )
    SKILL_TOO_LARGE = "skill-too-large", "The text of skills is larger than it may or should be."
    TAB_INDENTATION = "tab-indentation", "A line is indented with a tab."
    TOO_DEEP = "too-deep", "Values are nested too deeply."
    TOO_MANY_FILES = "too-many-files", "A skill has more files than can be read."
    TOO_MANY_PROBLEMS = "too-many-problems", "A file has more problems than are listed."
    TOO_MANY_VALUES = "too-many-values", "A document, with its aliases written out, is too large."
    TOOLS_RULED_OUT = (
        "tools-ruled-out",
        "The `allowed-tools` of a skill rule out tools of the agent.",
    )
    UNKNOWN_AGENT = "unknown-agent", "An agent is named that no file defines."
    UNKNOWN_ALIAS = "unknown-alias", "An alias refers to an anchor that does not exist."
    UNKNOWN_CLIENT = "unknown-client", "A client is named that the config does not declare."
    UNKNOWN_CONTEXT = "unknown-context", "A contributor is named that no file defines."
    UNKNOWN_DATABASE = (
        "unknown-database",
        "A database is named that the config does not declare.",
    )
    UNKNOWN_KEY = "unknown-key", "A key is not one that is known here."
    UNKNOWN_KIND = "unknown-kind", "A document is of a kind that does not exist."
    UNKNOWN_MODEL = "unknown-model", "A model alias is named that the config does not declare."
    UNKNOWN_POLICY = "unknown-policy", "A policy is named that no file defines."
    UNKNOWN_SKILL = "unknown-skill", "A skill is named that no file defines."
    UNKNOWN_TAG = "unknown-tag", "A value has a tag that is not part of YAML's core."
    UNKNOWN_TOOL = "unknown-tool", "A tool is named that no file defines."
    UNQUOTED_TEXT = "unquoted-text", "A text without quotes may be read as something else."
    UNREACHABLE_RULE = "unreachable-rule", "A rule of a policy never decides, because another does."
    UNREADABLE_FILE = "unreadable-file", "A file cannot be read, or is not a regular file."
    WRONG_TYPE = "wrong-type", "A value is of another type than the key takes."

    #: A sentence about it.
    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        code = str.__new__(cls, value)
        code._value_ = value
        code.meaning = meaning
        return code

    @classmethod
    def named(cls, word: str) -> Self:
        """The code that is this word."""
        return next(code for code in cls if code == word)
