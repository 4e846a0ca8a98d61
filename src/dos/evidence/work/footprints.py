"""What a commit changed that counts for a unit, and what is left of it."""

from collections.abc import Sequence

from msgspec import structs

from dos.records.changes import FileChange
from dos.sources.git import Git
from dos.sources.history import fates, trees
from dos.sources.history.objects import SUBMODULE, Commit, Objects
from dos.verdicts.commits import content, paths
from dos.verdicts.commits.paths import Kind
from dos.verdicts.work import footprint, survival
from dos.verdicts.work.footprint import Change, Scope
from dos.verdicts.work.shipped import Seen
from dos.verdicts.work.survival import Fate, File

LARGEST_TEXT = 8_000_000


class Footprints:
    def __init__(self, git: Git, objects: Objects, tip: Commit) -> None:
        self._git, self._objects, self._tip = git, objects, tip

    def of(self, seen: Seen, commit: Commit, parent: Commit | None, scope: Scope | None) -> Seen:
        changed = [
            self._change(each) for each in trees.changes(self._objects, parent.tree if parent else "", commit.tree)
        ]
        found = footprint.judge(changed, scope or Scope())
        seen = structs.replace(seen, footprint=found)
        if found.flaw:
            return seen
        taken_by, files = "", []
        for file in found.files:
            now, by = self._now(file, commit)
            files.append(now)
            taken_by = taken_by or by
        verdict = survival.judge(files)
        seen = structs.replace(seen, survival=verdict)
        if verdict.fate in (Fate.LIVE, Fate.PARTIAL):
            return seen
        reverted = fates.reverted_by(self._git, commit.sha, self._tip.sha)
        by = reverted or taken_by or fates.last_touching(self._git, commit.sha, self._tip.sha, verdict.lost)
        return structs.replace(seen, is_reverted=bool(reverted), undone_by=by)

    def _change(self, each: FileChange) -> Change:
        old, is_text = self._lines(each.old_path or each.path, each.old_blob, each.old_mode)
        new, is_new_text = self._lines(each.path, each.new_blob, each.new_mode)
        return Change(file=File(path=each.path, old=old, new=new, now=None), is_text=is_text and is_new_text)

    def _now(self, file: File, commit: Commit) -> tuple[File, str]:
        """The file where we look, wherever it moved to; and who took it away, if it is gone."""
        path = file.path
        entry = self._objects.at(self._tip.tree, path)
        if entry is None and file.new is not None:
            path, by = fates.moved_to(self._git, self._objects, commit.sha, self._tip.sha, path)
            if not path or _is_put_away(file.path, path):
                return file, by or fates.last_touching(self._git, commit.sha, self._tip.sha, file.path)
            entry = self._objects.at(self._tip.tree, path)
        if entry is None or entry.is_tree:
            return file, ""
        lines, _ = self._lines(path, entry.sha, f"{entry.mode:06o}")
        return structs.replace(file, now=lines, now_path=path if path != file.path else ""), ""

    def _lines(self, path: str, blob: str, mode: str) -> tuple[Sequence[str] | None, bool]:
        """The lines that mean something, and whether it is text; None where there is no file."""
        if not blob:
            return None, True
        if mode == f"{SUBMODULE:06o}":
            return [f"submodule {blob}"], True
        raw = self._objects.blob(blob)
        if raw is None or len(raw) > LARGEST_TEXT or content.is_binary(raw):
            return [f"content {blob}"], False
        return content.substance(path, content.decoded(raw)), True


def _is_put_away(was: str, now: str) -> bool:
    """Code that became a text nobody runs is gone, whatever it is called."""
    return paths.kind(was) in (Kind.SOURCE, Kind.TEST) and paths.kind(now) in (Kind.DOCS, Kind.DATA)
