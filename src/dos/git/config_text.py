"""The text of git's configuration files."""


def quoted(text: str) -> str:
    """Return a value, or a subsection, as git reads it back: only a few characters are special."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    escaped = escaped.replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
