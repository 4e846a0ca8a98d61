"""Verbs about receipts and their keys."""
