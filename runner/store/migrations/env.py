"""What Alembic runs: the migrations, on a connection and in a transaction that it is handed."""

from alembic import context

context.configure(connection=context.config.attributes["connection"])
context.run_migrations()
