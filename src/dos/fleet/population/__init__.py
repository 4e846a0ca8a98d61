"""Who is started, reaped and flagged: decisions from evidence. Pure."""
