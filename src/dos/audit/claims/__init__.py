"""What the subject of a commit claims, and whether the diff can be it."""
