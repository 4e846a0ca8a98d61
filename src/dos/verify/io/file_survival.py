"""Reads what is left at a tip of the files that a commit changed.

A file is followed if it was renamed, and its lines are looked for in the files that the deleting
commit touched: moving work to another place does not undo it.
"""

from collections import Counter
from collections.abc import Sequence

from msgspec import structs

from dos.git.changes import FileChange
from dos.git.survival import LaterHistory
from dos.verify import content, file_kinds, survival
from dos.verify.candidate import CandidateCommit
from dos.verify.file_kinds import Kind
from dos.verify.footprint import Scope
from dos.verify.io.file_contents import FileContents
from dos.verify.survival import File, Survival

MOST_ABSORBING_FILES = 20  # that are searched for the lines of a deleted one


class SurvivalReader:
    """Follows the files of one commit through the history after it; `scope` is its unit's."""

    def __init__(self, contents: FileContents, history: LaterHistory, scope: Scope) -> None:
        self._contents = contents
        self._history = history
        self._scope = scope

    def with_survival(self, candidate: CandidateCommit) -> CandidateCommit:
        """The candidate with what is left of its files, and who removed what is not."""
        deleted_by = ""
        files = []
        for file in candidate.footprint.files:
            current, by = self._current(file)
            files.append(current)
            deleted_by = deleted_by or by
        verdict = survival.judge(files)
        if verdict.state is not Survival.LIVE:
            again = survival.judge(self._second_look(file) for file in files)
            if again.kept > verdict.kept:
                verdict = again
        candidate = structs.replace(candidate, survival=verdict)
        if verdict.state is Survival.LIVE:
            return candidate
        reverted_by = self._history.reverted_by()
        if verdict.state is Survival.PARTIAL and not reverted_by:
            return candidate
        undone_by = reverted_by or deleted_by or self._history.last_touching(verdict.lost)
        return structs.replace(candidate, is_reverted=bool(reverted_by), undone_by=undone_by)

    def _current(self, file: File) -> tuple[File, str]:
        """The file as it is at the tip, also if it moved; and who deleted it, if it is gone."""
        path = file.path
        if file.new is not None and self._history.entry_at(path) is None:
            path, by = self._history.moved_to(path)
            if file.moved_from and path == file.moved_from:
                return file, self._history.last_touching(file.path)  # it is back where it was
            if not path or _is_archived(file.path, path):
                by = by or self._history.last_touching(file.path)
                return self._absorbed(file, by), by
        lines = self._current_lines(path, is_order=file.is_order)
        if lines and file.new and lines != file.new and not file.is_order:
            lines = self._live_lines(path, file.new, lines)
        now_path = ""
        if path != file.path:
            now_path = path
        entry = self._history.entry_at(path)
        now_mode = f"{entry.mode:06o}" if entry else ""
        return structs.replace(file, now=lines, now_path=now_path, now_mode=now_mode), ""

    def _absorbed(self, file: File, by: str) -> File:
        """A deleted file as it is in another one, if the deleting commit moved its lines there."""
        if not by:
            return file
        kind = file_kinds.kind(file.path)
        for change in self._history.changed_by(by)[:MOST_ABSORBING_FILES]:
            if file_kinds.kind(change.path) is not kind:
                continue
            lines = self._current_lines(change.path, is_order=file.is_order)
            if not lines:
                continue
            moved = structs.replace(file, now=lines, now_path=change.path)
            if moved.kept >= survival.ENOUGH * moved.weights.total():
                return moved
        return file

    def _second_look(self, file: File) -> File:
        """A file of which too little is left, if it was made anew by a tool, or was split."""
        if file.new is None or file.is_order or file.kept >= survival.ENOUGH * file.total:
            return file
        if self._scope.names(file.path) and self._is_generated_again(file):
            return structs.replace(file, now=file.new)
        scattered = self._scattered(file)
        if scattered.kept >= survival.ENOUGH * scattered.total:
            return scattered
        return survival.with_plain_quotes(scattered)

    def _scattered(self, file: File) -> File:
        """The file together with the lines that later commits moved from it to other files.

        Only what those files gained counts: a line that they had before did not come from here.
        """
        kind = file_kinds.kind(file.path)
        gained: dict[str, Counter[str]] = {}
        for sha in self._history.touching(file.path):
            for change in self._history.changed_by(sha)[:MOST_ABSORBING_FILES]:
                is_other = change.path not in (file.path, file.now_path)
                if is_other and file_kinds.kind(change.path) is kind:
                    lines = self._gained_lines(change)
                    gained[change.path] = gained.get(change.path, Counter()) | lines
        union = Counter(file.now or ())
        for lines in gained.values():
            union += lines
        if not union:
            return file
        return structs.replace(file, now=list(union.elements()))

    def _gained_lines(self, change: FileChange) -> Counter[str]:
        """The lines that a file has at the tip and did not have before a commit."""
        before, _ = self._contents.lines(change.path, change.old_blob, change.old_mode)
        now = self._current_lines(change.path, is_order=False)
        return Counter(now or ()) - Counter(before or ())

    def _is_generated_again(self, file: File) -> bool:
        """Whether a tool wrote the file, then and now: its lines are not those of an author."""
        if not file.now or file.now == file.old:
            return False
        entry = self._history.entry_at(file.path)
        if entry is None:
            return False
        text = self._contents.text(entry.sha, f"{entry.mode:06o}")
        return text is not None and file_kinds.is_generated(file.path, text)

    def _current_lines(self, path: str, *, is_order: bool) -> Sequence[str] | None:
        """The significant lines of a file at the tip, or its pairs; None if it is not there."""
        entry = self._history.entry_at(path)
        if entry is None or entry.is_tree:
            return None
        lines, _ = self._contents.lines(path, entry.sha, f"{entry.mode:06o}")
        if is_order:
            return content.adjacent_lines(lines or ())
        return lines

    def _live_lines(self, path: str, new: Sequence[str], now: Sequence[str]) -> Sequence[str]:
        """The lines of a file at the tip, without code that was switched off since the commit."""
        from dos.verify.dead_code import only_dead  # at use: most files are as they were

        entry = self._history.entry_at(path)
        if entry is None or not only_dead.has_condition(now) or only_dead.has_condition(new):
            return now
        text = self._contents.text(entry.sha, f"{entry.mode:06o}")
        if text is None:
            return now
        return content.significant_lines(path, only_dead.live_text(path, text))


def _is_archived(was: str, now: str) -> bool:
    """Whether code was moved to a file that is never run: then it is gone, whatever its name."""
    was_code = file_kinds.kind(was) in (Kind.SOURCE, Kind.TEST)
    return was_code and file_kinds.kind(now) in (Kind.DOCS, Kind.DATA)
