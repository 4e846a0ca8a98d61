"""Read what a commit changed that counts for a unit, and what is left of it at a tip.

A file is followed if it was renamed, and its lines are looked for in the files that the deleting
commit touched: moving work to another place does not undo it.
"""

from collections.abc import Sequence

from msgspec import structs

from dos.errors import GitFailed
from dos.git import changes
from dos.git.changes import FileChange
from dos.git.objects import SUBMODULE, Commit, Objects
from dos.git.repository import Reader
from dos.git.survival import LaterHistory
from dos.text import printable_path
from dos.verify import content, file_kinds, footprint, survival
from dos.verify.candidate import CandidateCommit
from dos.verify.file_kinds import Kind
from dos.verify.footprint import Change, Footprint, Purpose, Scope
from dos.verify.survival import File, Survival

LARGEST_TEXT = 8_000_000  # bytes; a larger file counts by its hash, as a binary one does
MOST_ABSORBING_FILES = 20  # that are searched for the lines of a deleted one
LINK = 0o120000


class FootprintReader:
    """Reads footprints and their survival at one tip."""

    def __init__(self, git: Reader, objects: Objects, tip: Commit) -> None:
        self._git = git
        self._objects = objects
        self._tip = tip

    def inspect(
        self,
        candidate: CandidateCommit,
        commit: Commit,
        parent: Commit | None,
        before: Scope,
        later: Scope,
    ) -> CandidateCommit:
        """The candidate with its footprint and, if that has no flaw, its survival.

        `before` is the unit's scope in the parent's tree, `later` the one at the tip. Raises
        GitFailed if an object is missing.
        """
        parent_tree = ""
        if parent:
            parent_tree = parent.tree
        file_changes = changes.tree_changes(self._objects, parent_tree, commit.tree)
        changed = list(map(self._change, file_changes))
        found = footprint.judge(changed, before, later)
        stubs = self._only_stubs(file_changes, found, before)
        if stubs:
            found = footprint.only_stubs(stubs)
        candidate = structs.replace(candidate, footprint=found, is_scoped=before.is_declared)
        if found.flaw:
            return candidate
        history = LaterHistory(self._git, self._objects, commit.sha, self._tip)
        candidate = self._with_survival(candidate, history)
        return structs.replace(
            candidate, looked_at=frozenset(history.paths), is_walked=history.is_walked
        )

    def _only_stubs(
        self, file_changes: Sequence[FileChange], found: Footprint, scope: Scope
    ) -> str:
        """Which stubs the files that count gained, if they gained nothing else; else ""."""
        if found.flaw or found.out_of_scope or scope.purpose is not Purpose.CODE:
            return ""
        from dos.verify.stubs import only_stubs  # at use: most answers need no diff

        counting = {file.path for file in found.files}
        program = [file for file in found.files if not file_kinds.is_test(file.path)]
        is_real = any(only_stubs.has_work(file.added) for file in program)
        if is_real or only_stubs.is_asked_for(scope.title):
            return ""
        texts = []
        for change in file_changes:
            if change.path not in counting:
                continue
            old = self._text(change.old_blob, change.old_mode)
            new = self._text(change.new_blob, change.new_mode)
            if change.new_blob and new is None:
                return ""  # a link, a submodule or a binary file is no stub
            texts.append(only_stubs.TextChange(path=change.path, old=old, new=new))
        return only_stubs.only_stubs(texts)

    def _text(self, blob: str, mode: str) -> str | None:
        """The text of a blob; None if there is no file, or it is no text."""
        if not blob or mode in (f"{SUBMODULE:06o}", f"{LINK:06o}"):
            return None
        raw = self._objects.blob(blob)
        if raw is None or len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return None
        return content.decode(raw)

    def _with_survival(self, candidate: CandidateCommit, history: LaterHistory) -> CandidateCommit:
        """The candidate with what is left of its files, and who removed what is not."""
        deleted_by = ""
        files = []
        for file in candidate.footprint.files:
            current, by = self._current(file, history)
            files.append(current)
            deleted_by = deleted_by or by
        verdict = survival.judge(files)
        candidate = structs.replace(candidate, survival=verdict)
        if verdict.state is Survival.LIVE:
            return candidate
        reverted_by = history.reverted_by()
        if verdict.state is Survival.PARTIAL and not reverted_by:
            return candidate
        undone_by = reverted_by or deleted_by or history.last_touching(verdict.lost)
        return structs.replace(candidate, is_reverted=bool(reverted_by), undone_by=undone_by)

    def _change(self, change: FileChange) -> Change:
        """A change of git with the significant lines of both sides."""
        old_path = change.old_path or change.path
        old, is_old_text = self._lines(old_path, change.old_blob, change.old_mode)
        new, is_new_text = self._lines(change.path, change.new_blob, change.new_mode)
        return Change(
            file=File(path=change.path, old=old, new=new, now=None),
            is_text=is_old_text and is_new_text,
        )

    def _current(self, file: File, history: LaterHistory) -> tuple[File, str]:
        """The file as it is at the tip, also if it moved; and who deleted it, if it is gone."""
        path = file.path
        if file.new is not None and history.entry_at(path) is None:
            path, by = history.moved_to(path)
            if not path or _is_archived(file.path, path):
                by = by or history.last_touching(file.path)
                return self._absorbed(file, by, history), by
        lines = self._current_lines(path, history)
        now_path = ""
        if path != file.path:
            now_path = path
        return structs.replace(file, now=lines, now_path=now_path), ""

    def _absorbed(self, file: File, by: str, history: LaterHistory) -> File:
        """A deleted file as it is in another one, if the deleting commit moved its lines there."""
        if not by:
            return file
        kind = file_kinds.kind(file.path)
        for path in history.touched_by(by)[:MOST_ABSORBING_FILES]:
            if file_kinds.kind(path) is not kind:
                continue
            lines = self._current_lines(path, history)
            if not lines:
                continue
            moved = structs.replace(file, now=lines, now_path=path)
            if moved.kept >= survival.ENOUGH * moved.weights.total():
                return moved
        return file

    def _current_lines(self, path: str, history: LaterHistory) -> Sequence[str] | None:
        """The significant lines of a file at the tip; None if it is not there."""
        entry = history.entry_at(path)
        if entry is None or entry.is_tree:
            return None
        lines, _ = self._lines(path, entry.sha, f"{entry.mode:06o}")
        return lines

    def _lines(self, path: str, blob: str, mode: str) -> tuple[Sequence[str] | None, bool]:
        """The significant lines of a blob, and whether it is text; None if there is no file."""
        if not blob:
            return None, True
        if mode == f"{SUBMODULE:06o}":
            return [f"submodule {blob}"], False
        raw = self._objects.blob(blob)
        if raw is None:
            raise GitFailed(
                f"blob {blob} of {printable_path(path)} is missing from this repository",
                hint=f"git -C {self._git.tree} fsck",
            )
        if mode == f"{LINK:06o}" or len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return [f"content {blob}"], False
        return content.significant_lines(path, content.decode(raw)), True


def _is_archived(was: str, now: str) -> bool:
    """Whether code was moved to a file that is never run: then it is gone, whatever its name."""
    was_code = file_kinds.kind(was) in (Kind.SOURCE, Kind.TEST)
    return was_code and file_kinds.kind(now) in (Kind.DOCS, Kind.DATA)
