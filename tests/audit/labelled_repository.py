"""Labelled commits as one git repository, and what the audit says of them."""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from labelled_commit import REVERTED, LabelledCommit
from msgspec import Struct

from dos.audit import audit
from dos.audit.io.gather import Auditor
from dos.git import changes
from dos.git.objects import Objects
from dos.git.repository import Writer

CLAIMS, TESTS = "claim not done", "tests weakened"
_FILE = "100644"


class FileSides(Struct, frozen=True, kw_only=True):
    """A file before and after a commit; None where it does not exist."""

    path: str
    old: bytes | None
    new: bytes | None
    old_mode: str = _FILE
    new_mode: str = _FILE


class Record(Struct, frozen=True, kw_only=True):
    """A commit to write, with its labels."""

    name: str
    subject: str
    body: str
    files: tuple[FileSides, ...]
    claim: str = ""
    tests: str = ""
    why: str = ""
    reverts: "Record | None" = None


def record_of(commit: LabelledCommit) -> Record:
    """Return one of the labelled commits of our own as bytes."""
    files = []
    for path, (old, new) in commit.files.items():
        old_mode, new_mode = commit.modes.get(path, (_FILE, _FILE))
        sides = FileSides(
            path=path,
            old=None if old is None else old.encode(),
            new=None if new is None else new.encode(),
            old_mode=old_mode,
            new_mode=new_mode,
        )
        files.append(sides)
    return Record(
        name=commit.name,
        subject=commit.subject,
        body=commit.body,
        files=tuple(files),
        claim=commit.claim,
        tests=commit.tests,
        why=commit.why,
        reverts=record_of(commit.reverts) if commit.reverts else None,
    )


def write(records: Sequence[Record], root: Path) -> dict[str, str]:
    """Write a repository at `root` and return the name of each record by the sha of its change.

    `bases..changes` in it are the changes of all the records and their merge. A commit that is
    reverted lies below the change that reverts it.
    """
    subprocess.run(["git", "init", "--quiet", "--initial-branch=none", str(root)], check=True)
    _import(root, _bases(records))
    reverted = _branches(root, "reverted")
    _import(root, _changes(records, reverted))
    return {sha: records[int(number)].name for number, sha in _branches(root, "change").items()}


def verdicts(root: Path, names: dict[str, str]) -> dict[str, audit.Verdict]:
    """Audit the changes of a repository that `write` made; the verdicts by the names of records."""
    git = Writer(root)
    wanted = changes.parse_range(git, "bases..changes")
    whole = changes.CommitRange(words=wanted.words, is_range=True, short=40)
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=whole.short)
        judged = map(audit.judge, auditor.gather_all(changes.read_commits(git, whole)))
        return {names[verdict.sha]: verdict for verdict in judged if verdict.sha in names}


def is_flagged(question: str, verdict: audit.Verdict) -> bool:
    """Whether a verdict answers one of the two questions with yes."""
    weakened = verdict.verdict is audit.Answer.TESTS_WEAKENED
    if question == TESTS:
        return weakened
    if weakened:
        return verdict.witness is audit.Witness.SUBJECT_ONLY
    return verdict.verdict is audit.Answer.CLAIM_UNWITNESSED


class Score(Struct, frozen=True, kw_only=True):
    """How the answers to one question compare with the labels; all by names of records."""

    question: str
    right: tuple[str, ...]
    wrong: tuple[str, ...]  # flagged, and labelled otherwise
    missed: tuple[str, ...]

    @property
    def precision(self) -> float:
        """The share of the flagged that are right; 0 where nothing is flagged."""
        return len(self.right) / ((len(self.right) + len(self.wrong)) or 1)

    @property
    def recall(self) -> float:
        """The share of what should be flagged that is."""
        return len(self.right) / ((len(self.right) + len(self.missed)) or 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / ((self.precision + self.recall) or 1)


def is_bad(question: str, record: Record) -> bool | None:
    """Whether the label answers a question with yes; None where nobody can tell."""
    label, bad = (record.claim, "not_done") if question == CLAIMS else (record.tests, "weakened")
    return None if label == "cannot_tell" else label == bad


def score(question: str, records: Iterable[Record], found: dict[str, audit.Verdict]) -> Score:
    """Compare the verdicts with the labels; a label that says `cannot_tell` does not count."""
    right, wrong, missed = [], [], []
    for record in records:
        bad, flagged = is_bad(question, record), is_flagged(question, found[record.name])
        if bad and flagged:
            right.append(record.name)
        elif bad:
            missed.append(record.name)
        elif flagged and bad is False:
            wrong.append(record.name)
    return Score(question=question, right=tuple(right), wrong=tuple(wrong), missed=tuple(missed))


def _import(root: Path, stream: Iterable[bytes]) -> None:
    words = ("git", "fast-import", "--quiet", "--done")
    subprocess.run(words, cwd=root, input=b"".join(stream), check=True)


def _branches(root: Path, kind: str) -> dict[str, str]:
    """Return the tips of all branches of a kind by the number of the record."""
    words = ("git", "for-each-ref", "--format=%(refname:lstrip=3) %(objectname)")
    listed = subprocess.run(
        (*words, f"refs/heads/{kind}/"), cwd=root, stdout=subprocess.PIPE, text=True, check=True
    )
    return dict(line.split() for line in listed.stdout.splitlines())


def _bases(records: Sequence[Record]) -> Iterator[bytes]:
    for number, record in enumerate(records):
        parents = []
        if record.reverts:
            yield _commit(f"start/{number}", "Start", [], _before(record.reverts.files))
            done = _after(record.reverts.files)
            yield _commit(f"reverted/{number}", record.reverts.subject, [f"start/{number}"], done)
            parents = [f"reverted/{number}"]
        later = [*_gone(record), *_before(record.files)]
        yield _commit(f"base/{number}", "Earlier work", parents, later)
    every = [f"base/{number}" for number in range(len(records))]
    yield _commit("bases", "Merge all bases", every, [])
    yield b"done\n"


def _changes(records: Sequence[Record], reverted: dict[str, str]) -> Iterator[bytes]:
    for number, record in enumerate(records):
        message = record.subject
        if record.body:
            message += "\n\n" + record.body.replace(REVERTED, reverted.get(str(number), REVERTED))
        base = f"base/{number}^0"  # of another stream: fast-import asks for a commit by this form
        yield _commit(f"change/{number}", message, [base], _after(record.files))
    every = [f"change/{number}" for number in range(len(records))]
    yield _commit("changes", "Merge all changes", every, [])
    yield b"done\n"


def _commit(branch: str, message: str, parents: Sequence[str], files: Sequence[bytes]) -> bytes:
    written = [b"commit refs/heads/" + branch.encode(), b"committer a <a@b> 1700000000 +0000"]
    written.append(_data(message.encode() + b"\n"))
    for number, parent in enumerate(parents):
        word = "merge" if number else "from"
        written.append(f"{word} refs/heads/{parent}".encode())
    return b"\n".join([*written, *files, b""])


def _data(content: bytes) -> bytes:
    return b"data %d\n%s" % (len(content), content)


def _before(files: Iterable[FileSides]) -> list[bytes]:
    return [_written(each.path, each.old, each.old_mode) for each in files if each.old is not None]


def _after(files: Iterable[FileSides]) -> list[bytes]:
    """Return what makes the change, deletions first: a file may take the place of a folder."""
    ordered = sorted(files, key=lambda each: each.new is not None)
    return [_written(each.path, each.new, each.new_mode) for each in ordered]


def _gone(record: Record) -> list[bytes]:
    """Delete what the reverted commit added and the revert does not find."""
    if not record.reverts:
        return []
    added = {each.path for each in record.reverts.files if each.new is not None}
    return [
        _written(each.path, None)
        for each in record.files
        if each.path in added and each.old is None
    ]


def _written(path: str, content: bytes | None, mode: str = _FILE) -> bytes:
    escaped = path.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
    if content is None:
        return b'D "%s"' % escaped
    return b'M %s inline "%s"\n%s' % (mode.encode(), escaped, _data(content))
