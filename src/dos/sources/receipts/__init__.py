"""Receipts and the keys that sign them, as files."""
