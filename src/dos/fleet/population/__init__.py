"""The population plan: which workers are started, reaped and flagged. Pure."""
