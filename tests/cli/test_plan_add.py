"""`dos plan add` appends one unit to a plan document, and changes nothing else."""

import pytest
from commanding import in_process
from sample_repository import PLAN

NAME = "docs/demo-plan.md"
ADDED = """
## DEMO A3: fourth
- lane: one
- paths: one/**
- depends: DEMO/A1
- acceptance: `test -s one/d.txt`

Write it down.
"""
WORDS = (
    "DEMO/A3", "fourth", "--lane", "one", "--path", "one/**", "--depends", "DEMO/A1",
    "--acceptance", "test -s one/d.txt", "--text", "Write it down.",
)  # fmt: skip


def plan(repository, *words):
    return in_process("--workspace", str(repository.root), "plan", *words)


def text(repository) -> str:
    return (repository.root / NAME).read_text()


def test_a_unit_is_appended_and_is_read_as_it_was_asked_for(repository):
    answer = plan(repository, "add", *WORDS, "--json")
    assert answer.code == 0, answer.err
    assert (answer.json["unit"], answer.json["document"]) == ("DEMO/A3", NAME)
    assert text(repository) == PLAN + ADDED
    shown = in_process("--workspace", str(repository.root), "pickable", "A3")
    assert "DEMO/A1" in shown.out


def test_a_dry_run_writes_nothing(repository):
    answer = plan(repository, "add", *WORDS, "--dry-run")
    assert answer.code == 0 and "would add DEMO/A3" in answer.out and "- lane: one" in answer.out
    assert text(repository) == PLAN


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("DEMO/A1", "again"), "DEMO/A1 is declared already"),
        (("A3", "no plan"), "does not name a plan and an id"),
        (("OTHER/O1", "elsewhere"), "there is no plan 'OTHER'"),
        (("DEMO/A3", " "), "title"),
        (("DEMO/A3", "x", "--lane", "nine"), "nine"),
        (("DEMO/A3", "x", "--lane", "one", "--path", "two/**"), "never lie in its lane"),
        (("DEMO/A3", "x", "--depends", "DEMO/A9"), "A9"),
        (("DEMO/A3", "x", "--text", "## DEMO A4: hidden\n- lane: two"), "unit of its own"),
        (("DEMO/three", "x"), "unit of its own"),
        (("DEMO/A3", "x", "--text", "- lane: two"), "lane would be read as 'two'"),
        (("DEMO/A3", "two\nlines"), "title"),
        (("DEMO/A3", "x", "--document", "docs/none-plan.md"), "not a plan document"),
        (("DEMO/A3", "x", "--acceptance", "no-such-program-here"), "no such program"),
    ],
)
def test_what_would_read_otherwise_is_refused_and_nothing_is_written(repository, words, said):
    answer = plan(repository, "add", *words)
    assert answer.code == 2, answer.out
    assert said in answer.err
    assert text(repository) == PLAN


def test_an_open_code_block_swallows_nothing(repository):
    (repository.root / NAME).write_text(PLAN + "```\nopen\n")
    assert plan(repository, "add", *WORDS).code == 2
    assert text(repository) == PLAN + "```\nopen\n"
