"""Receipts that travel with the repository: git notes, one a line. Where one lies proves nothing: it is signed."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dos.git.objects import Objects
from dos.git.repository import AS_DOS, Reader, Writer
from dos.receipts import receipt as receipts
from dos.receipts.receipt import Receipt

REF = "refs/notes/dos-receipts"
LARGEST_BYTES = 8_000_000


def notes_on_commit(git: Reader, sha: str) -> list[bytes]:
    """What is noted at a commit, each as it was written; nothing when nobody noted anything."""
    with Objects(git) as objects:
        noted = objects.commit(REF)
        # A note lies under the name of its commit, which git breaks into folders when there are many.
        places = (sha, f"{sha[:2]}/{sha[2:]}", f"{sha[:2]}/{sha[2:4]}/{sha[4:]}")
        entry = next(
            (found for place in places if noted and (found := objects.entry_at(noted.tree, place))),
            None,
        )
        blob = objects.blob(entry.sha) if entry else None
    return (
        note_lines(blob.decode("utf-8", "surrogateescape"))
        if blob and len(blob) <= LARGEST_BYTES
        else []
    )


def all_notes(git: Reader) -> list[bytes]:
    """What is noted at any commit."""
    if git.commit_of(REF) is None:
        return []
    listed = git.run("ls-tree", "-r", "--full-tree", "--format=%(objectname)", REF).split()
    with Objects(git) as objects:
        blobs = objects.blobs(listed)
    return [
        line
        for blob in blobs
        if blob
        for line in note_lines(blob.decode("utf-8", "surrogateescape"))
    ]


def note_lines(text: str) -> list[bytes]:
    return [line.encode("utf-8", "surrogateescape") for line in text.split("\n") if line.strip()]


_FILE = "100644"


def add_note(git: Writer, receipt: Receipt) -> None:
    """Once: one with the same nonce is the same receipt, made again after a crash, and takes the place of the first."""
    git.change_ref(
        REF, partial(_notes_with, git, receipt), message=f"dos: receipt of {receipt.commit[:9]}"
    )


def _notes_with(git: Writer, receipt: Receipt, old: str | None) -> str:
    """The commit of notes that holds the receipt; the old one when that does."""
    path, blob = _existing_note(git, old or "", receipt.commit)
    before = note_lines(git.run("cat-file", "blob", blob)) if blob else []
    again = f'"nonce":"{receipt.nonce}"'.encode()
    after = [*(line for line in before if again not in line), receipts.canonical_bytes(receipt)]
    if old and after == before:
        return old
    text = b"\n".join([*after, b""]).decode("utf-8", "surrogateescape")
    made = git.run("hash-object", "-w", "--stdin", feed=text).strip()
    with TemporaryDirectory(prefix="dos-notes-") as place:
        index = str(Path(place) / "index")
        git.run("read-tree", old or "--empty", index=index)
        git.run("update-index", "--add", "--cacheinfo", f"{_FILE},{made},{path}", index=index)
        tree = git.run("write-tree", index=index).strip()
    parents = ("-p", old) if old else ()
    return git.run(
        *AS_DOS, "commit-tree", tree, *parents, "-m", f"Receipt of {receipt.commit}"
    ).strip()


def _existing_note(git: Writer, notes: str, commit: str) -> tuple[str, str]:
    """Where the note of a commit lies, and what it is now. Git puts notes into folders as they get more."""
    usual = f"{commit[:2]}/{commit[2:]}"
    places = (commit, usual, f"{commit[:2]}/{commit[2:4]}/{commit[4:]}")
    entry = (
        git.run("ls-tree", "-z", "--full-tree", notes, "--", *places).strip("\0") if notes else ""
    )
    if not entry:
        return usual, ""
    state, _, path = entry.split("\0")[0].partition("\t")
    return path, state.split(" ")[2]
