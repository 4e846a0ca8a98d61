"""The fleet as a person watches it: once, as data, and on a terminal while it goes on."""

import pytest
from commanding import in_its_own_process
from fleet_scenes import RUN, hold, journal, log, stopped, work
from screens import Screen

from dos.journal import streams
from dos.journal.events import fleet as events
from dos.machine import process

LANDED = events.UnitLanded(
    run_id=RUN, lane="api", unit="P/U1", branch="main", base="b", commit="c" * 40
)


@pytest.fixture
def fleet(state):
    with journal(state) as store:
        hold(store, streams.supervisor(process.host()), is_lock=True)
        work(store)
        log(state, "api", "hello\n")
        yield store


def test_it_is_shown_once_where_nobody_looks(dos, fleet, monkeypatch):
    monkeypatch.setenv("COLUMNS", "140")
    answer = dos("top")
    assert answer.code == 0
    [row] = [line for line in answer.out.splitlines() if line.startswith("api ")]
    assert "working" in row and "P/U1" in row and "command" in row
    assert f"supervisor on {process.host()}" in answer.out and "\x1b" not in answer.out


def test_as_data(dos, fleet):
    fleet.record(streams.run(RUN), LANDED)
    answer = dos("top", "--json").json
    assert [(row["lane"], row["state"]) for row in answer["rows"]] == [
        ("api", "working"), ("docs", "idle"), ("worker", "idle"), ("global", "idle")
    ]  # fmt: skip
    [api, *_] = answer["rows"]
    assert (api["run_id"], api["unit"], api["agent"], api["landed"]) == (RUN, "P/U1", "command", 1)
    assert answer["totals"]["workers"] == 1 and answer["totals"]["states"] == {
        "working": 1,
        "idle": 3,
    }
    assert answer["supervisors"][0]["state"] == "running"


def test_without_a_fleet_it_says_how_to_start_one_and_makes_nothing(dos, state):
    answer = dos("top")
    assert answer.code == 0 and "`dos up` starts one" in answer.out
    assert not state.exists()


def test_a_configuration_with_errors_hides_nobody(dos, fleet, workspace):
    (workspace / "dos.toml").write_text("[lanes\n")
    answer = dos("top", "--json")
    assert answer.code == 0 and answer.err.startswith("warning: ")
    assert [row["lane"] for row in answer.json["rows"]] == ["api"]


@pytest.mark.parametrize("columns", ["60", "80", "133"])
def test_it_keeps_to_the_width_that_it_is_given(workspace, fleet, columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    answer = in_its_own_process("top", cwd=workspace)
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= int(columns)


def test_a_terminal_that_speaks_no_utf8_gets_ascii(workspace, fleet, monkeypatch):
    fleet.record("spawn/api", events.LaneFailed(lane="docs", reason="ünlucky " * 40))
    for name, value in {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONIOENCODING": "ascii",
        "COLUMNS": "70",
    }.items():
        monkeypatch.setenv(name, value)
    answer = in_its_own_process("top", cwd=workspace)
    assert answer.code == 0 and answer.out.isascii()
    assert max(map(len, answer.out.splitlines())) <= 70


def test_on_a_terminal_it_follows_what_happens_and_q_leaves(workspace, tmp_path, fleet):
    with Screen(workspace, tmp_path / "tmux", "top") as screen:
        lines = screen.shows("P/U1")
        assert any(line.startswith("api ") and "working" in line for line in lines)
        fleet.record(streams.run(RUN), LANDED)
        screen.shows("last landed:")
        screen.resize(61, 8)
        screen.shows("STATE")
        assert all(len(line) <= 61 for line in screen.lines())
        assert any(line.startswith("api ") for line in screen.shows("api "))
        screen.press("q")
        lines = screen.shows("left with 0")
        screen.shows("icanon")
        assert not any("-icanon" in line or "-echo " in line for line in screen.lines()), (
            "the terminal is as it was"
        )
        assert not any(line.startswith("api ") for line in lines), "the page is gone"


def test_ctrl_c_leaves_as_well(workspace, tmp_path, fleet):
    with Screen(workspace, tmp_path / "tmux", "top") as screen:
        screen.shows("P/U1")
        screen.press("C-c")
        screen.shows("left with 0")


def test_a_fleet_that_begins_later_appears(workspace, tmp_path, state):
    with Screen(workspace, tmp_path / "tmux", "top") as screen:
        screen.shows("`dos up` starts one")
        with journal(state) as store:
            work(store)
            screen.shows("P/U1")
            store.record(streams.run(RUN), stopped())
            store.release(store.leases()[0].fence)
            screen.shows("halted: a person said so")
        screen.press("q")
        screen.shows("left with 0")


WATCHED = """
import sys, time
from dos.verbs.context import Context
from dos.cli.terminal import up_display
from dos.verbs.output import print_stderr

context = Context()
assert up_display.footer_wanted(context)
with up_display.Footer(context):
    for number in range(60):
        context.print_line(f"story {number}")
        time.sleep(0.05 if number % 10 else 0)
    print_stderr("said on stderr")
    time.sleep(2)
print("the report")
"""


def test_a_story_goes_by_above_the_fleet(workspace, tmp_path, fleet):
    script = tmp_path / "watched.py"
    script.write_text(WATCHED)
    with Screen(workspace, tmp_path / "tmux", program=[str(script)], height=20) as screen:
        screen.shows("P/U1")
        lines = screen.shows("said on stderr")
        story = [number for number, line in enumerate(lines) if line.startswith("story ")]
        table = [number for number, line in enumerate(lines) if line.startswith("api ")]
        assert story and len(table) == 1 and max(story) < table[0], lines
        screen.shows("the report")
        told = screen.history()
        assert [line for line in told if line.startswith("story ")] == [
            f"story {number}" for number in range(60)
        ]
        assert len([line for line in told if line.startswith("api ")]) == 1, (
            "the last table stays, and no other"
        )
