"""Finds units whose commits add only code that cannot run."""
