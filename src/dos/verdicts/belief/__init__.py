"""Names that plugins import from where they first were; they are defined elsewhere."""
