"""The durable store: SQLAlchemy over PostgreSQL or SQLite, with the same meaning on both."""
