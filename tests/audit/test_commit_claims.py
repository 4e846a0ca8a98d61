"""What a subject claims, and what a path is."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dos.audit.claims.claim_kinds import ClaimKind, parse_claim
from dos.verify import file_kinds
from dos.verify.file_kinds import Kind, kind
from dos.verify.mentions import is_ship_shaped

UNITS = [
    "AUTH1: x", "auth1: x", "cache layer Phase 1: y", "feat: x (docs/42 Phase 3)",
    "AUTH Phase 2 — z", "AUTH AUTH1: x", "AUTH: AUTH1 done", "feat(AUTH): AUTH1 y",
    "x (AUTH AUTH1) (#42)", "docs/AUTH1: x", "AX3'-1: x", "AUTH 1: x", "[AUTH-12] x",
]  # fmt: skip
NO_UNITS = [
    "", "fix: typo", "feat: x (#42)", "v1.2: x", "v1.2.3: AUTH1", "fix: 3 bugs", "Update README 2",
    "Bump foo from 1.2 to 1.3", "python3: x", "utf8: x", "e2e: x", "k8s: x", "fix: 2 tests",
    "a (see RFC 3339)", "Update to node 18", "support python 3.12", "working-dir snapshot: AUTH1",
    "archive 20260101T0000Z AUTH1",
]  # fmt: skip


@pytest.mark.parametrize("subject", UNITS)
def test_a_unit_at_either_end_is_ship_shaped(subject):
    assert is_ship_shaped(subject)


@pytest.mark.parametrize("subject", NO_UNITS)
def test_a_number_is_no_unit(subject):
    assert not is_ship_shaped(subject)


@given(st.text(max_size=300))
def test_any_subject_claims_something_or_nothing(subject):
    assert parse_claim(subject).kind in ClaimKind
    assert is_ship_shaped(subject) in (True, False)


@pytest.mark.parametrize("piece", ["A1", "a ", "A1.", "a.b-", "(a ", "[", "a:", "'"])
def test_a_long_subject_is_read_in_a_time_that_grows_with_its_length(piece):
    """An expression that backtracks would take minutes for a subject of this length."""
    began = time.process_time()
    assert parse_claim(piece * 10_000).kind in ClaimKind
    assert time.process_time() - began < 5


@given(
    st.sampled_from(["nit", "wip", "release", "merge", "bump", "style", "lint", "chore"]),
    st.sampled_from(
        ["fix: rewrite {}", "Add OAuth — {} ready", "implement payments, {}", "feat: login ({})"]
    ),
)
def test_a_word_further_on_ends_no_claim(word, subject):
    assert parse_claim(subject.format(word)).kind is ClaimKind.CODE_EFFECT


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/a.py", Kind.SOURCE),
        ("SRC/A.PY", Kind.SOURCE),
        ("src/é.py", Kind.SOURCE),
        ("bin/run", Kind.SOURCE),
        ("Makefile", Kind.SOURCE),
        ("Dockerfile.dev", Kind.SOURCE),
        ("README", Kind.DOCS),
        ("LICENSE", Kind.DOCS),
        ("README.md", Kind.DOCS),
        ("notes.txt", Kind.DOCS),
        ("requirements-dev.txt", Kind.CONFIG),
        ("CMakeLists.txt", Kind.CONFIG),
        ("package.json", Kind.CONFIG),
        ("config/app.yaml", Kind.CONFIG),
        ("poetry.lock", Kind.CONFIG),
        (".gitignore", Kind.CONFIG),
        ("logo.png", Kind.DATA),
        ("x.unheard", Kind.DATA),
        (".github/workflows/ci.yml", Kind.CI),
        (".GitLab-CI.yml", Kind.CI),
        ("sub/.github/workflows/ci.yml", Kind.CONFIG),
        ("tests/test_x.py", Kind.TEST),
        ("tests/data.bin", Kind.TEST),
        ("src/x_test.go", Kind.TEST),
        ("src/x.spec.ts", Kind.TEST),
        ("testing/x.py", Kind.SOURCE),
        ("src/contest.py", Kind.SOURCE),
        ("tests/__init__.py", Kind.TEST),
        ("VERSION", Kind.BOOKKEEPING),
        ("pyproject.toml", Kind.CONFIG),
        ("docs/releases/1.md", Kind.BOOKKEEPING),
    ],
)
def test_a_path_is_of_one_kind(path, expected):
    assert kind(path) is expected


@given(st.text(max_size=60))
def test_every_path_is_of_a_kind_in_any_case(path):
    assert kind(path) in Kind
    if path.isascii():
        assert kind(path.upper()) is kind(path.lower())


def test_a_test_can_be_source_as_well():
    assert file_kinds.is_source("tests/test_x.py") and file_kinds.is_test("tests/test_x.py")
