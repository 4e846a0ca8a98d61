"""Git: reads and writes of a repository, its objects, its history and the index that saves walking it."""
