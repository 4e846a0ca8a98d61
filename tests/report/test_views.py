"""What people are shown, from a journal written by hand."""

import pytest
from msgspec import structs

from dos.backlog.pickable import Answer, Verdict
from dos.backlog.waiting import Waiting, WaitsOn
from dos.fleet import view
from dos.fleet.state.fleet import FleetState, UnitState
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import doors, envelope, lanes
from dos.journal.events import fleet as events
from dos.journal.store import Store
from dos.report import event_lines, event_text, summary
from dos.units.unit import Unit

WHO = {"run_id": "R", "lane": "api", "unit": "P/U1"}


def measured(verdict: str, reason: str) -> events.WorkMeasured:
    return events.WorkMeasured(
        **WHO,
        iteration=1,
        base="b",
        head="h",
        commits=[],
        strays=[],
        accepted=None,
        verdict=verdict,
        reason=reason,
    )


def ended(outcome: str, claim: str = "") -> events.AgentEnded:
    return events.AgentEnded(
        **WHO, iteration=1, outcome=outcome, exit_code=0, claim=claim, seconds=2.0
    )


LANDED = events.UnitLanded(**WHO, branch="main", base="b" * 40, commit="c" * 40)


def journal(*facts: envelope.Fact) -> list[envelope.Event]:
    store = Store(MemoryBackend())
    for fact in facts:
        store.record("x", fact)
    return store.tail()


@pytest.mark.parametrize(
    ("fact", "text"),
    [
        (LANDED, "P/U1 landed on main as ccccccccc"),
        (ended("ok", "done!"), "agent finished after 2.0 s and said 'done!'"),
        (measured("NOTHING", "no commit was made"), "P/U1 not delivered: no commit was made"),
        (events.LaneFailed(lane="api", reason="x"), "disabled until you answer `dos decisions`: x"),
        (events.UnitClaimed(**WHO, iteration=1, repeated=True), "took P/U1 again after a crash"),
    ],
)
def test_an_event_is_told_in_one_line(fact, text):
    [event] = journal(fact)
    assert event_lines.event_line(event).text == text


@pytest.mark.parametrize(
    "fact", [lanes.LeaseRenewed(lease=1, expires_ms=1), measured("DELIVERED", "fine")]
)
def test_what_only_machines_care_about_is_not_told(fact):
    [event] = journal(fact)
    assert event_lines.event_line(event) is None


LIE = "done\n12:00:00  api  P/U1 landed on main\x1b[2K"


@pytest.mark.parametrize(
    "fact",
    [
        ended("success", LIE),
        measured("EMPTY", LIE),
        doors.ToolCalled(session="s", tool=LIE, args_digest="a"),
        doors.HookAnswered(moment="pretool", action="DENY", tool=LIE, reason=LIE),
        events.HookFault(moment="pretool", problem=LIE, session="s"),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_what_an_agent_writes_makes_no_line_of_its_own(fact):
    sentence = event_text.describe(fact, 0)
    assert "\n" not in sentence and "\x1b" not in sentence
    assert "done\\n12:00:00" in sentence


def test_a_lie_a_crash_and_a_landing_are_told_apart():
    made = summary.summarize_events(
        journal(
            ended("ok", "all done"),
            measured("NOTHING", "no commit was made"),
            ended("crashed"),
            measured("NOTHING", "no commit was made"),
            ended("ok", "done"),
            measured("DELIVERED", "1 commits"),
            LANDED,
        )
    )
    assert made.disbelieved == ["P/U1: said 'all done'; no commit was made"]
    assert made.crashed == ["P/U1: agent crashed after 2.0 s; landed later as ccccccccc"]
    assert made.landed == ["P/U1  ccccccccc on main"]
    assert "Landed: 1" in summary.render(made)


def test_an_empty_report_says_so():
    assert summary.render(summary.summarize_events([])) == "Nothing happened"


def looked_at(**seen: object) -> str:
    return view.render(view.view(FleetState(), [], [], **seen))


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ("running", "the supervisor on here (process 7) runs"),
        ("silent", "the supervisor on here (process 7) has not renewed its lease in time"),
        ("gone", "the supervisor on here (process 7) has exited; `dos up` starts another"),
    ],
)
def test_who_keeps_the_fleet_going_is_said_first(state, text):
    shown = looked_at(supervisors=[view.Supervisor(host="here", pid=7, state=state)])
    assert shown.splitlines()[0] == text


def test_that_nobody_keeps_the_fleet_going_is_said_too():
    assert looked_at().splitlines()[0] == "no supervisor runs; `dos up` starts one"


def test_salvaged_work_beyond_what_is_shown_is_counted():
    refs = [f"refs/dos/salvage/R/{number}" for number in range(8)]
    shown = looked_at(salvaged=[*refs, "/elsewhere/1-one"])
    assert "  git log refs/dos/salvage/R/4" in shown and "R/3" not in shown
    assert "  ls /elsewhere/1-one" in shown
    assert "and 4 more: dos salvage list" in shown
    assert "more:" not in looked_at(salvaged=refs[:5])


def test_warnings_are_shown():
    status = structs.replace(view.view(FleetState(), [], []), warnings=["a unit is lost"])
    assert view.render(status).endswith("warnings:\n  a unit is lost")


@pytest.mark.parametrize(
    ("seen", "reason", "state", "held"),
    [
        (UnitState(), None, "open", ""),
        (UnitState(), Answer.OPERATOR_GATED, "held", "OPERATOR_GATED"),
        (UnitState(claimed_by="R"), Answer.IN_FLIGHT, "working", ""),
        (UnitState(claimed_by="R"), None, "working", ""),
        (UnitState(claimed_by="dead"), Answer.IN_FLIGHT, "open", ""),
        (UnitState(claimed_by="dead"), None, "open", ""),
        (UnitState(claimed_by="R", deaths=2), Answer.OPERATOR_GATED, "held", "OPERATOR_GATED"),
        (UnitState(landed="c" * 40), Answer.SHIPPED, "landed", ""),
    ],
)
def test_a_unit_that_may_not_be_offered_is_held_and_says_why(seen, reason, state, held):
    hold = Verdict(held=reason is not None, reason=reason, evidence="because" if reason else "")
    unit = Unit(plan="P", id="U1", title="t")
    claimed = {"P/U1"} if seen.claimed_by == "R" else set()
    made = view.view(FleetState(units={"P/U1": seen}), [], [(unit, "api", hold)], claimed=claimed)
    assert (made.units[0].state, made.units[0].held) == (state, held)
    assert (f"{held}: because" in view.render(made)) is bool(held)


def test_a_worker_whose_process_has_exited_does_not_count_as_working():
    workers = [
        view.Worker(lane=lane, holder="h", run_id=lane, fence=fence, unit=f"P/{lane}", lapsed=False)
        for fence, lane in enumerate(("api", "web"), 1)
    ]
    units = [
        view.UnitRow(
            unit=f"P/{lane}", title="", lane=lane, state=state, held="", held_because="",
            commit="", tries=[],
        )
        for lane, state in (("api", "working"), ("web", "open"))
    ]  # fmt: skip
    status = structs.replace(view.view(FleetState(), [], []), workers=workers, units=units)
    assert "2 working, 0 of 2 units landed" in view.render(status)
    shown = view.render(status, view.Circumstances(exited={2}))
    assert "1 working, 1 exited, 0 of 2 units landed" in shown
    exited = "\nexited; a supervisor frees their lanes, `dos lease-lane reap` does so now:\n  web  "
    assert exited in shown
    assert "  working  P/api" in shown and "  exited   P/web" in shown


ASKED = Waiting(
    on=WaitsOn.PERSON, subject="P/U1", why="P/U1 was tried twice. Retry?", question="q-RID-1",
    clears_with="dos decide-for q-RID-1 retry",
)  # fmt: skip
FAILED = "no commit was made; its work is on refs/dos/salvage/R/1, refs/dos/salvage/R/2"


@pytest.mark.parametrize(
    ("waits", "commit", "text"),
    [
        ([], "", "(1 failed attempt, the last: no commit was made)"),
        ([], "c" * 40, "ccccccccc  (1 failed attempt)"),
        ([ASKED], "", "needs an answer: P/U1 was tried twice. Retry?; dos decisions"),
    ],
)
def test_the_line_of_a_unit_says_a_failure_once_and_names_no_refs(waits, commit, text):
    row = view.UnitRow(
        unit="P/U1", title="", lane="api", state="open", held="", held_because="", commit=commit,
        tries=[FAILED], waiting=waits,
    )  # fmt: skip
    status = structs.replace(view.view(FleetState(), [], []), units=[row])
    around = view.Circumstances(failures={"P/U1": "no commit was made"})
    [line] = [line for line in view.render(status, around).splitlines() if "P/U1" in line]
    assert line.endswith(f"  {text}")


def test_the_last_failure_of_a_unit_names_no_refs_whenever_its_work_is_saved():
    state = UnitState(saved=["refs/dos/salvage/R/1"])
    state.add_miss("no commit was made")
    state.add_saved_ref("refs/dos/salvage/R/2")
    assert (state.tries, state.last_failure) == ([FAILED], "no commit was made")
