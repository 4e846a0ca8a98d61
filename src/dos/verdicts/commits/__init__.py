"""What a commit says, and what it does."""
