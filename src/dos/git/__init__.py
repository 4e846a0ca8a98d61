"""Git: reading and changing a repository, its objects and history, and an index of messages."""
