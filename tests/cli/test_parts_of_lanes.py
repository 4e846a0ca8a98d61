"""The lane verbs on the parts of a repeatable lane."""

from pathlib import Path
from typing import Any

import pytest
from commanding import Answer, git, in_process

from dos import run_ids
from dos.journal import streams
from dos.journal.events.fleet import LaneFailed
from dos.text import slug
from dos.world import World, open_journal

SETTINGS = """[lanes]
concurrent = ["web"]
repeatable = ["api"]
autopick = ["web"]

[lanes.trees]
api = ["src/**"]
web = ["web/**"]
"""
PLAN = """# Plan

## AUTH AUTH1: log in
- lane: api
- paths: src/login/**

## AUTH AUTH2: log out
- lane: api
- paths: src/logout.py

## AUTH AUTH3: log in again
- lane: api
- paths: src/login/again.py

## AUTH AUTH4: tidy up
- lane: api
"""
LOGIN, LOGOUT = "api/AUTH/AUTH1", "api/AUTH/AUTH2"


class Workspace:
    def __init__(self, root: Path, settings: str = SETTINGS) -> None:
        self.root = root
        (root / "docs").mkdir()
        (root / "docs" / "auth-plan.md").write_text(PLAN)
        self.set(settings)
        git("init", "--quiet", cwd=root)
        git("add", "--all", cwd=root)
        git("commit", "--quiet", "-m", "Begin", cwd=root)

    def set(self, settings: str) -> None:
        (self.root / "dos.toml").write_text(settings)

    def dos(self, *words: str) -> Answer:
        return in_process("--workspace", str(self.root), *words)

    def json(self, *words: str) -> Any:
        return self.dos(*words, "--json").json

    def acquire(self, unit: str, owner: str, *words: str) -> Answer:
        return self.dos("lease-lane", "acquire", "--unit", unit, "--owner", owner, *words)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_two_owners_take_disjoint_parts_and_the_whole_lane_waits_for_both(workspace):
    first = workspace.acquire("AUTH/AUTH1", "ann", "--lane", "api")
    second = workspace.acquire("AUTH2", "ben")
    assert (first.code, second.code) == (0, 0)
    assert (first.json["lane"], first.json["tree"]) == (LOGIN, ["src/login/**"])
    assert (second.json["lane"], second.json["tree"]) == (LOGOUT, ["src/logout.py"])
    live = workspace.json("lease-lane", "live")
    assert [(row["lane"], row["part_of"]) for row in live] == [(LOGIN, "api"), (LOGOUT, "api")]
    whole = workspace.dos("lease-lane", "acquire", "--lane", "api", "--owner", "eve")
    assert (whole.code, whole.json["reason_class"]) == (1, "REGION_OVERLAP")
    assert "cannot share live lane 'api/AUTH/AUTH1'" in whole.json["reason"]


def test_a_part_is_refused_while_one_that_it_overlaps_or_the_whole_lane_is_held(workspace):
    assert workspace.acquire("AUTH1", "ann").code == 0
    assert workspace.acquire("AUTH3", "ben").json["reason_class"] == "REGION_OVERLAP"
    assert workspace.acquire("AUTH1", "ben").json["reason_class"] == "LANE_HELD"
    release = ("lease-lane", "release", "--lane", LOGIN, "--owner", "ann")
    assert workspace.dos(*release).code == 0
    assert workspace.acquire("AUTH4", "eve").json["lane"] == "api", "it declares no paths"
    assert workspace.acquire("AUTH1", "ann").json["reason_class"] == "REGION_OVERLAP"


def test_no_more_parts_are_granted_than_a_lane_may_have_workers(workspace):
    workspace.set(SETTINGS + "\n[supervise]\nmax_concurrency = 1\n")
    assert workspace.acquire("AUTH1", "ann").code == 0
    refused = workspace.acquire("AUTH2", "ben")
    assert (refused.code, refused.json["reason_class"]) == (1, "CLASS_BUDGET_EXHAUSTED")
    most = "lane 'api' has as many parts held (1) as [supervise] max_concurrency allows"
    assert refused.json["reason"].startswith(most)
    web = workspace.dos("lease-lane", "acquire", "--lane", "web", "--owner", "ben")
    assert web.code == 0, "other lanes are not counted"


def test_a_unit_of_another_lane_or_of_no_plan_is_refused_by_name(workspace):
    other = workspace.acquire("AUTH1", "ann", "--lane", "web")
    assert other.code == 2
    assert "unit 'AUTH1' is of lane 'api', not of 'web'" in other.err
    unknown = workspace.acquire("AUTH9", "ann")
    assert unknown.code == 2
    assert "no plan declares the unit 'AUTH9'" in unknown.err
    both = workspace.acquire("AUTH1", "ann", "--tree", "src/**")
    assert both.code == 2
    assert "--unit and --tree both say which paths to take" in both.err


def test_every_lane_verb_takes_a_part_by_its_name_and_refuses_one_that_no_unit_has(workspace):
    part = ("--lane", LOGIN)
    assert workspace.dos("arbitrate", *part, "--exact").json["tree"] == ["src/login/**"]
    assert workspace.dos("lease-lane", "wait", *part, "--timeout", "0").code == 0
    assert workspace.dos("health", *part).code == 0
    inside = ("scope-gate", *part, "--file", "src/login/form.py")
    assert workspace.dos(*inside).code == 0
    assert workspace.dos("scope-gate", *part, "--file", "src/logout.py").code != 0
    assert workspace.dos("lease-lane", "spawn", *part).code == 0
    assert workspace.acquire("AUTH1", "ann").code == 0
    held = (*part, "--owner", "ann")
    assert workspace.dos("lease-lane", "heartbeat", *held).code == 0
    assert workspace.dos("lease-lane", "adopt", *part, "--owner", "ben").json["adopted"]
    mine = f"--lane={LOGIN}", "--run-id", run_ids.mint(1, 1, "mine").run_id
    assert workspace.dos("liveness", *mine).out.startswith("STALLED")
    for name in ("api/AUTH/AUTH9", "api/AUTH/AUTH4"):
        unknown = workspace.dos("lease-lane", "spawn", "--lane", name)
        assert unknown.code == 2
        assert f"there is no lane {name!r}" in unknown.err


def test_an_adopted_part_is_still_one(workspace):
    workspace.set(SETTINGS + "\n[supervise]\nmax_concurrency = 1\n")
    assert workspace.acquire("AUTH1", "ann").code == 0
    assert workspace.dos("lease-lane", "adopt", "--lane", LOGIN, "--owner", "ben").code == 0
    assert workspace.acquire("AUTH2", "eve").json["reason_class"] == "CLASS_BUDGET_EXHAUSTED"


def test_a_pause_of_the_lane_holds_its_parts_and_one_of_a_part_holds_that_alone(workspace):
    def paused() -> list[str]:
        found = []
        for row in workspace.json("status")["units"]:
            if any(waiting["on"] == "pause" for waiting in row["waiting"]):
                found.append(row["unit"])
        return found

    assert workspace.dos("pause", LOGOUT).code == 0
    assert paused() == ["AUTH/AUTH2"]
    assert workspace.dos("resume", LOGOUT).code == 0
    assert paused() == []
    assert workspace.dos("pause", "api").code == 0
    assert paused() == [f"AUTH/AUTH{number}" for number in (1, 2, 3, 4)]
    top = workspace.json("top", "--once")["rows"]
    assert {row["lane"]: row["state"] for row in top}["api"] == "paused"


def test_a_plan_of_the_fleet_shows_each_part_and_of_which_lane_it_is(workspace):
    plan = workspace.json("loop", "--target", "3")
    rows = {row["lane"]: row.get("part_of") for row in plan["evidence"]["lanes"]}
    assert rows == {
        "web": None,
        LOGIN: "api",
        LOGOUT: "api",
        "api/AUTH/AUTH3": "api",
        "api": None,
    }
    assert [row["lane"] for row in plan["spawn"]] == [LOGIN, LOGOUT]


def test_when_the_workers_of_one_part_die_the_others_wait_for_one_answer(workspace):
    failed = LaneFailed(lane=LOGIN, reason="3 workers died in a row")
    with World(workspace.root) as world, open_journal(world.workspace, "", actor="test") as store:
        store.record(streams.spawn(LOGIN), failed)
    plan = workspace.json("loop", "--target", "3")
    assert plan["spawn"] == []
    blocked = {row["lane"]: row["reason"] for row in plan["blocked"]}
    assert blocked[LOGIN] == "workers fail to start: 3 workers died in a row"
    other = "the workers of api/AUTH/AUTH1 keep dying, which shares lane api with it"
    assert blocked[LOGOUT] == blocked["api"] == f"workers fail to start: {other}"
    assert workspace.dos("resume", "api").out == "lane api can start again\n"
    assert len(workspace.json("loop", "--target", "3")["spawn"]) == 2


def test_nobody_is_placed_on_the_whole_of_a_lane_whose_units_have_parts(workspace):
    (workspace.root / "docs" / "auth-plan.md").write_text(PLAN.partition("## AUTH AUTH4")[0])
    plan = workspace.json("loop", "--target", "9")
    assert [row["lane"] for row in plan["spawn"]] == [LOGIN, LOGOUT]
    blocked = {row["lane"]: row["reason"] for row in plan["blocked"]}
    assert blocked["api"] == "its units are worked on in parts of it"
    assert blocked["web"] == "no unit is left"


def test_the_doctor_removes_what_is_left_of_parts_without_a_unit_and_of_no_other(workspace):
    head = git("rev-parse", "HEAD", cwd=workspace.root).strip()
    for part in (LOGIN, "api/AUTH/AUTH9", "web/AUTH/AUTH1"):
        git("update-ref", f"refs/dos/base/{slug(part)}", head, cwd=workspace.root)
    found = workspace.json("doctor")["findings"]
    retired = [row["what"] for row in found if row["kind"] == "RETIRED_LANE"]
    assert len(retired) == 2
    assert not any(slug(LOGIN) in what for what in retired)


def test_a_packet_lets_each_agent_change_the_paths_of_its_unit(workspace):
    picks = workspace.json("packet", "--scope", "api", "--limit", "4")["picks"]
    paths = {pick["phase_id"]: pick["reserve_paths"] for pick in picks}
    assert paths["AUTH1"] == ["src/login/**"]
    assert paths["AUTH4"] == ["src/**"]


def test_the_manual_says_that_several_workers_share_the_lane(workspace):
    page = workspace.dos("man", "lane", "api").out
    assert "repeatable" in page
    assert "several workers share it, each in the paths of one unit" in page
