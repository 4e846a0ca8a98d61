"""What a commit changed that counts for a unit, and what is left of it."""

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
from dos.verify.footprint import Change, Scope
from dos.verify.survival import File, Survival

LARGEST_TEXT = 8_000_000
MOST_FOLDED = 20  # files that are looked into for what another one held
LINK = 0o120000


class FootprintReader:
    def __init__(self, git: Reader, objects: Objects, tip: Commit) -> None:
        self._git, self._objects, self._tip = git, objects, tip

    def inspect(
        self,
        seen: CandidateCommit,
        commit: Commit,
        parent: Commit | None,
        before: Scope,
        later: Scope,
    ) -> CandidateCommit:
        changed = [
            self._change(each)
            for each in changes.tree_changes(
                self._objects, parent.tree if parent else "", commit.tree
            )
        ]
        found = footprint.judge(changed, before, later)
        seen = structs.replace(seen, footprint=found, is_scoped=before.is_declared)
        if found.flaw:
            return seen
        fates = LaterHistory(self._git, self._objects, commit.sha, self._tip)
        seen = self._survived(seen, fates)
        return structs.replace(seen, looked_at=frozenset(fates.paths), is_walked=fates.is_walked)

    def _survived(self, seen: CandidateCommit, fates: LaterHistory) -> CandidateCommit:
        taken_by, files = "", []
        for file in seen.footprint.files:
            now, by = self._now(file, fates)
            files.append(now)
            taken_by = taken_by or by
        verdict = survival.judge(files)
        seen = structs.replace(seen, survival=verdict)
        if verdict.state is Survival.LIVE:
            return seen
        reverted = fates.reverted_by()
        if verdict.state is Survival.PARTIAL and not reverted:
            return seen
        by = reverted or taken_by or fates.last_touching(verdict.lost)
        return structs.replace(seen, is_reverted=bool(reverted), undone_by=by)

    def _change(self, each: FileChange) -> Change:
        old, is_text = self._lines(each.old_path or each.path, each.old_blob, each.old_mode)
        new, is_new_text = self._lines(each.path, each.new_blob, each.new_mode)
        return Change(
            file=File(path=each.path, old=old, new=new, now=None), is_text=is_text and is_new_text
        )

    def _now(self, file: File, fates: LaterHistory) -> tuple[File, str]:
        """The file where we look, wherever it moved to; and who took it away, if it is gone."""
        path = file.path
        if file.new is not None and fates.entry_at(path) is None:
            path, by = fates.moved_to(path)
            if not path or _is_put_away(file.path, path):
                by = by or fates.last_touching(file.path)
                return self._folded(file, by, fates), by
        lines = self._lines_now(path, fates)
        return structs.replace(file, now=lines, now_path=path if path != file.path else ""), ""

    def _folded(self, file: File, by: str, fates: LaterHistory) -> File:
        """The file as it stands in others, if who deleted it put it there."""
        for path in fates.touched_by(by)[:MOST_FOLDED] if by else ():
            if file_kinds.kind(path) is file_kinds.kind(file.path) and (
                lines := self._lines_now(path, fates)
            ):
                moved = structs.replace(file, now=lines, now_path=path)
                if moved.kept >= survival.ENOUGH * moved.weights.total():
                    return moved
        return file

    def _lines_now(self, path: str, fates: LaterHistory) -> Sequence[str] | None:
        entry = fates.entry_at(path)
        if entry is None or entry.is_tree:
            return None
        return self._lines(path, entry.sha, f"{entry.mode:06o}")[0]

    def _lines(self, path: str, blob: str, mode: str) -> tuple[Sequence[str] | None, bool]:
        """The lines that mean something, and whether it is text; None where there is no file."""
        if not blob:
            return None, True
        if mode == f"{SUBMODULE:06o}":
            return [f"submodule {blob}"], False
        raw = self._objects.blob(blob)
        if raw is None:
            raise GitFailed(
                f"blob {blob} of {printable_path(path)} is not here",
                hint=f"git -C {self._git.tree} fsck",
            )
        if mode == f"{LINK:06o}" or len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return [f"content {blob}"], False
        return content.significant_lines(path, content.decode(raw)), True


def _is_put_away(was: str, now: str) -> bool:
    """Code that became a text nobody runs is gone, whatever it is called."""
    return file_kinds.kind(was) in (Kind.SOURCE, Kind.TEST) and file_kinds.kind(now) in (
        Kind.DOCS,
        Kind.DATA,
    )
