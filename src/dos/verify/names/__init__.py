"""How people write the names of units into commit messages."""
