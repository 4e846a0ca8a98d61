"""How a repository is laid out: its packages, its components with their tests, and how it is set up and tested."""
