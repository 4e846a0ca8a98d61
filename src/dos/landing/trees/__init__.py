"""Check trees, and what a new tree needs besides the files in git."""
