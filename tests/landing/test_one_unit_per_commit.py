"""One commit ships one unit: whatever else it names, the fleet does not take for done."""

from functools import partial

import pytest
from driven_worker import before_landing, open_effects, work
from sample_repository import Repository, commit, set_level, write

from dos import workspace
from dos.approval.io import approve
from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded
from dos.config.load import load
from dos.landing import measure
from dos.units.io import sources
from dos.world import World

PLAN = """# A plan

## DEMO A1: first
- lane: one

## DEMO A2: second
- lane: one

## DEMO A3: third
- lane: one
- acceptance: `test -s one/c.py`

## DEMO B1: fourth
- lane: two
"""
CODE = "def answer():\n    return 42\n"
SIX = (
    "Do six\n\nUnit: DEMO/A1\nUnit: DEMO/A2\nUnit: DEMO/A3\nUnit: DEMO/B1\nUnit: "
    "DEMO/C1\nUnit: DEMO/C2"
)


def said(message: str) -> dict[str, str]:
    text = message.replace("'", "'\\''")
    return {
        "run": f"git add -A; git -c user.name=A -c user.email=a@example.invalid commit -qm '{text}'"
    }


@pytest.fixture
def planned(repository: Repository) -> Repository:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    repository.commit_all("Plan")
    return repository


def truths(repository: Repository, *units: str) -> dict[str, landed.Truth]:
    with World(repository.root) as world:
        return landed.gather(world, [f"DEMO/{unit}" for unit in units])


def tries(repository: Repository) -> list[str]:
    happened = World(repository.root).journal.events()
    return [event.body["reason"] for event in happened if event.kind == "work_measured"]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("level", ["off", "auto"])
def test_a_commit_that_names_six_units_ships_none_and_its_agent_is_told(planned, level):
    set_level(planned, level)
    planned.play(
        {
            "DEMO/A1": [
                [write("one/a.py", CODE), said(SIX)],
                [write("one/a.py", CODE), commit("Do A1")],
            ],
            "*": [
                [write("one/b.py", CODE), commit("Do it")],
                [write("one/c.py", CODE), commit("Do it")],
            ],
        }
    )
    work(planned)
    assert "Do six" not in planned.subjects() and "Do A1" in planned.subjects()
    (first, *_) = tries(planned)
    assert (
        "names DEMO/A2, DEMO/A3, DEMO/B1" in first
        and "for DEMO/A1 alone" in first
        and "--amend" in first
    )
    shown = planned.git("log", "--format=%(trailers:key=Unit,valueonly)", "main").split()
    assert len(shown) == len(set(shown)), "each unit by a commit of its own"
    assert isinstance(truths(planned, "B1")["DEMO/B1"], NotLanded)


@pytest.mark.soak
def test_each_commit_of_the_work_is_looked_at(planned):
    hidden = [
        write("one/a.py", CODE),
        said("Do A2\n\nUnit: DEMO/A2"),
        write("one/b.py", CODE),
        commit("Do A1"),
    ]
    planned.play({"DEMO/A1": [hidden] * 9, "*": []})
    work(planned)
    assert planned.subjects() == ["Plan", "Begin"]
    assert all("names DEMO/A2" in why for why in tries(planned)[:1])


@pytest.mark.soak
def test_a_plan_that_an_agent_edits_on_disk_hides_no_name(planned):
    with open_effects(planned).store as store:
        approve.approve(workspace.find(planned.root), load(planned.root), store, by="me")
    edit = {"run": f"sed -i 's/A2/A7/' {planned.root}/docs/demo-plan.md"}
    planned.play(
        {
            "DEMO/A1": [[write("one/a.py", CODE), edit, said("DEMO A2: do it\n\nUnit: DEMO/A1")]],
            "*": [],
        }
    )
    work(planned)
    assert "names DEMO/A2" in tries(planned)[0]
    assert planned.subjects() == ["Plan", "Begin"]


def test_a_grammar_that_only_a_commit_between_declares_hides_no_name(planned):
    base, settings = planned.git("rev-parse", "HEAD"), (planned.root / "dos.toml").read_text()
    (planned.root / "dos.toml").write_text(
        f'{settings}\n[stamp]\nbookkeeping_prefixes = ["DEMO A2"]\n'
    )
    (planned.root / "one" / "b.py").write_text(CODE)
    planned.commit_all("DEMO A2: do it")
    (planned.root / "dos.toml").write_text(settings)
    (planned.root / "one" / "a.py").write_text(CODE)
    planned.commit_all("DEMO A1: do it")
    commits = planned.git("rev-list", "--reverse", f"{base}..HEAD").split()
    folder = workspace.find(planned.root)
    first, *others = sources.read(folder, load(planned.root).config).units
    asked = partial(measure.other_units_named, folder, first, others, base=base, head=commits[-1])
    assert "names DEMO/A2" in asked(commits=commits)
    assert asked(commits=commits[1:]) == ""


@pytest.mark.soak
def test_a_landing_is_for_the_unit_that_was_claimed_whatever_is_planned_later(planned):
    planned.play(
        {"DEMO/A1": [[write("one/a.py", CODE), said("DEMO A9: do it\n\nUnit: DEMO/A1")]], "*": []}
    )
    work(planned)
    with (planned.root / "docs" / "demo-plan.md").open("a") as plan:
        plan.write("\n## DEMO A9: later\n- lane: one\n\n## DEMO A8: by hand\n- lane: one\n")
    (planned.root / "one" / "h.py").write_text(CODE)
    planned.commit_all("DEMO A8: by hand")
    shown = truths(planned, "A1", "A8", "A9")
    assert isinstance(shown["DEMO/A1"], Landed) and isinstance(shown["DEMO/A8"], Landed)
    assert (
        isinstance(shown["DEMO/A9"], NotLanded) and "was landed for DEMO/A1" in shown["DEMO/A9"].why
    )


@pytest.mark.soak
def test_honest_work_that_speaks_of_others_lands(planned):
    text = (
        "DEMO A1: see A2\n\nDEMO/A2 will need this, and DEMO A3 too.\n- not DEMO A3: that "
        "comes later\n\nUnit: DEMO/A1"
    )
    planned.play({"DEMO/A1": [[write("one/a.py", CODE), said(text)]], "*": []})
    work(planned)
    assert "DEMO A1: see A2" in planned.subjects()
    assert isinstance(truths(planned, "A1")["DEMO/A1"], Landed)


@pytest.mark.soak
def test_commits_of_others_that_landed_meanwhile_are_not_looked_at(planned):
    """The work is rebased on them: they name other units, and are on the target."""

    def lands() -> None:
        (planned.root / "two" / "b.py").write_text(CODE)
        planned.commit_all("DEMO B1: do it")

    planned.play({"DEMO/A1": [[write("one/a.py", CODE), commit("Do A1")]], "*": []})
    work(planned, performers=before_landing(lands))
    assert planned.subjects()[:2] == ["Do A1", "DEMO B1: do it"]


def test_a_persons_commit_counts_in_the_lane_and_where_no_acceptance_is_asked(planned):
    (planned.root / "one" / "a.py").write_text(CODE)
    planned.commit_all("DEMO A1: by hand")
    shown = truths(planned, "A1", "A2")
    assert isinstance(shown["DEMO/A1"], Landed) and isinstance(shown["DEMO/A2"], NotLanded)


def test_a_commit_outside_of_the_lane_never_counts(planned):
    (planned.root / "one" / "b.py").write_text(CODE)
    planned.commit_all("DEMO B1: by hand")
    found = truths(planned, "B1")["DEMO/B1"]
    assert (
        isinstance(found, NotLanded)
        and "changes nothing in its lane" in found.why
        and found.is_claimed
    )


@pytest.mark.soak
def test_a_unit_with_an_acceptance_is_done_by_its_landing_or_a_bound_receipt(planned):
    pytest.importorskip("cryptography")
    (planned.root / "one" / "c.py").write_text(CODE)
    planned.commit_all("DEMO A3: by hand")
    found = truths(planned, "A3")["DEMO/A3"]
    assert isinstance(found, NotLanded) and "no receipt says" in found.why
    planned.git("reset", "--quiet", "--hard", "HEAD^")
    planned.play({"DEMO/A3": [[write("one/c.py", CODE), commit("Do A3")]], "*": []})
    work(planned)
    assert isinstance(truths(planned, "A3")["DEMO/A3"], Landed)
    for file in (planned.root / ".git" / "dos").glob("state.db*"):
        file.unlink()  # as in a clone, which has the notes
    assert isinstance(truths(planned, "A3")["DEMO/A3"], Landed), "its receipt is in git's notes"
    planned.git("update-ref", "-d", "refs/notes/dos-receipts")
    assert isinstance(truths(planned, "A3")["DEMO/A3"], NotLanded)
