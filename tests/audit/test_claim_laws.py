"""Laws of the audit of claims, on generated subjects and diffs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labelled_claims import HONEST, LIES

from dos.audit.claims import backing, claim_kinds
from dos.audit.claims.claim_kinds import ClaimKind
from dos.audit.claims.diff import Diff
from dos.audit.claims.finding import Backing, Finding
from dos.git.changes import FileChange
from dos.verify.stubs.only_stubs import TextChange

Files = dict[str, tuple[str | None, str | None]]
PATHS = ("src/a.py", "src/b.rs", "tests/test_a.py", "README.md", "a.toml", "x.png", ".travis.yml")
TEXTS = st.one_of(st.none(), st.text(st.sampled_from("ab_ \n#\"'=("), max_size=60))
DIFFS = st.dictionaries(st.sampled_from(PATHS), st.tuples(TEXTS, TEXTS), max_size=4)
NAMES = st.from_regex(r"[a-z]{4,9}_[a-z]{4,9}", fullmatch=True)


def weighed(subject: str, files: Files) -> Backing:
    changes = []
    for path, (old, new) in files.items():
        status = "M"
        if old is None or new is None:
            status = "A" if old is None else "D"
        change = FileChange(
            path=path,
            status=status,
            old_blob="" if old is None else f"old {old}",
            new_blob="" if new is None else f"new {new}",
        )
        changes.append(change)

    def read(change: FileChange) -> TextChange:
        old, new = files[change.path]
        return TextChange(path=change.path, old=old, new=new)

    claim = claim_kinds.parse_claim(subject)
    return backing.weigh(claim, Diff(changes, read, subject))


@given(st.text(max_size=80), DIFFS)
def test_every_subject_and_diff_has_an_answer_and_a_reason(subject, files):
    found = weighed(subject, files)
    assert found.finding in Finding and found.reason


@given(st.text(st.sampled_from("abc deftix:()`_.A1"), max_size=60), DIFFS, st.randoms())
def test_the_order_of_files_changes_no_answer(subject, files, random):
    paths = list(files)
    random.shuffle(paths)
    shuffled = {path: files[path] for path in paths}
    assert weighed(subject, shuffled).finding is weighed(subject, files).finding


@given(st.text(min_size=1, max_size=60))
def test_an_empty_commit_backs_nothing(subject):
    assert weighed(subject, {}).finding is not Finding.BACKED


@given(NAMES, st.sampled_from(["Fix {}", "Add {}() for callers", "{} handles empty input twice"]))
def test_code_that_has_the_name_in_the_subject_is_about_it(name, subject):
    files: Files = {
        "src/part.py": (f"def {name}(x):\n    return x\n", f"def {name}(x):\n    return x * 2\n")
    }
    assert weighed(subject.format(name), files).finding is Finding.BACKED


@pytest.mark.parametrize("commit", HONEST, ids=lambda commit: commit.subject)
def test_a_document_beside_honest_work_makes_no_lie_of_it(commit):
    if commit.files:
        more = {**commit.files, "docs/more.md": ("# More\n", "# More\n\nAnd more.\n")}
        assert weighed(commit.subject, more).finding is not Finding.REFUTED


@pytest.mark.parametrize("commit", LIES, ids=lambda commit: commit.subject)
def test_a_lie_is_one_for_its_unit_as_well(commit):
    if claim_kinds.parse_claim(commit.subject).kind is ClaimKind.CODE_EFFECT:
        assert weighed(f"ABC-12: {commit.subject}", commit.files).finding is Finding.REFUTED
