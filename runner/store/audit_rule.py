"""A rule that what is stored has to keep."""

from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Select

#: A query for whatever breaks a rule.
Query: TypeAlias = Select[*tuple[object, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    Something that must be so, as one query for what is not.

    A query is one statement, so what it compares belongs to one instant also while others write.
    """

    name: str
    #: Says what is wrong; in braces stand the names of the query's columns.
    message: str
    #: Has a column `turn_id`, empty where a whole conversation is meant.
    query: Query
