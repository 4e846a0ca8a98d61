"""Reads test files: their statements, cases, checks and tables."""
