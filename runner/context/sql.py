"""Contributors that are what a database answers."""

from collections.abc import Mapping
from dataclasses import dataclass

from runner.context.rendering import as_text, render_value
from runner.context.surroundings import Surroundings
from runner.core.contributing import ContributorContext
from runner.core.errors import ConfigError, OutboundError
from runner.core.jsonvalue import JsonValue, dump_json
from runner.definitions.context import SqlContext
from runner.outbound.databases import Query, Rows
from runner.outbound.limit import Limit


@dataclass(frozen=True, slots=True)
class SqlSource:
    """A question, asked whenever it is asked for."""

    definition: SqlContext
    surroundings: Surroundings

    def read(self, context: ContributorContext, limit: Limit) -> str:
        definition = self.definition
        query = Query(
            statement=definition.sql,
            parameters={
                name: _bindable(
                    render_value(str(template), context, environ=self.surroundings.environ)
                )
                for name, template in definition.parameters.items()
            },
            max_rows=definition.max_rows,
        )
        try:
            database = self.surroundings.database_of(definition.database)
        except ConfigError as error:
            raise OutboundError(str(error)) from error
        return _told(database.ask(query, limit=limit))


def build(definition: SqlContext, surroundings: Surroundings) -> SqlSource:
    return SqlSource(definition, surroundings)


def _bindable(value: JsonValue) -> JsonValue:
    """Bind lists and objects as JSON text: not every database has a type for them."""
    return as_text(value) if isinstance(value, Mapping | list | tuple) else value


def _told(found: Rows) -> str:
    """Write rows as JSON, one a line."""
    if not found.rows:
        return "(no rows)"
    lines = [dump_json(row) for row in found.rows]
    return "\n".join([*lines, "(there are more rows)"] if found.is_cut else lines)
