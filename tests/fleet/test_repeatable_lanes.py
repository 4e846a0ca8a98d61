"""Several workers on one lane, each in the paths of its own unit: real processes and real git."""

from pathlib import Path
from typing import Any

import pytest
from commanding import in_process
from engine_fleet import COMMIT, DONE, EngineFleet
from patience import PATIENCE, wait_for

PLAN = """# Plan

## WORK U1: write one
- lane: work
- paths: work/one/**
- acceptance: `test -s work/one/it.py`

## WORK U2: write two
- lane: work
- paths: work/two.py
- acceptance: `test -s work/two.py`

## WORK U3: add both up
- lane: work
- acceptance: `test -s work/total.py`
"""
ONE, TWO = "work/WORK/U1", "work/WORK/U2"


def write(path: str) -> dict[str, str]:
    return {"write": path, "text": f"PATH = {path!r}\n"}


def look(fleet: EngineFleet, *words: str) -> Any:
    """What a verb says of the fleet now."""
    return in_process("--workspace", str(fleet.root), *words, "--json").json


@pytest.fixture
def fleet(tmp_path: Path):
    with EngineFleet(tmp_path, {"work": 0}) as fleet:
        settings = fleet.root / "dos.toml"
        text = settings.read_text()
        settings.write_text(text.replace('concurrent = ["work"]', 'repeatable = ["work"]'))
        (fleet.root / "docs" / "work-plan.md").write_text(PLAN)
        fleet.git("commit", "--quiet", "--all", "-m", "Share the lane")
        yield fleet


def test_two_workers_share_a_lane_and_neither_lands_what_is_the_others(fleet):
    go = fleet.home / "go"

    def wait_as(name: str) -> dict[str, str]:
        started = fleet.home / name
        return {"run": f"touch {started}; until test -e {go}; do sleep 0.02; done"}

    assert in_process("--workspace", str(fleet.root), "hooks", "git", "install").code == 0
    refusal = fleet.home / "refusal"
    stray = {"run": f"git add --all && ! git commit -m Stray 2> {refusal}"}
    fleet.play(
        {
            "WORK/U1": [[wait_as("one"), write("work/one/it.py"), COMMIT, DONE]],
            "WORK/U2": [
                [wait_as("two"), write("work/one/stray.py"), stray, DONE],
                [write("work/two.py"), COMMIT, DONE],
            ],
            "WORK/U3": [[write("work/total.py"), COMMIT, DONE]],
        }
    )
    supervisor = fleet.up("--until-idle", "--target", "3")
    wait_for(lambda: (fleet.home / "one").exists() and (fleet.home / "two").exists())
    held = look(fleet, "lease-lane", "live")
    top = look(fleet, "top", "--once")
    workers = look(fleet, "status")["workers"]
    go.touch()
    assert supervisor.wait(timeout=PATIENCE) == 0, fleet.story()

    assert {lease["lane"]: lease["tree"] for lease in held} == {
        ONE: ["work/one/**"],
        TWO: ["work/two.py"],
    }
    rows = {row["lane"]: row["state"] for row in top["rows"]}
    assert rows == {"work": "waiting", ONE: "working", TWO: "working"}
    assert {row["lane"]: row["unit"] for row in workers} == {ONE: "WORK/U1", TWO: "WORK/U2"}
    folders = [path.name for path in (fleet.home / "state").glob("dos/*/worktrees/*")]
    assert folders == ["work"], "the parts of units that landed are removed"
    kept = fleet.git("for-each-ref", "--format=%(refname)", "refs/dos/base", "refs/dos/settled")
    assert {ref.rpartition("/")[2] for ref in kept.split()} == {"work"}
    files = fleet.git("ls-tree", "-r", "--name-only", "HEAD", "work").splitlines()
    assert files == ["work/one/it.py", "work/total.py", "work/two.py"]
    refused = [fact["reason"] for fact in fleet.facts("work_measured") if fact["unit"] == "WORK/U2"]
    assert refused[0] == "no commit was made"
    assert "work/one/stray.py" in refusal.read_text()
    granted = [fact["asked"] for fact in fleet.facts("lease_granted")]
    lanes = [(lease["lane"], lease.get("part_of", "")) for lease in granted[1:]]
    assert (sorted(lanes[:2]), lanes[2:]) == (
        [(ONE, "work"), (TWO, "work")],
        [("work", "")],
    ), "the unit without paths has the whole lane, once nobody else is in it"
