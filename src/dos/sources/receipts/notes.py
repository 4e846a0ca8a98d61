"""Receipts that travel with the repository: git notes, one a line. Where one lies proves nothing: it is signed."""

from dos.sources.git import Reader
from dos.sources.history.objects import Objects

REF = "refs/notes/dos-receipts"
LARGEST_BYTES = 8_000_000


def of_commit(git: Reader, sha: str) -> list[bytes]:
    """What is noted at a commit, each as it was written; nothing when nobody noted anything."""
    with Objects(git) as objects:
        noted = objects.commit(REF)
        # A note lies under the name of its commit, which git breaks into folders when there are many.
        places = (sha, f"{sha[:2]}/{sha[2:]}", f"{sha[:2]}/{sha[2:4]}/{sha[4:]}")
        entry = next((found for place in places if noted and (found := objects.at(noted.tree, place))), None)
        blob = objects.blob(entry.sha) if entry else None
    return lines(blob.decode("utf-8", "surrogateescape")) if blob and len(blob) <= LARGEST_BYTES else []


def every(git: Reader) -> list[bytes]:
    """What is noted at any commit."""
    if git.commit_of(REF) is None:
        return []
    listed = git.run("ls-tree", "-r", "--full-tree", "--format=%(objectname)", REF).split()
    with Objects(git) as objects:
        blobs = objects.blobs(listed)
    return [line for blob in blobs if blob for line in lines(blob.decode("utf-8", "surrogateescape"))]


def lines(text: str) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") for line in text.split("\n") if line.strip()]
