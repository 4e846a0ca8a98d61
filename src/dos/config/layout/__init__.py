"""How a repository is laid out: its packages, its components with their tests, and its commands."""
