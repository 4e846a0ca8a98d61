"""The terminal: pages that refresh, progress, colours."""
