"""Lays a receipt into git's notes, so that whoever has a clone has it too. Several may do so at once."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from dos.records import receipts
from dos.records.receipts import Receipt
from dos.sources.git import AS_DOS, Writer
from dos.sources.receipts.notes import REF, lines

_FILE = "100644"


def add(git: Writer, receipt: Receipt) -> None:
    """Once: one with the same nonce is the same receipt, made again after a crash, and takes the place of the first."""
    git.change_ref(REF, partial(_with, git, receipt), message=f"dos: receipt of {receipt.commit[:9]}")


def _with(git: Writer, receipt: Receipt, old: str | None) -> str:
    """The commit of notes that holds the receipt; the old one when that does."""
    path, blob = _noted(git, old or "", receipt.commit)
    before = lines(git.run("cat-file", "blob", blob)) if blob else []
    again = f'"nonce":"{receipt.nonce}"'.encode()
    after = [*(line for line in before if again not in line), receipts.canonical(receipt)]
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
    return git.run(*AS_DOS, "commit-tree", tree, *parents, "-m", f"Receipt of {receipt.commit}").strip()


def _noted(git: Writer, notes: str, commit: str) -> tuple[str, str]:
    """Where the note of a commit lies, and what it is now. Git puts notes into folders as they get more."""
    usual = f"{commit[:2]}/{commit[2:]}"
    places = (commit, usual, f"{commit[:2]}/{commit[2:4]}/{commit[4:]}")
    entry = git.run("ls-tree", "-z", "--full-tree", notes, "--", *places).strip("\0") if notes else ""
    if not entry:
        return usual, ""
    state, _, path = entry.split("\0")[0].partition("\t")
    return path, state.split(" ")[2]
