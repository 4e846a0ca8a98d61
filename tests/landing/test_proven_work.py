"""Only what the oracle calls shipped lands.

And of an agent that was cut off only what a command accepts.
"""

import pytest
from msgspec import json
from sample_repository import Repository, commit, write

from dos import run_ids
from dos.agents import prompt
from dos.fleet.io.drive import drive
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.state.fleet import FleetState
from dos.fleet.worker.worker import Worker
from dos.journal import fold
from dos.loop.gate import Mode
from dos.loop.types import LoopState
from dos.units.unit import Unit
from dos.verify.io import verifier
from dos.world import World

PLAN = """# A plan

## DEMO A1: first
- lane: one
- paths: one/sub/**
"""


def work(repository: Repository):
    world = World(repository.root)
    acting = WorkerEffects(world.workspace, world.config, actor="test")
    run_id = run_ids.mint(1_700_000_000_000, 1, "test").run_id
    try:
        return drive(
            Worker(lane="one", run_id=run_id, state=LoopState(gate_mode=Mode.SOFT)).work(),
            acting.performers(),
        )
    finally:
        acting.close()


def verified(repository: Repository, unit: str = "A1") -> str:
    with World(repository.root) as world:
        return verifier.verify(world, [("DEMO", unit)], verifier.Ask(ref="main"))[0].answer


def measured(repository: Repository) -> list[tuple[str, str]]:
    happened = World(repository.root).journal.events()
    return [
        (event.body["verdict"], event.body["reason"])
        for event in happened
        if event.kind == "work_measured"
    ]


def tries(repository: Repository) -> list[str]:
    return fold.current(World(repository.root).journal, FleetState)[0].units["DEMO/A1"].tries


@pytest.fixture
def planned(repository: Repository) -> Repository:
    (repository.root / "docs" / "demo-plan.md").write_text(PLAN)
    repository.commit_all("Plan")
    return repository


JUNK = {"run": "git add -A; git -c user.name=A -c user.email=a@b commit -qm whatever"}
CODE = "def answer():\n    return 42\n"


@pytest.mark.sampled(4)
@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([write("one/sub/junk.py", CODE), JUNK], "no commit names the unit"),
        (
            [write("one/elsewhere.py", CODE), commit("Do A1")],
            "it changed one/elsewhere.py, outside the unit's paths one/sub/**",
        ),
        ([write("one/sub/a.py", CODE), JUNK, commit("Do A1")], "the commit is empty"),
        ([write("one/sub/a.py", "# a comment\n"), commit("Do A1")], "only comments"),
        (
            [
                write("one/sub/a.py", CODE),
                commit("Do A1"),
                write("one/sub/a.py", ""),
                write("one/sub/b", "x"),
                JUNK,
            ],
            "none of its 2 lines is left",
        ),
    ],
    ids=[
        "no trailer",
        "outside of the paths",
        "the trailer on nothing",
        "only comments",
        "taken out again",
    ],
)
def test_what_the_oracle_does_not_call_shipped_does_not_land(planned, steps, why):
    planned.play({"DEMO/A1": [steps]})
    work(planned)
    assert planned.subjects() == ["Plan", "Begin"]
    verdict, reason = measured(planned)[0]
    assert verdict == "UNPROVEN" and why in reason
    assert why in tries(planned)[0], "the next agent is told"
    assert verified(planned) != "SHIPPED"


@pytest.mark.soak
def test_an_agent_that_forgot_the_trailer_is_told_the_very_line(planned):
    planned.play(
        {
            "DEMO/A1": [
                [write("one/sub/a.py", CODE), JUNK],
                [write("one/sub/a.py", CODE), commit("Do A1")],
            ]
        }
    )
    work(planned)
    assert "`Unit: DEMO/A1`" in tries(planned)[0]
    assert planned.subjects() == ["Do A1", "Plan", "Begin"]
    assert verified(planned) == "SHIPPED"


@pytest.mark.soak
def test_whatever_lands_is_shipped_by_the_word_of_the_oracle(repository):
    work(repository)
    assert repository.subjects() == ["Write b", "Write a", "Begin"]
    assert [verified(repository, unit) for unit in ("A1", "A2")] == ["SHIPPED", "SHIPPED"]


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("cut_off", "how"),
    [
        ({"crash": True}, "was killed"),
        ({"limit": 0.1}, "reached its usage limit"),
        ({"ending": "turn_cap"}, "reached its turn limit"),
    ],
    ids=["killed", "limit", "cap"],
)
def test_half_done_work_of_an_agent_that_was_cut_off_is_kept_and_told_of(planned, cut_off, how):
    half = [write("one/sub/half.py", CODE), commit("wip: half of it"), cut_off]
    planned.play({"DEMO/A1": [half, [write("one/sub/a.py", CODE), commit("Do A1")]]})
    work(planned)
    assert planned.subjects() == ["Do A1", "Plan", "Begin"]
    assert measured(planned)[0][0] == "UNFINISHED"
    saved = fold.current(World(planned.root).journal, FleetState)[0].salvaged
    assert planned.git("show", f"{saved[0]}:one/sub/half.py") == CODE.strip()
    told = tries(planned)[0]
    assert saved[0] in told and told.startswith(f"its agent {how}: ")


@pytest.mark.soak
def test_what_an_agent_did_not_commit_before_it_was_ended_is_named_to_the_next_one(planned):
    config = planned.root / "dos.toml"
    config.write_text(config.read_text() + "silence_seconds = 1\n")
    planned.commit_all("Short")
    planned.play(
        {
            "DEMO/A1": [
                [write("one/sub/half.py", CODE), {"hang": True}],
                [write("one/sub/a.py", CODE), commit("A1")],
            ]
        }
    )
    work(planned)
    (told,) = tries(planned)
    saved = fold.current(World(planned.root).journal, FleetState)[0].salvaged
    assert told == f"its agent hung and was stopped: no commit was made; its work is on {saved[0]}"


@pytest.mark.soak
def test_the_claim_is_held_against_what_git_shows(planned):
    done = [write("one/sub/a.py", CODE), commit("Do A1")]
    planned.play({"DEMO/A1": [[{"say": "all done"}], [{"crash": True}], done]})
    work(planned)
    happened = World(planned.root).journal.events()
    found = [event.body["reconciled"] for event in happened if event.kind == "work_measured"]
    assert found == ["QUIET_INCOMPLETE", "HONEST_OPEN", "VERIFIED"]


def test_a_prompt_names_where_the_work_is_to_be():
    unit = Unit(plan="DEMO", id="A1", title="first", paths=("one/sub/**", "one/tests/**"))
    text = prompt.unit_prompt(unit, globs=["one/**"], acceptance="", history=[])
    assert "one/sub/**, one/tests/**" in text
    anywhere = Unit(plan="DEMO", id="A1", title="first")
    assert "to be in" not in prompt.unit_prompt(
        anywhere, globs=["one/**"], acceptance="", history=[]
    )


@pytest.mark.soak
def test_a_receipt_and_its_landing_are_written_together(repository):
    work(repository)
    kinds = ("receipt_issued", "unit_landed")
    landed = [event for event in World(repository.root).journal.events() if event.kind in kinds]
    assert [each.kind for each in landed] == ["receipt_issued", "unit_landed"] * 2
    assert all(
        second.pos == first.pos + 1 for first, second in zip(landed[::2], landed[1::2], strict=True)
    )
    assert json.encode(landed[0].body["receipt"])
