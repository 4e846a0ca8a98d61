"""Worktrees, what was done in them, and how it is measured, saved and landed."""
