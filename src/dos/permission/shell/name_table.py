"""Tables of names that are written as plain text, one beside the other."""


def name_table(text: str) -> frozenset[str]:
    """Return the names of a text that separates them by blanks."""
    return frozenset(text.split())
