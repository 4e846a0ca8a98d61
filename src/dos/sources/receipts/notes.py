"""Receipts that travel with the repository: git notes, one a line. Where one lies proves nothing: it is signed."""

from dos.sources.git import Git

REF = "refs/notes/dos-receipts"
LARGEST_BYTES = 8_000_000


def of_commit(git: Git, sha: str) -> list[bytes]:
    """What is noted at a commit, each as it was written; nothing when nobody noted anything."""
    blob = git.attempt("notes", f"--ref={REF}", "list", sha).stdout.strip()
    if not blob or int(git.run("cat-file", "-s", blob)) > LARGEST_BYTES:
        return []
    return lines(git.run("cat-file", "blob", blob))


def lines(text: str) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") for line in text.split("\n") if line.strip()]
