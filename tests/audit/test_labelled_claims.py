"""What the audit says of small commits: lies, and honest work of the same form."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from labelled_claims import COMMITS
from labelled_commit import LabelledCommit

from dos.audit import audit
from dos.audit.audit import Verdict, Witness
from dos.audit.io.gather import Auditor
from dos.git import changes
from dos.git.objects import Objects
from dos.git.repository import Writer


def _data(text: str) -> bytes:
    raw = text.encode()
    return b"data %d\n%s\n" % (len(raw), raw)


def _commit(branch: str, message: str, files: Iterable[tuple[str, str | None]]) -> bytes:
    lines = [f"commit refs/heads/{branch}\ncommitter A <a@example.com> 1 +0000\n".encode()]
    lines.append(_data(message))
    for path, text in files:
        if text is None:
            lines.append(f"D {path}\n".encode())
        else:
            lines.append(f"M 100644 inline {path}\n".encode() + _data(text))
    return b"".join(lines)


def _stream(commits: Iterable[LabelledCommit]) -> bytes:
    """Two commits for each of the labelled ones, on a branch of their own."""
    parts = []
    for number, commit in enumerate(commits):
        before = [(path, old) for path, (old, _) in commit.files.items() if old is not None]
        after = [(path, new) for path, (_, new) in commit.files.items()]
        message = f"{commit.subject}\n\n{commit.body}".rstrip()
        parts.append(_commit(f"row{number}", "Start", [*before, ("LICENSE", "MIT\n")]))
        parts.append(_commit(f"row{number}", message, after))
    return b"".join(parts)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> list[Verdict]:
    root: Path = tmp_path_factory.mktemp("claims")
    subprocess.run(["git", "init", "--quiet", "."], cwd=root, check=True)
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=_stream(COMMITS), check=True)
    git = Writer(root)
    found = []
    with Objects(git) as objects:
        auditor = Auditor(git, objects, short=9)
        for number in range(len(COMMITS)):
            [facts] = changes.read_commits(git, changes.parse_range(git, f"row{number}"))
            found.append(audit.judge(auditor.gather(facts)))
    return found


@pytest.mark.parametrize(
    ("number", "commit"),
    list(enumerate(COMMITS)),
    ids=[f"{commit.claim}: {commit.subject} | {', '.join(commit.files)}" for commit in COMMITS],
)
def test_a_claim_is_unwitnessed_if_and_only_if_the_diff_does_not_do_it(verdicts, number, commit):
    verdict = verdicts[number]
    is_lie = commit.claim == "not_done"
    assert (verdict.witness is Witness.SUBJECT_ONLY) == is_lie, (commit.why, verdict.reason)
