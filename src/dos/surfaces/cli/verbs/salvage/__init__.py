"""Work that was saved before a worktree was cleared: look at it, take it back, let go of it."""
