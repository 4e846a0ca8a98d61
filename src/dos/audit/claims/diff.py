"""What a commit's files show: of which kind each is, and whether its change means something."""

import re
from collections.abc import Callable, Iterator, Sequence

from dos.audit.claims import terms
from dos.audit.claims.changed_lines import ChangedLines
from dos.audit.claims.terms import Term
from dos.git.changes import FileChange
from dos.verify import content, file_kinds
from dos.verify.file_kinds import Kind
from dos.verify.stubs.only_stubs import TextChange

# Reads a file before and after; None for what is no text: a binary, a submodule, a missing blob.
Read = Callable[[FileChange], TextChange | None]
LARGEST_TEXT = 1_000_000  # characters of a file whose lines are compared
# A change of the mode alone supports only a subject with one of these words.
_ABOUT_MODES = re.compile(r"\b(?:chmod|executable|permissions?|mode|exec)\b", re.IGNORECASE)
_CHANGELOG = re.compile(
    r"(?:changes|change_?log|history|news|releases?)(?:[-_.][^/]*)?", re.IGNORECASE
)
_LONG_QUOTES = ('"""', "'''", "`", "```")
_KINDS = (
    (Kind.CI, file_kinds.is_ci),
    (Kind.TEST, file_kinds.is_test),
    (Kind.SOURCE, file_kinds.is_source),
    (Kind.CONFIG, file_kinds.is_config),
    (Kind.DOCS, file_kinds.is_docs),
)


class Diff:
    """The changed files of one commit, which are read only when a question needs them."""

    def __init__(self, files: Sequence[FileChange], read: Read, subject: str) -> None:
        self.files = [change for change in files if _has_effect(change, subject)]
        self.is_empty = not files
        self._read = read
        self._kinds = [(kind_of(change.path), change) for change in self.files]
        self._texts: dict[str, TextChange | None] = {}
        self._lines: dict[str, ChangedLines] = {}
        self._cosmetic: dict[str, bool] = {}

    def of_kind(self, *kinds: Kind) -> list[FileChange]:
        """Return the changes of files of these kinds, whatever changed in them."""
        return [change for kind, change in self._kinds if kind in kinds]

    def effective(self, *kinds: Kind) -> Iterator[FileChange]:
        """Yield the changes of files of these kinds that mean something to a program."""
        for change in self.of_kind(*kinds):
            if not self.is_cosmetic(change):
                yield change

    def not_known_cosmetic(self, kind: Kind) -> list[FileChange]:
        """Return the changes of one kind except those that were read and mean nothing."""
        return [change for change in self.of_kind(kind) if not self._cosmetic.get(change.path)]

    def has(self, *kinds: Kind) -> bool:
        """Whether one file of these kinds has a change that means something."""
        return next(self.effective(*kinds), None) is not None

    def is_cosmetic(self, change: FileChange) -> bool:
        """Whether only comments, layout or nothing changed. What is no text is never cosmetic."""
        known = self._cosmetic.get(change.path)
        if known is None:
            known = self._cosmetic[change.path] = self._find_cosmetic(change)
        return known

    def text(self, change: FileChange) -> TextChange | None:
        """Return a file before and after; None where it is no text, or too long to compare."""
        if change.path not in self._texts:
            found = self._read(change)
            if found is not None and max(len(found.old or ""), len(found.new or "")) > LARGEST_TEXT:
                found = None
            self._texts[change.path] = found
        return self._texts[change.path]

    def lines(self, change: FileChange) -> ChangedLines | None:
        """Return the changed lines of a file; None where `text` is."""
        known = self._lines.get(change.path)
        if known is not None:
            return known
        texts = self.text(change)
        if texts is None:
            return None
        found = self._lines[change.path] = ChangedLines(texts.old or "", texts.new or "")
        return found

    def added(self, change: FileChange) -> list[str]:
        """Return the lines that a change adds; none of what is no text."""
        lines = self.lines(change)
        return lines.added() if lines is not None else []

    def differs_in_words(self, change: FileChange) -> bool:
        """Whether strings or comments of a file differ: what people read. What is no text does.

        The changed lines decide most; they may also be inside of a long string.
        """
        lines = self.lines(change)
        texts = self.text(change)
        if lines is None or texts is None:
            return True
        old, new = (_words(change.path, "\n".join(side)) for side in (lines.lost(), lines.added()))
        if old != new:
            return True
        if not _may_end_inside(lines.before()):
            return False
        return _words(change.path, texts.old or "") != _words(change.path, texts.new or "")

    def lost_only(self, change: FileChange) -> bool:
        """Whether a change takes lines away and adds none."""
        return self.lost_text(change) and not any(map(str.strip, self.added(change)))

    def lost_text(self, change: FileChange) -> bool:
        """Whether a file is shorter than before."""
        texts = self.text(change)
        return texts is not None and len(texts.new or "") < len(texts.old or "")

    def mentions(self, wanted: Sequence[Term], changes: Sequence[FileChange]) -> bool:
        """Whether one of the terms is in the names of files, or at a place that changed in them.

        What cannot be compared counts as if it had one.
        """
        paths = "\n".join("/".join(change.path.split("/")[-2:]) for change in changes)
        if terms.occurs(wanted, paths):
            return True
        for surroundings in (ChangedLines.touched, ChangedLines.around):
            for change in changes:
                lines = self.lines(change)
                if lines is None or terms.occurs(wanted, surroundings(lines)):
                    return True
        return False

    def _find_cosmetic(self, change: FileChange) -> bool:
        if change.status == "T" or change.old_blob == change.new_blob:
            return False
        texts = self.text(change)
        if texts is None:
            return False
        return not content.differs_in_substance(change.path, texts.old or "", texts.new or "")


def kind_of(path: str) -> Kind:
    """The kind of a file for a claim: every path is of exactly one, and none is bookkeeping."""
    for kind, is_kind in _KINDS:
        if is_kind(path):
            return kind
    return Kind.DATA


def is_changelog(path: str) -> bool:
    """Whether a document only tells what was changed, so that it never is the change itself."""
    return _CHANGELOG.fullmatch(path.rpartition("/")[2]) is not None


def _may_end_inside(text: str) -> bool:
    """Whether a text may end inside of a string or a comment that is longer than a line."""
    if any(text.count(mark) % 2 for mark in _LONG_QUOTES):
        return True
    return text.count("/*") != text.count("*/") or "<<" in text or "\n=" in text


def _words(path: str, text: str) -> set[str]:
    return {segment.literal for segment in content.segments(path, text)}


def _has_effect(change: FileChange, subject: str) -> bool:
    """Whether more than the mode changed, or the subject is about modes."""
    is_only_mode = change.old_blob == change.new_blob and change.status == "M"
    return not is_only_mode or _ABOUT_MODES.search(subject) is not None
