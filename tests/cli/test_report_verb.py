"""`dos report`: from when on, what stands behind a landing, and where the page may be written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from commanding import Answer, git
from fleet_scenes import RUN, journal, work

from dos.journal.events import envelope
from dos.journal.events import fleet as events
from dos.journal.events.limits import Choice, DecisionRaised
from dos.report.html import HEAD

Dos = Callable[..., Answer]
STARTED = events.FleetStarted(host="h", pid=1, target=1)
STOPPED = events.FleetStopped(host="h", reason="nothing is left to do")


def landed(unit: str = "P/U1", commit: str = "c" * 40, branch: str = "main") -> events.UnitLanded:
    return events.UnitLanded(
        run_id=RUN, lane="api", unit=unit, branch=branch, base="", commit=commit
    )


def write(state: Path, *facts: envelope.Fact) -> None:
    with journal(state) as store:
        for fact in facts:
            store.record("fleet" if fact.kind.startswith("fleet_") else "run/x", fact)


def units(answer: Answer) -> list[str]:
    return [each["unit"] for each in answer.json["landed"]]


def test_nothing_to_report_is_said_and_makes_no_journal(dos: Dos, state: Path) -> None:
    answer = dos("report")
    assert (answer.code, answer.out, answer.err) == (0, "Nothing happened\n", "")
    assert dos("report", "--json").json["landed"] == []
    assert not state.exists()


def test_a_start_that_found_nothing_to_do_says_why(dos: Dos, state: Path) -> None:
    why = "1 unit left. Held by their plans: P/A1 (its plan is a draft)."
    write(state, STARTED)
    assert "No agent was started yet" in dos("report").out
    write(state, events.FleetStopped(host="h", reason=why))
    output = dos("report").out
    assert f"No agent was started: {why}" in output and "Nothing happened" not in output


def test_the_last_session_is_told_and_no_other_unless_it_was_killed(dos: Dos, state: Path) -> None:
    write(
        state,
        STARTED,
        landed("P/OLD"),
        STOPPED,
        STARTED,
        landed("P/ONE"),
        STARTED,
        landed("P/TWO"),
        STOPPED,
    )
    assert (
        units(dos("report", "--json"))
        == units(dos("report", "--since", "last", "--json"))
        == ["P/ONE", "P/TWO"]
    )
    assert "restarted 1 time" in dos("report").out


def test_without_a_start_all_that_is_written_is_told(dos: Dos, state: Path) -> None:
    write(state, landed("P/U1"))
    assert units(dos("report", "--json")) == ["P/U1"]


def test_a_position_and_a_date_say_from_when_on(dos: Dos, state: Path) -> None:
    write(state, landed("P/ONE"), landed("P/TWO"))
    assert units(dos("report", "--since", "2", "--json")) == ["P/TWO"]
    assert units(dos("report", "--since", "0", "--json")) == ["P/ONE", "P/TWO"]
    assert units(dos("report", "--since", "2026-01-01", "--json")) == ["P/ONE", "P/TWO"]
    assert units(dos("report", "--since", "9000-01-01T12:00+02:00", "--json")) == []


def test_a_time_ago_says_from_when_on(dos: Dos, state: Path) -> None:
    write(state, landed("P/ONE"))
    assert (
        units(dos("report", "--since", "8h", "--json"))
        == units(dos("report", "--since", "2d", "--json"))
        == ["P/ONE"]
    )
    assert units(dos("report", "--since", "0m", "--json")) == []


def test_a_start_after_which_nobody_worked_says_where_the_rest_is(dos: Dos, state: Path) -> None:
    write(state, STARTED, landed("P/OLD"), STOPPED, STARTED)
    assert "`dos report --since 0` shows all sessions" in dos("report").out
    assert "--since 0" not in dos("report", "--since", "0").out


@pytest.mark.parametrize(
    "since",
    ["yesterday", "3", "9" * 30, "²", "1.5", "2026-13-01", "\x1b[31m", "20260801", "-1", ""],
)
def test_a_since_that_is_none_is_refused_with_examples(dos: Dos, state: Path, since: str) -> None:
    write(state, landed(), landed())
    answer = dos("report", f"--since={since}")
    assert (answer.code, answer.out) == (2, "")
    assert "--since" in answer.err
    assert "hint:" in answer.err
    assert "\x1b" not in answer.err


def test_a_landing_is_told_with_the_verdict_of_verify_itself(
    dos: Dos, workspace: Path, state: Path
) -> None:
    (workspace / "api" / "hello.py").write_text("def hello():\n    return 'hello'\n")
    git("add", "--all", cwd=workspace)
    git("commit", "--quiet", "--message", "P U1: say hello", cwd=workspace)
    commit = git("rev-parse", "HEAD", cwd=workspace).strip()
    write(state, landed("P/U1", commit), landed("P/U2"))
    answer = dos("verify", "P", "U1", "--json").json
    first, second = dos("report", "--json").json["landed"]
    assert answer["verdict"] == "SHIPPED"
    assert {name: first["proof"][name] for name in ("tier", "tier_name", "reason")} == {
        name: answer[name] for name in ("tier", "tier_name", "reason")
    }
    assert (first["proof"]["answer"], first["proof"]["receipt"]) == ("SHIPPED", None)
    assert second["proof"]["answer"] == "NOT_SHIPPED", "the journal's word alone proves nothing"
    assert f"P/U1  {commit[:9]} on main  SHIPPED T4 live, no receipt" in dos("report").out


def test_a_branch_that_is_gone_leaves_the_proof_unknown(dos: Dos, state: Path) -> None:
    write(state, landed(branch="elsewhere"))
    answer = dos("report", "--json")
    assert answer.code == 0
    assert answer.json["landed"][0]["proof"]["answer"] == "UNKNOWN"


def test_what_waits_for_a_person_is_told_whenever_it_was_asked(dos: Dos, state: Path) -> None:
    asked = DecisionRaised(
        id="d-1", about="budget", question="Go on?", choices=[Choice(name="yes")], waits=["fleet"]
    )
    write(state, asked, STARTED)
    assert "Go on?  (dos decisions show d-1)" in dos("report").out
    assert [question["id"] for question in dos("report", "--json").json["questions"]] == ["d-1"]


def test_it_lists_the_decisions_of_dos_decisions_and_no_unit_twice(
    dos: Dos, workspace: Path, state: Path
) -> None:
    plan = "# P\n\n## P U1: one\n- lane: api\n- class: draft\n"
    (workspace / "docs" / "p-plan.md").write_text(plan)
    write(state, STARTED)
    decisions = dos("decisions", "--json").json
    assert [row["waits"] for row in decisions] == [["unit:P/U1"]]
    report = dos("report", "--json").json
    assert [row["id"] for row in report["questions"]] == [row["id"] for row in decisions]
    shown = dos("report").out
    assert shown.count("P/U1") == 2, "in the question, and in the command that shows it"
    assert "Needs attention: 1" in shown


def test_an_agent_at_work_is_part_of_it(dos: Dos, state: Path) -> None:
    with journal(state) as store:
        work(store)
    (bar,) = dos("report", "--json").json["bars"]
    assert (bar["unit"], bar["how"]) == ("P/U1", "at work")


# The page


def test_the_page_is_written_and_may_be_written_again(
    dos: Dos, workspace: Path, state: Path
) -> None:
    write(state, landed("P/U1"))
    answer = dos("report", "--html", "report.html")
    assert (answer.code, answer.out) == (0, "Report written to report.html\n")
    assert "P/U1" in (workspace / "report.html").read_text(encoding="utf-8")
    write(state, landed("P/U2"))
    assert dos("report", "--html", "report.html", "--json").json["html"] == "report.html"
    assert "P/U2" in (workspace / "report.html").read_text(encoding="utf-8")
    assert [path.name for path in workspace.iterdir() if "report" in path.name] == ["report.html"]


@pytest.mark.parametrize(
    "there", [b"", b"mine\n", b"<!doctype html>\n<p>" + HEAD.encode(), b"\xff\x00" * 10]
)
def test_a_file_that_is_not_ours_is_left_alone(dos: Dos, workspace: Path, there: bytes) -> None:
    (workspace / "mine.html").write_bytes(there)
    answer = dos("report", "--html", "mine.html")
    assert (answer.code, answer.out) == (2, "")
    assert "'mine.html' exists and is not a report of dos" in answer.err
    assert "hint:" in answer.err
    assert (workspace / "mine.html").read_bytes() == there


@pytest.mark.parametrize(
    "name", ["nowhere/report.html", "api", ".", "/dev/null", "a\0b", "x" * 300, "dangling"]
)
def test_what_cannot_be_a_page_is_refused_and_no_folder_is_made(
    dos: Dos, workspace: Path, name: str
) -> None:
    (workspace / "dangling").symlink_to("elsewhere.html")
    before = sorted(workspace.iterdir())
    answer = dos("report", "--html", name)
    assert (answer.code, answer.out) == (2, "")
    assert "hint:" in answer.err
    assert sorted(workspace.iterdir()) == before


def test_a_pipe_in_the_place_of_the_page_holds_nobody_up(dos: Dos, workspace: Path) -> None:
    os.mkfifo(workspace / "pipe")
    assert dos("report", "--html", "pipe").code == 2


def test_hostile_names_stay_on_their_line_of_a_terminal(dos: Dos, state: Path) -> None:
    write(state, landed("P/U1\n\x1b[31mLanded: 99\u202e"))
    out = dos("report").out
    assert "\x1b" not in out and "\u202e" not in out
    assert out.count("\nLanded: ") == 1
