"""What whoever watches a fleet sees of each lane, from a journal written by hand; and that it fits
any terminal."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs, to_builtins
from rich.cells import cell_len

from dos.agents.adapter import Usage
from dos.backlog.waiting import Waiting, Waits, WaitsOn
from dos.cli.terminal.top_page import plain_text, render_page, short_span
from dos.config.schema import Config
from dos.fleet import waits
from dos.fleet.observation import Observation
from dos.fleet.state.live import HOUR_MS, LiveState
from dos.fleet.worker_health import LaneHolders
from dos.journal import fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import envelope
from dos.journal.events import fleet as events
from dos.journal.events import limits as engine
from dos.journal.store import Store
from dos.lanes.policy import Lanes
from dos.lease import Lease, Request
from dos.machine import process
from dos.regions import region
from dos.report import top, top_builder
from dos.report.io.snapshot import SnapshotReader
from dos.report.top import HeldLease, LaneState
from dos.report.top import Snapshot as Looked
from dos.testing.simulator.supervisor_effects import NO_WORK
from dos.text import escape_invisible, slug
from dos.times import utc_datetime

CONFIG = Config(lanes=Lanes(concurrent=("api",), trees={"api": ("api/**",)}))
RUN = "RID-0MC0FFEE00000AB"
WHO = {"run_id": RUN, "lane": "api"}
AT = {**WHO, "unit": "P/U1", "iteration": 1}
BEGUN = events.RunBegun(**WHO, host="h", start_sha="")
CLAIMED = events.UnitClaimed(**AT)
STARTED = events.AgentStarted(**AT, agent="codex", base="b")
LANDED = events.UnitLanded(**WHO, unit="P/U1", branch="main", base="b", commit="c" * 40)
AT_WORK = (BEGUN, CLAIMED, STARTED)
FAR_MS = 4_000_000_000_000


def ended(outcome: str = "ok", **told) -> events.AgentEnded:
    return events.AgentEnded(**AT, outcome=outcome, exit_code=0, claim="", seconds=1.0, **told)


def measured(verdict: str) -> events.WorkMeasured:
    return events.WorkMeasured(
        **AT,
        base="b",
        head="h",
        commits=[],
        strays=[],
        accepted=None,
        verdict=verdict,
        reason="no commit",
    )


def parked(why: str) -> engine.RunParked:
    return engine.RunParked(**WHO, why=why, detail="because", until_ms=FAR_MS)


def asked(lane: str, run_id: str = RUN, **changed) -> Request:
    me = process.identify(os.getpid())
    request = Request(
        lane=lane, holder="h:1", host=process.host(), ttl_ms=60_000, region=region([f"{lane}/**"]),
        run_id=run_id, pid=me.pid, pid_started=me.started, system=process.system(),
    )  # fmt: skip
    return structs.replace(request, **changed)


class Place:
    """A journal in memory, and a place for logs."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self.store = Store(MemoryBackend())
        self.watcher = SnapshotReader(self.store, state, roster=["api"], silent_after_ms=60_000)

    def hold(self, lane: str = "api", run_id: str = RUN, **changed) -> Lease:
        taken = self.store.acquire(asked(lane, run_id, **changed), lambda request, live: None)
        assert isinstance(taken, Lease)
        return taken

    def write(self, *facts: envelope.Fact) -> None:
        for fact in facts:
            self.store.record("s", fact)

    def log(self, age_seconds: float, lane: str = "api") -> None:
        folder = self.state / "logs" / slug(lane)
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{RUN}-1.1.log"
        path.touch()
        at = self.store.now_ms() / 1000 - age_seconds
        os.utime(path, (at, at))

    def view(self) -> top.TopView:
        looked = self.watcher.read()
        return top_builder.build_view(looked, self.waits(looked))

    def waits(self, looked: Looked) -> dict[str, Waits]:
        """No plan declares anything, so the lane may have work."""
        running = looked.watching.runs.items()
        observation = Observation(
            config=CONFIG,
            state=looked.fleet,
            on_target=looked.fleet,
            units=(),
            answers=looked.decisions,
            leases={held.lease.lane: held.lease for held in looked.held if not held.lapsed},
            backlogs=dict.fromkeys(looked.roster, NO_WORK),
            now_ms=looked.now_ms,
            is_gone=process.holder_has_exited,
            holders=LaneHolders(
                launched={lane: 1 for lane, starts in looked.fleet.starts.items() if starts.pending}
            ),
            pauses=looked.watching.pauses,
            parked={
                run_id: parked for run_id, run in running if (parked := run.parked or run.provider)
            },
            has_no_plans=True,
        )
        return waits.own_waits(observation).lanes

    def row(self, lane: str = "api") -> top.LaneRow:
        return next(row for row in self.view().rows if row.lane == lane)


@pytest.fixture
def workspace(tmp_path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("facts", "state", "waits_for"),
    [
        ((), LaneState.STARTING, ""),
        ((BEGUN,), LaneState.WORKING, ""),
        (AT_WORK, LaneState.WORKING, ""),
        ((*AT_WORK, ended(), LANDED), LaneState.WORKING, ""),
        ((*AT_WORK, ended("usage_window"), parked("quota")), LaneState.QUOTA, "because"),
        (
            (*AT_WORK, engine.AgentWaiting(**WHO, unit="P/U1", ending="overloaded")),
            LaneState.QUOTA,
            "overloaded",
        ),
        (
            (
                *AT_WORK,
                engine.AgentWaiting(**WHO, unit="U", ending="transient"),
                engine.AgentWentOn(**WHO, unit="U"),
            ),
            LaneState.WORKING,
            "",
        ),
        ((BEGUN, parked("decision")), LaneState.PERSON, "because"),
        ((BEGUN, parked("budget")), LaneState.PERSON, "because"),
        ((BEGUN, parked("pause")), LaneState.PAUSED, "because"),
        ((BEGUN, parked("back-off")), LaneState.RESTING, "because"),
        ((BEGUN, parked("landing")), LaneState.RESTING, "because"),
        ((BEGUN, parked("something newer")), LaneState.RESTING, "because"),
        ((BEGUN, parked("quota"), engine.RunUnparked(**WHO)), LaneState.WORKING, ""),
        (
            (*AT_WORK, engine.SpinFlagged(**WHO, lease=1, reason="nothing lands")),
            LaneState.SPINNING,
            "nothing lands",
        ),
        (
            (*AT_WORK, engine.SpinFlagged(**WHO, lease=1, reason="nothing lands"), LANDED),
            LaneState.WORKING,
            "",
        ),
        ((*AT_WORK, engine.PauseRequested(lane="api")), LaneState.WORKING, "pauses after this"),
        ((*AT_WORK, engine.PauseRequested()), LaneState.WORKING, "pauses after this"),
        ((*AT_WORK, engine.HaltRequested(run_id=RUN)), LaneState.WORKING, "halts now"),
    ],
)
def test_a_lane_that_a_worker_has(workspace, facts, state, waits_for):
    workspace.hold()
    workspace.write(*facts)
    row = workspace.row()
    assert (row.state, row.waits_for, row.run_id) == (state, waits_for, RUN)
    if row.waits_for == "because":
        assert row.until == utc_datetime(FAR_MS)


def test_a_worker_that_waits_for_its_turn_to_land_says_so(workspace):
    workspace.hold()
    workspace.write(BEGUN, parked("landing"))
    assert [wait.on for wait in workspace.row().waiting] == [WaitsOn.LANDING]


SPAWNED = events.SpawnIntended(lane="api", run_id=RUN, host="h")


def test_a_worker_that_died_on_its_way_is_not_awaited(workspace):
    here = process.system()
    spawned = events.SpawnIntended(lane="api", run_id=RUN, host="h", system=here)
    came = events.WorkerSpawned(
        lane="api", run_id=RUN, host="h", pid=2**22 + 1, pid_started=1.0, system=here
    )
    workspace.write(spawned, came)
    assert top_builder.build_view(workspace.watcher.read()).rows[0].state is not LaneState.STARTING


def stopped(needs: str, why: str = "drain") -> events.RunStopped:
    return events.RunStopped(**WHO, stop_reason=why, needs=needs, reason="no unit is left")


def question(*waits: str) -> engine.DecisionRaised:
    return engine.DecisionRaised(
        id="d1", about="x", question="Again?", choices=[], waits=list(waits)
    )


@pytest.mark.parametrize(
    ("facts", "state", "waits_for"),
    [
        ((), LaneState.IDLE, ""),
        ((SPAWNED,), LaneState.STARTING, ""),
        ((events.LaneFailed(lane="api", reason="they die"),), LaneState.FATAL, "they die"),
        (
            (events.LaneFailed(lane="api", reason="they die"), engine.LaneCleared(lane="api")),
            LaneState.IDLE,
            "",
        ),
        ((engine.PauseRequested(by="me", reason="lunch"),), LaneState.PAUSED, "by me: lunch"),
        ((engine.PauseRequested(lane="API", reason="lunch"),), LaneState.PAUSED, "lunch"),
        ((engine.PauseRequested(lane="docs"), engine.PauseEnded(lane="docs")), LaneState.IDLE, ""),
        ((BEGUN, stopped("nobody", "complete")), LaneState.IDLE, "complete: no unit is left"),
        (
            (BEGUN, stopped("nobody")),
            LaneState.RESTING,
            "its last run stopped: no unit left to offer",
        ),
        (
            (BEGUN, stopped("time")),
            LaneState.RESTING,
            "its last run stopped: no unit left to offer",
        ),
        (
            (BEGUN, stopped("operator", "thrashing")),
            LaneState.PERSON,
            "its last run stopped: thrashing, no unit is left",
        ),
        (
            (BEGUN, stopped("operator", "decision-needed")),
            LaneState.RESTING,
            "its last run stopped: decision needed",
        ),
        (
            (BEGUN, stopped("environment", "launch-failed")),
            LaneState.PERSON,
            "its last run stopped: agent did not start, no unit is left",
        ),
        (
            (BEGUN, stopped("operator"), events.FleetStarted(host="h", pid=1, target=1)),
            LaneState.IDLE,
            "",
        ),
        ((question("lane:api"),), LaneState.PERSON, "Again?"),
        ((question("fleet"),), LaneState.PERSON, "Again?"),
        ((question("lane:docs"),), LaneState.IDLE, ""),
        (
            (question("lane:api"), engine.DecisionAnswered(id="d1", choice="yes")),
            LaneState.IDLE,
            "",
        ),
    ],
)
def test_a_lane_that_nobody_has(workspace, facts, state, waits_for):
    workspace.write(*facts)
    row = workspace.row()
    assert (row.state, row.waits_for) == (state, waits_for)


def test_a_silent_agent_is_told_from_a_busy_one_by_its_log(workspace):
    workspace.hold()
    workspace.write(*AT_WORK)
    old = workspace.store.now_ms() + 200_000

    def state(age_seconds: float) -> LaneState:
        workspace.log(age_seconds)
        seen = structs.replace(workspace.watcher.read(), now_ms=old)
        return top_builder.build_view(seen).rows[0].state

    assert state(-180) is LaneState.WORKING
    assert state(-130) is LaneState.SILENT
    workspace.write(ended())
    assert state(-130) is LaneState.WORKING, "no agent runs that could say anything"


def test_a_log_of_the_agent_before_does_not_make_this_one_silent(workspace):
    workspace.hold()
    workspace.write(*AT_WORK)
    workspace.log(500)
    assert workspace.row().state is LaneState.WORKING


def test_a_worker_that_is_gone_or_late_is_silent(workspace):
    workspace.hold()
    workspace.write(*AT_WORK)
    seen = workspace.watcher.read()
    [held] = seen.held
    for changed, why in (
        (HeldLease(lease=held.lease, lapsed=False, gone=True), "its process is gone"),
        (HeldLease(lease=held.lease, lapsed=True, gone=False), "its lease is over"),
    ):
        row = top_builder.build_view(structs.replace(seen, held=[changed])).rows[0]
        assert (row.state, row.waits_for, row.unit) == (LaneState.SILENT, why, "P/U1")


def test_a_lane_that_a_person_has_is_held(workspace):
    workspace.hold(run_id="", holder="me")
    assert (workspace.row().state, workspace.row().waits_for) == (LaneState.HELD, "me holds it")


def test_a_row_says_who_is_at_what_since_when(workspace):
    lease = workspace.hold()
    workspace.write(*AT_WORK)
    row = workspace.row()
    assert (row.unit, row.agent, row.iteration, row.host) == ("P/U1", "codex", 1, lease.host)
    assert row.since is not None and row.last_activity is not None


def test_what_it_came_to_is_counted_by_lane(workspace):
    workspace.hold()
    workspace.write(
        *AT_WORK,
        ended(cost_usd=0.5, usage=[Usage(input_tokens=10, output_tokens=5)]),
        LANDED,
        ended(usage=[Usage(cached_tokens=100, cost_usd=0.25)]),
        measured("EMPTY"),
        ended("launch_failed"),
        events.LandingRefused(**WHO, unit="P/U1", reason="conflict"),
        ended(),
    )
    row = workspace.row()
    assert (row.landed, row.rejected) == (1, 2)
    assert row.spend == top.Spend(usd=0.75, unpriced=1, tokens=115)
    assert workspace.view().totals.spend == row.spend


@pytest.mark.parametrize("ending", ["usage_window", "overloaded", "transient"])
def test_that_a_provider_had_no_room_is_no_rejection(workspace, ending):
    workspace.hold()
    workspace.write(*AT_WORK, ended(ending), measured("EMPTY"))
    assert workspace.row().rejected == 0


def test_that_a_person_ended_it_is_no_rejection(workspace):
    workspace.hold()
    workspace.write(*AT_WORK, engine.HaltRequested(run_id=RUN), ended("killed"), measured("EMPTY"))
    assert workspace.row().rejected == 0


def test_what_is_older_than_a_day_is_not_counted(workspace):
    workspace.write(*AT_WORK, LANDED)
    seen = workspace.watcher.read()
    later = structs.replace(seen, now_ms=seen.now_ms + 24 * HOUR_MS)
    assert (
        top_builder.build_view(seen).totals.landed,
        top_builder.build_view(later).totals.landed,
    ) == (
        1,
        0,
    )


def test_the_whole_fleet(workspace):
    workspace.hold("supervisor/h", "", is_lock=True, host="h")
    workspace.write(
        LANDED,
        question("lane:docs"),
        engine.LimitHit(vendor="v", account="a", ending="usage_window", resets_at_ms=FAR_MS),
        engine.LimitHit(vendor="w", account="a", ending="overloaded"),
        engine.LimitLifted(vendor="w", account="a"),
        engine.PauseRequested(by="me", reason="lunch"),
    )
    view = workspace.view()
    assert [supervisor.state for supervisor in view.supervisors] == ["running"]
    assert (view.decisions.open, view.decisions.first_question) == (1, "Again?")
    assert [(limit.vendor, limit.resets_at) for limit in view.limits] == [
        ("v", utc_datetime(FAR_MS))
    ]
    (landing,) = top.to_json(view)["landings"]
    assert landing == {"unit": "P/U1", "lane": "api", "commit": "c" * 40, "at": landing["at"]}
    assert view.paused == "by me: lunch"
    workspace.write(events.DrainRequested())
    assert [supervisor.state for supervisor in workspace.view().supervisors] == ["draining"]


def test_lanes_stand_in_the_order_of_the_roster_and_each_once(workspace):
    workspace.hold("zebra")
    workspace.write(events.LaneFailed(lane="mule", reason="x"), engine.PauseRequested(lane="API"))
    assert [row.lane for row in workspace.view().rows] == ["api", "zebra", "mule"]


def test_each_look_takes_in_only_what_is_new(workspace, monkeypatch):
    workspace.write(*AT_WORK)
    workspace.view()
    seen = []
    monkeypatch.setattr(LiveState, "apply", lambda self, event: seen.append(event.pos))
    workspace.view()
    assert seen == []
    workspace.write(LANDED)
    workspace.view()
    assert seen == [workspace.store.last()]


FACTS = st.sampled_from(
    [
        *AT_WORK, ended(), ended("overloaded"), measured("EMPTY"), LANDED, parked("quota"),
        engine.RunUnparked(**WHO), stopped("time"), engine.PauseRequested(), engine.PauseEnded(),
        engine.HaltRequested(run_id=RUN), engine.SpinFlagged(**WHO, lease=1, reason="x"), SPAWNED,
        events.LaneFailed(lane="api", reason="they die"),
        events.WorkerReaped(**WHO, lease=1, reason="gone"), question("lane:api"),
        events.UnitClaimed(**AT),
    ]
)  # fmt: skip


@given(history=st.lists(FACTS, max_size=30), cut=st.integers(0, 30))
def test_folding_in_two_parts_over_a_snapshot_is_folding_at_once(history, cut):
    store = Store(MemoryBackend())
    for fact in history:
        store.record("s", fact)
    happened = list(store.events())
    first = fold.decode(LiveState, fold.encode(fold.fold(LiveState(), happened[:cut])))
    assert fold.fold(first, happened[cut:]) == fold.fold(LiveState(), happened)


NAMES = st.text(min_size=1, max_size=40)


@given(
    history=st.lists(FACTS, max_size=12),
    lanes=st.lists(NAMES, max_size=12),
    width=st.integers(60, 200),
    height=st.integers(1, 40),
)
def test_a_page_fits_any_terminal_and_holds_nothing_that_acts_on_one(history, lanes, width, height):
    store = Store(MemoryBackend())
    for fact in history:
        store.record("s", fact)
    view = top_builder.build_view(
        SnapshotReader(store, Path("nowhere"), roster=["api", *lanes]).read()
    )
    whole, cut = render_page(view, width), render_page(view, width, height)
    assert len(cut) <= height
    for line in [*whole, *cut]:
        assert cell_len(line.plain) <= width
        assert escape_invisible(line.plain) == line.plain and not set(line.plain) & set("\n\t")
    to_builtins(view)


def test_what_does_not_fit_into_a_row_is_below_it_where_there_is_room(workspace):
    reason = "its workers keep dying, and nobody can say why " * 3
    workspace.write(events.LaneFailed(lane="api", reason=f"{reason}at last"))
    roomy = plain_text(render_page(workspace.view(), 80, 24)).splitlines()
    tight = plain_text(render_page(workspace.view(), 80, 6)).splitlines()
    row = next(number for number, line in enumerate(roomy) if line.startswith("api"))
    below = roomy[row + 1]
    assert below.startswith("      ") and below.strip()
    assert all(len(line) <= 80 for line in roomy)
    assert not any(line.startswith("      ") for line in tight)
    assert len(tight) <= 6


@pytest.mark.parametrize(
    ("spend", "text"),
    [
        ({"usd": 1.5, "tokens": 2_000}, "$1.50, 2.0k tokens"),
        ({"usd": 1.5, "tokens": 2_000, "unpriced": 1}, "$1.50, cost of 1 agent run unknown, 2.0k"),
        ({"unpriced": 9}, "cost and tokens of 9 agent runs unknown"),
        ({}, "$0.00, 0 tokens"),
    ],
)
def test_a_cost_that_is_not_known_is_not_shown_as_zero(workspace, spend, text):
    view = workspace.view()
    totals = structs.replace(view.totals, spend=top.Spend(**spend))
    page = plain_text(render_page(structs.replace(view, totals=totals), 120))
    assert f"last 24 hours: 0 landed, 0 rejected, {text}" in page


@pytest.mark.parametrize(
    ("waiting", "state", "text"),
    [
        (
            Waiting(on=WaitsOn.COOLDOWN, subject="api", why="3 attempts"),
            "waiting",
            "on cooldown: 3",
        ),
        (Waiting(on=WaitsOn.HOST_FULL, subject="api"), "waiting", "no free worker"),
        (Waiting(on=WaitsOn.LIMIT, subject="api", why="acme is limited"), "limited", "acme is"),
    ],
)
@pytest.mark.parametrize("width", [80, 140])
def test_the_page_says_in_words_what_a_lane_waits_for(workspace, waiting, state, text, width):
    view = top_builder.build_view(workspace.watcher.read(), {"api": (waiting,)})
    page = plain_text(render_page(view, width))
    [row] = [line for line in page.splitlines() if line.startswith("api")]
    assert row.split()[1] == state and text in row and row.count(text) == 1
    assert f"1 lane: 1 {state}" in page


def test_a_cost_that_is_partly_known_is_a_lower_bound(workspace):
    view = workspace.view()
    spend = top.Spend(usd=0.02, unpriced=1)
    rows = [structs.replace(row, spend=spend) for row in view.rows]
    assert " >=$0.02" in plain_text(render_page(structs.replace(view, rows=rows), 140))


def test_on_a_small_terminal_the_urgent_lanes_come_first(workspace):
    lanes = [f"lane{number}" for number in range(20)]
    workspace.watcher = SnapshotReader(workspace.store, workspace.state, roster=lanes)
    workspace.write(events.LaneFailed(lane="lane17", reason="they die"))
    lines = plain_text(render_page(workspace.view(), 80, 9))
    assert "lane17" in lines and "more lanes" in lines


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-5, "0s"),
        (0, "0s"),
        (99, "99s"),
        (100, "1m"),
        (5_999, "99m"),
        (6_000, "1h"),
        (86_400 * 9, "9d"),
        (86_400 * 20_000, "long"),
    ],
)
def test_a_length_of_time_is_short(seconds, said):
    assert short_span(seconds) == said
