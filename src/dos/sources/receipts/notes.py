"""Receipts that travel with the repository: git notes, one a line. Where one lies proves nothing: it is signed."""

from dos.sources.git import Git
from dos.sources.history.objects import Objects

REF = "refs/notes/dos-receipts"
LARGEST_BYTES = 8_000_000


def of_commit(git: Git, sha: str) -> list[bytes]:
    """What is noted at a commit, each as it was written; nothing when nobody noted anything."""
    blob = git.attempt("notes", f"--ref={REF}", "list", sha).stdout.strip()
    if not blob or int(git.run("cat-file", "-s", blob)) > LARGEST_BYTES:
        return []
    return lines(git.run("cat-file", "blob", blob))


def every(git: Git) -> list[bytes]:
    """What is noted at any commit."""
    listed = git.attempt("notes", f"--ref={REF}", "list").stdout.split()
    with Objects(git) as objects:
        blobs = objects.blobs(listed[::2])
    return [line for blob in blobs if blob for line in lines(blob.decode("utf-8", "surrogateescape"))]


def lines(text: str) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") for line in text.split("\n") if line.strip()]
