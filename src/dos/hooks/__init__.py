"""Git's own hooks ask whether an agent still holds its lane, and stays in it."""
