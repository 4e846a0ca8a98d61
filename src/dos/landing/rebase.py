"""What a rebase stopped at, in words for whoever tries next: the files, and the lines that both sides changed."""

from dos.git.repository import Writer
from dos.text import join_some, plural, printable_path, replace_undecodable

MOST_LINES = 40
LONGEST_LINE = 160
_HEADERS = ("index ", "mode ", "--- ", "+++ ", "new file mode ", "deleted file mode ")


def describe_conflict(inside: Writer) -> str:
    """Empty when no file is in conflict: then something else was in the way."""
    files = sorted(
        set(inside.run("diff", "-z", "--name-only", "--diff-filter=U").split("\0")) - {""}
    )
    if not files:
        return ""
    first = f"{plural(len(files), 'file')} in conflict: {join_some([_plain(printable_path(path)) for path in files])}"
    plain = (
        "diff",
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--diff-filter=U",
        "--unified=1",
    )
    lines = [
        _plain(line)
        for line in inside.run(*plain).split("\n")
        if line and not line.startswith(_HEADERS)
    ]
    room = MOST_LINES - 1
    if len(lines) > room:
        cut = len(lines) - room + 1
        lines = [*lines[: room - 1], f"({cut} lines more)"]
    return "\n".join([first, *lines])


def _plain(line: str) -> str:
    """A file need not be text, and the journal holds only text."""
    text = replace_undecodable(line)
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"
