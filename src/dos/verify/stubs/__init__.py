"""Finds units whose commits add only bodies that do nothing yet."""
