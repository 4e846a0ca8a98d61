"""Receipts: signed records of what landed."""
