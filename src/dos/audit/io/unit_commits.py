"""Audits the commits of one unit before they land: each of them, and all of them as one change.

`dos commit-audit` judges each commit by the same rules, so that what lands is not called weakened
afterwards. One change may weaken tests in two steps that are harmless alone.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from msgspec import Struct, structs

from dos.audit.claims import claim_kinds
from dos.audit.io.gather import Auditor
from dos.audit.weakening import Weakening
from dos.git import changes
from dos.git.changes import CommitFacts, CommitRange, FileChange
from dos.git.objects import Objects
from dos.git.repository import Reader
from dos.text import escape_invisible, plural, replace_undecodable
from dos.verify import content

SHORT = 9  # characters of a commit's name
MOST_FILES = 3  # whose lost lines are shown
MOST_LINES = 8  # of each of them
LONGEST_LINE = 120
MOST_COMPARED = 20_000  # lines of a file that is compared line by line


class WeakenedTests(Struct, frozen=True, kw_only=True):
    """One way in which a unit's commits weaken tests, and the lines that show it."""

    weakening: Weakening
    commit: str  # that does it; of all together, the last
    lines: tuple[str, ...] = ()  # such as `-12: assert total == 3`


def weakened_tests(
    git: Reader, commits: Sequence[str], *, base: str, head: str
) -> list[WeakenedTests]:
    """Return how the commits between base and head weaken tests; each file and way once.

    A commit does not count for a file that the head has again as it was before the commit. The
    commits count together only if nothing else lies between base and head.
    """
    if not commits:
        return []
    found: dict[tuple[str, str], WeakenedTests] = {}
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=SHORT)
        facts = list(changes.read_commits(git, _only(commits)))[::-1]
        whole = _as_one_change(git, objects, facts, base, head)
        for change in [*whole, *facts]:
            for weakening in auditor.weakened(change):
                key = (weakening.path, weakening.what)
                if key not in found and not _is_restored(objects, change, weakening.path, head):
                    lines = tuple(_changed_lines(objects, change, weakening.path))
                    found[key] = WeakenedTests(weakening=weakening, commit=change.sha, lines=lines)
    return list(found.values())


def describe(weakened: Sequence[WeakenedTests]) -> str:
    """Return what was weakened, with the files and lines, for the next attempt; at most a page."""
    sentences = []
    for entry in weakened[:MOST_FILES]:
        commit = entry.commit[:SHORT]
        what = f"{_as_text(str(entry.weakening))} (commit {commit})"
        sentences.append("\n".join([what, *entry.lines]))
    left = len(weakened) - MOST_FILES
    if left > 0:
        sentences.append(f"({plural(left, 'file')} more)")
    return "\n".join(sentences)


def _only(commits: Sequence[str]) -> CommitRange:
    return CommitRange(words=("--no-walk=unsorted", *reversed(commits)), is_range=True, short=SHORT)


def _as_one_change(
    git: Reader, objects: Objects, facts: Sequence[CommitFacts], base: str, head: str
) -> list[CommitFacts]:
    """Return all commits as one; nothing where there is only one, or others lie between them."""
    if len(facts) < 2 or git.commits_between(base, head) != [commit.sha for commit in facts]:
        return []
    files: list[FileChange] = []
    for change in changes.tree_changes(objects, _tree(objects, base), _tree(objects, head)):
        files += _without_move(change)
    telling = facts[-1]
    for commit in facts:
        if claim_kinds.parse_claim(commit.subject).says_removed:
            telling = commit
            break
    return [structs.replace(telling, sha=head, parents=(base,), files=tuple(files))]


def _without_move(change: FileChange) -> Iterator[FileChange]:
    """A moved file as a deletion and an addition, as the audit reads commits."""
    if not change.old_path:
        yield change
        return
    yield FileChange(
        path=change.old_path, status="D", old_blob=change.old_blob, old_mode=change.old_mode
    )
    yield FileChange(
        path=change.path, status="A", new_blob=change.new_blob, new_mode=change.new_mode
    )


def _is_restored(objects: Objects, change: CommitFacts, path: str, head: str) -> bool:
    """Whether the head has a file as it was before a commit."""
    before = _blob(objects, change.parents[0], path) if change.parents else ""
    return bool(before) and before == _blob(objects, head, path)


def _changed_lines(objects: Objects, change: CommitFacts, path: str) -> Iterator[str]:
    """Yield the first lines of a file that a commit removed or added, with their numbers."""
    before = _lines(objects, change.parents[0] if change.parents else "", path)
    after = _lines(objects, change.sha, path)
    if max(len(before), len(after)) > MOST_COMPARED:
        return
    shown = []
    for kind, old, old_end, new, new_end in SequenceMatcher(a=before, b=after).get_opcodes():
        if kind == "equal":
            continue
        shown += [f"-{number + 1}: {before[number]}" for number in range(old, old_end)]
        shown += [f"+{number + 1}: {after[number]}" for number in range(new, new_end)]
    telling = [line for line in shown if line.partition(": ")[2].strip()]
    for line in telling[:MOST_LINES]:
        yield _as_text(line)
    if len(telling) > MOST_LINES:
        yield f"({plural(len(telling) - MOST_LINES, 'line')} more)"


def _lines(objects: Objects, commit: str, path: str) -> list[str]:
    """The lines of a file in a commit; none if there is no such file, or it is no text."""
    blob = objects.blob(_blob(objects, commit, path)) if commit else None
    if blob is None or content.is_binary(blob):
        return []
    return content.decode(blob).split("\n")


def _blob(objects: Objects, commit: str, path: str) -> str:
    entry = objects.entry_at(_tree(objects, commit), path)
    return entry.sha if entry and not entry.is_tree else ""


def _tree(objects: Objects, commit: str) -> str:
    named = objects.commit(commit)
    return named.tree if named else ""


def _as_text(line: str) -> str:
    """The line as text of bounded length without control characters: the journal stores it."""
    text = escape_invisible(replace_undecodable(line.expandtabs(4)))
    if len(text) <= LONGEST_LINE:
        return text
    return text[: LONGEST_LINE - 1] + "…"
