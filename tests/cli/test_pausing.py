"""Pauses: of a lane or of the fleet, asked for and ended, as often as anybody likes."""

import pytest
from fleet_scenes import RUN, journal

from dos.journal.events.fleet import LaneFailed, RunStopped


def written(dos):
    lines = dos("journal", "tail", "0", "--stream", "fleet").lines
    return [(line["kind"], line["body"].get("lane", "")) for line in lines]


@pytest.mark.parametrize(
    ("words", "lane"), [((), None), (("api",), "api"), (("backend",), "api"), (("API",), "api")]
)
def test_a_pause_is_asked_for_once_and_ended_once(dos, workspace, words, lane):
    first, second = dos("pause", *words, "--json"), dos("pause", *words, "--json")
    assert (first.code, second.code) == (0, 0)
    assert (first.json["paused_now"], second.json["paused_now"]) == (True, False)
    assert first.json["lane"] == lane
    assert dos("resume", *words, "--json").json == {
        "resumed": True,
        "lane": lane,
        "fleet_paused": False,
    }
    assert written(dos) == [("pause_requested", lane or ""), ("pause_ended", lane or "")]
    assert dos("pause", *words, "--json").json["paused_now"]


def test_it_says_what_it_means_and_how_it_ends(dos, workspace):
    output = dos("pause", "--reason", "lunch").out
    assert (
        "the fleet is paused" in output
        and "workers finish their current work, then wait" in output
        and "`dos resume`" in output
    )
    answer = dos("top", "--json").json
    assert answer["paused"].endswith("lunch") and {row["state"] for row in answer["rows"]} == {
        "paused"
    }


def test_a_lane_that_is_not_paused_is_left_as_it_is(dos, workspace):
    dos("pause", "docs")
    answer = dos("resume", "api")
    assert (answer.code, answer.out) == (0, "lane api is not paused\n")
    assert written(dos) == [("pause_requested", "docs")]


@pytest.mark.parametrize(
    "fact",
    [
        RunStopped(
            run_id=RUN, lane="api", stop_reason="halted", needs="operator", reason="wrong plan"
        ),
        LaneFailed(lane="api", reason="its workers died"),
    ],
)
def test_a_lane_that_waits_for_a_person_goes_on_by_the_same_word(dos, state, fact):
    with journal(state) as store:
        store.record("spawn/api", fact)
    assert dos("top", "--json").json["rows"][0]["state"] in ("waiting on a person", "FATAL")
    answer = dos("resume", "api")
    assert (answer.code, answer.out) == (0, "lane api can start again\n")
    assert dos("top", "--json").json["rows"][0]["state"] == "idle"
    assert dos("resume", "api").out == "lane api is not paused\n"


def test_the_fleets_pause_outlasts_that_of_a_lane(dos, workspace):
    dos("pause")
    dos("pause", "api")
    answer = dos("resume", "api", "--json").json
    assert answer == {"resumed": True, "lane": "api", "fleet_paused": True}
    assert dos("resume").code == 0


@pytest.mark.parametrize("paused", [(), ("api",)])
def test_a_fleet_that_is_not_paused_and_no_run_is_a_mistake_that_writes_nothing(
    dos, workspace, paused
):
    for lane in paused:
        dos("pause", lane)
    before = dos("journal", "seq").out
    answer = dos("resume")
    assert answer.code == 2 and "not paused" in answer.err
    assert ("dos resume api" if paused else "--run-id") in answer.err
    assert dos("journal", "seq").out == before


def test_a_run_can_be_named_without_its_flag(dos, workspace):
    run = dos("run", "begin", "--goal", "g", "--step", "s", "--json").json["run_id"]
    assert (
        dos("resume", run, "--no-record", "--json").json
        == dos("resume", "--run-id", run, "--no-record", "--json").json
    )


@pytest.mark.parametrize(
    "words",
    [
        ("pause", "nosuch"), ("resume", "nosuch"), ("pause", "a\nb"), ("pause", ""),
        ("pause", "api", "docs"), ("resume", "api", "--diverged"), ("resume", "--no-record"),
        ("pause", "--reason", "x" * 2000), ("resume", "api", "--run-id", "RID-0MC0FFEE00000AB"),
    ],
    ids=str,
)  # fmt: skip
def test_what_means_nothing_is_an_error_and_pauses_nobody(dos, state, words):
    answer = dos(*words)
    assert (
        (answer.code, answer.out) == (2, "")
        and answer.err.startswith("error: ")
        and "hint: " in answer.err
    )
    assert not state.exists()


def test_a_broken_configuration_keeps_nobody_from_pausing(dos, workspace):
    dos("pause", "docs")
    (workspace / "dos.toml").write_text("[lanes\n")
    assert dos("pause").code == 0
    assert dos("resume").code == 0
