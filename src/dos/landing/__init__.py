"""Worktrees, what was done in them, and how it is measured, saved and landed.

`isolated` and `shared_tree` are the two ways to work. Work is measured by `measure`, its commands
are run by `checks`, and it lands through `target`. Before a worktree is cleared, `salvage` saves
what did not land.
"""
