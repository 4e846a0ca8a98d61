"""Keeps receipts in git notes, one a line, so that they travel with the repository.

Where a receipt lies proves nothing: its signature does.
"""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dos.git.objects import Objects
from dos.git.repository import AS_DOS, Reader, Writer
from dos.receipts.receipt import Receipt, canonical_bytes

REF = "refs/notes/dos-receipts"
LARGEST_BYTES = 8_000_000  # of one note; a larger one is ignored
_FILE_MODE = "100644"


def notes_on_commit(git: Reader, sha: str) -> list[bytes]:
    """Return the lines of a commit's note as they were written; none where it has no note."""
    with Objects(git) as objects:
        notes = objects.commit(REF)
        if notes is None:
            return []
        for path in _note_paths(sha):
            entry = objects.entry_at(notes.tree, path)
            if entry:
                break
        else:
            return []
        blob = objects.blob(entry.sha)
    if not blob or len(blob) > LARGEST_BYTES:
        return []
    return note_lines(blob.decode("utf-8", "surrogateescape"))


def all_notes(git: Reader) -> list[bytes]:
    """Return the lines of the notes of all commits, in the order of git's tree of notes."""
    if git.commit_of(REF) is None:
        return []
    names = git.run("ls-tree", "-r", "--full-tree", "--format=%(objectname)", REF).split()
    with Objects(git) as objects:
        blobs = objects.blobs(names)
    lines: list[bytes] = []
    for blob in blobs:
        if blob:
            lines += note_lines(blob.decode("utf-8", "surrogateescape"))
    return lines


def note_lines(text: str) -> list[bytes]:
    """Return the lines of a note that are not blank."""
    return [line.encode("utf-8", "surrogateescape") for line in text.split("\n") if line.strip()]


def _note_paths(commit: str) -> tuple[str, str, str]:
    """Return where the note of a commit may lie: git splits names into folders as notes grow."""
    return (
        commit,
        f"{commit[:2]}/{commit[2:]}",
        f"{commit[:2]}/{commit[2:4]}/{commit[4:]}",
    )


def add_note(git: Writer, receipt: Receipt) -> None:
    """Add the receipt to the note of its commit, in place of one with the same nonce.

    The same nonce means the same receipt, made again after a crash. Moves the ref of the notes; if
    another process moves it meanwhile, the note is made again on top of that.
    """
    git.change_ref(
        REF, partial(_notes_with, git, receipt), message=f"dos: receipt of {receipt.commit[:9]}"
    )


def _notes_with(git: Writer, receipt: Receipt, old: str | None) -> str:
    """Return the commit of notes that holds the receipt; the old one if that does."""
    path, blob = _existing_note(git, old or "", receipt.commit)
    before = []
    if blob:
        before = note_lines(git.run("cat-file", "blob", blob))
    same_nonce = f'"nonce":"{receipt.nonce}"'.encode()
    after = [line for line in before if same_nonce not in line]
    after.append(canonical_bytes(receipt))
    if old and after == before:
        return old
    text = b"\n".join([*after, b""]).decode("utf-8", "surrogateescape")
    new_blob = git.run("hash-object", "-w", "--stdin", feed=text).strip()
    with TemporaryDirectory(prefix="dos-notes-") as folder:
        index = str(Path(folder) / "index")
        entry = f"{_FILE_MODE},{new_blob},{path}"
        git.run("read-tree", old or "--empty", index=index)
        git.run("update-index", "--add", "--cacheinfo", entry, index=index)
        tree = git.run("write-tree", index=index).strip()
    parents = ("-p", old) if old else ()
    words = ("commit-tree", tree, *parents, "-m", f"Receipt of {receipt.commit}")
    return git.run(*AS_DOS, *words).strip()


def _existing_note(git: Writer, notes: str, commit: str) -> tuple[str, str]:
    """Return the path of a commit's note and its blob; an empty blob where there is none yet."""
    paths = _note_paths(commit)
    entry = ""
    if notes:
        entry = git.run("ls-tree", "-z", "--full-tree", notes, "--", *paths).strip("\0")
    if not entry:
        return paths[1], ""
    state, _, path = entry.split("\0")[0].partition("\t")
    return path, state.split(" ")[2]
