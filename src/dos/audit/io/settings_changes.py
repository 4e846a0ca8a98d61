"""Gathers what a commit changed in settings of test runners, and in expected output."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from dos.audit import expected_output, runner_settings
from dos.audit.runner_settings import OtherFiles
from dos.audit.settings import file_readers
from dos.audit.weakening import TestChange, Weakening
from dos.git.changes import CommitFacts, FileChange
from dos.git.objects import Objects
from dos.verify import content, file_kinds, runners

MOST_READ = 200  # settings files of a tree that are looked into for what excuses a change


class ChangeReader(Struct, frozen=True, kw_only=True):
    """How the files of a commit are read."""

    texts: Callable[[FileChange], tuple[str | None, str | None]]  # before and after
    is_readable: Callable[[FileChange], bool]
    is_cosmetic: Callable[[FileChange], bool]


def weakened_settings(
    objects: Objects, facts: CommitFacts, reader: ChangeReader
) -> list[Weakening]:
    """Return how a commit's settings keep tests from running, or their failure from counting."""
    changes = []
    for change in facts.files:
        is_changed = change.old_blob != change.new_blob
        if is_changed and file_readers.is_watched(change.path) and reader.is_readable(change):
            old, new = reader.texts(change)
            changes.append(TestChange(path=change.path, old=old, new=new))
    if all(change.old is None and not _is_read_anyway(change.path) for change in changes):
        return []
    others = OtherFiles(
        added=[change.path for change in facts.files if change.status == "A"],
        deleted=[change.path for change in facts.files if change.status == "D"],
        unchanged=lambda: _unchanged(objects, facts),
    )
    return runner_settings.find(changes, others)


def rewritten_output(facts: CommitFacts, reader: ChangeReader) -> list[Weakening]:
    """Return the expected output that a commit changes while it changes nothing else."""
    results = [change for change in facts.files if expected_output.is_result(change.path)]
    if not results:  # most commits: nothing has to be read to tell
        return []
    for change in facts.files:
        if change in results or _is_document(change.path):
            continue
        if not reader.is_cosmetic(change):
            return []
    changes = []
    for change in filter(reader.is_readable, results):
        old, new = reader.texts(change)
        changes.append(TestChange(path=change.path, old=old, new=new))
    return expected_output.find(changes)


def _is_document(path: str) -> bool:
    """Whether a file is prose, and nothing that a test could read."""
    is_data = file_kinds.is_test(path) or runners.is_expected_output(path)
    return file_kinds.is_docs(path) and not is_data


def _is_read_anyway(path: str) -> bool:
    """Whether a new file decides about tests that are there: a CI service needs to be told."""
    return runners.is_settings(path) and not file_readers.is_ci(path)


def _unchanged(objects: Objects, facts: CommitFacts) -> Iterator[tuple[str, str]]:
    """Yield the settings that a commit has as its parent has them."""
    commit = objects.commit(facts.sha)
    if commit is None:
        return
    changed = {change.path for change in facts.files}
    count = 0
    for path, entry in objects.files(commit.tree):
        is_settings = file_readers.is_ci(path) or runners.is_settings(path)
        if not is_settings or path in changed:
            continue
        count += 1
        blob = objects.blob(entry.sha) if count <= MOST_READ else None
        if blob is not None:
            yield path, content.decode(blob)
