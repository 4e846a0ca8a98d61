"""A fleet's time told from events written by hand, and the page that shows it to anybody."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from dos.agents.adapter import Usage
from dos.backlog.waiting import Waiting, WaitsOn
from dos.journal.events import fleet as events
from dos.journal.events import lanes
from dos.journal.events import limits as engine
from dos.journal.events.envelope import Event, Fact
from dos.journal.fold import fold
from dos.limits.state import costs
from dos.limits.state.spend import FleetSpend
from dos.questions import view
from dos.questions.state import Decisions, urgent_first
from dos.report import html, summary
from dos.report.session import LandingProof, Outcome, ReceiptProof, Session, last_start
from dos.report.session_fold import fold_session
from dos.report.summary import ReportData

T = 1_800_000_000_000  # 2027-01-15 08:00:00 UTC
RUN = {"run_id": "R1", "lane": "api"}
UNIT = {**RUN, "unit": "P/U1"}
COMMIT = "c" * 40
LANDED = events.UnitLanded(**UNIT, branch="main", base="b" * 40, commit=COMMIT)
BEGUN = events.RunBegun(**RUN, host="h", start_sha="")
STOPPED = {"run_id": "R1", "lane": "api", "reason": "because"}
HOSTILE = "</script><script>alert(1)</script>'\"&\x1b[31m\u202e\x00\n\ud800"


def written(*rows: tuple[float, Fact]) -> list[Event]:
    """Each fact with the seconds at which it was written."""
    return [
        Event(
            pos=number, stream="s", ver=number, kind=fact.kind, at_ms=T + int(at * 1000), actor="",
            fence=None, key=None, schema=1, raw=json.encode(fact),
        )
        for number, (at, fact) in enumerate(rows, 1)
    ]  # fmt: skip


def started(**changed: object) -> events.AgentStarted:
    return events.AgentStarted(**{**UNIT, "iteration": 1, "agent": "codex", "base": "b", **changed})


def ended(outcome: str = "ok", **changed: object) -> events.AgentEnded:
    told = {"iteration": 1, "outcome": outcome, "exit_code": 0, "claim": "done!", "seconds": 2.0}
    return events.AgentEnded(**{**UNIT, **told, **changed})


def measured(verdict: str = "DELIVERED", reason: str = "no commit was made") -> events.WorkMeasured:
    return events.WorkMeasured(
        **UNIT,
        iteration=1,
        base="b",
        head="h",
        commits=[],
        strays=[],
        accepted=None,
        verdict=verdict,
        reason=reason,
    )


def fleet_started(host: str = "h", pid: int = 1) -> events.FleetStarted:
    return events.FleetStarted(host=host, pid=pid, target=1)


def fleet_stopped(host: str = "h") -> events.FleetStopped:
    return events.FleetStopped(host=host, reason="nothing is left to do")


def sheet(
    happened: list[Event], proofs: dict[str, LandingProof] | None = None, name: str = "greeter"
) -> ReportData:
    folded = fold(Decisions(), happened)
    return ReportData(
        workspace=name,
        session=fold_session(happened),
        proofs=proofs or {},
        questions=view.rows(urgent_first(folded), T + 60_000),
        costs=costs.costs(fold(FleetSpend(), happened), "unit"),
    )


PROVED = LandingProof(
    answer="SHIPPED", tier="T5", tier_name="witnessed", reason="2 of 2 lines stand",
    receipt=ReceiptProof(valid=True, why="", key_id="SHA256:abc", runner="vm", command="make",
        exit_code=0),
)  # fmt: skip


# What became of each agent


@pytest.mark.parametrize(
    ("facts", "how"),
    [
        ([ended(), measured(), LANDED], Outcome.LANDED),
        ([ended(), measured("NOTHING")], Outcome.DISBELIEVED),
        ([ended(), measured(), events.LandingRefused(**UNIT, reason="red")], Outcome.REFUSED),
        ([ended("turn_cap"), measured("NOTHING")], Outcome.CUT_SHORT),
        ([ended("turn_cap"), measured(), LANDED], Outcome.LANDED),
        ([ended("crash"), measured("NOTHING")], Outcome.CRASHED),
        ([ended("usage_window"), measured("NOTHING")], Outcome.LIMITED),
        ([ended()], Outcome.UNDECIDED),
        ([], Outcome.WORKING),
        ([events.WorkerReaped(**RUN, lease=1, reason="gone")], Outcome.CRASHED),
        ([events.RunStopped(**STOPPED, stop_reason="halted", needs="nobody")], Outcome.UNDECIDED),
        ([started(run_id="R2", unit="P/U2")], Outcome.CRASHED),
    ],
)
def test_an_agents_bar_says_what_became_of_it(facts: list[Fact], how: Outcome) -> None:
    session = fold_session(
        written((0, started()), *((number, fact) for number, fact in enumerate(facts, 2)))
    )
    assert session.bars[0].how is how
    assert session.bars[0].seconds == (2.0 if facts else 0.0)


def test_an_agent_that_was_started_before_has_its_whole_time() -> None:
    session = fold_session(written((10, ended(seconds=4.0))))
    assert session.bars[0].seconds == 4.0
    assert session.since == session.bars[0].start


def test_a_late_word_of_an_old_run_does_not_end_the_agent_of_the_new_one() -> None:
    session = fold_session(
        written((0, started()), (1, ended(run_id="R0")), (5, ended()), (6, LANDED))
    )
    assert [(bar.run_id, bar.how) for bar in session.bars] == [
        ("R1", Outcome.LANDED),
        ("R0", Outcome.UNDECIDED),
    ]


def test_a_landing_that_another_found_after_a_crash_belongs_to_whoever_worked_for_it() -> None:
    found = events.UnitLanded(
        run_id="R2",
        lane="api",
        unit="P/U1",
        branch="main",
        base="b",
        commit=COMMIT,
        recognised=True,
    )
    session = fold_session(
        written(
            (0, started()),
            (2, ended()),
            (3, events.WorkerReaped(**RUN, lease=1, reason="x")),
            (5, found),
        )
    )
    assert (session.bars[0].how, session.landed[0].recognised) == (Outcome.LANDED, True)
    assert session.crashed[0].then == f"landed later as {COMMIT[:9]}"


def test_json_has_a_landing_as_one_row() -> None:
    (row,) = summary.to_json(sheet(written((0, started()), (5, ended()), (6, LANDED))))["landed"]
    assert list(row) == [
        "at",
        "unit",
        "lane",
        "run_id",
        "commit",
        "branch",
        "claim",
        "recognised",
        "proof",
    ]
    assert (row["unit"], row["commit"], row["branch"]) == (
        LANDED.unit,
        LANDED.commit,
        LANDED.branch,
    )


def test_the_claim_stands_beside_the_fact() -> None:
    session = fold_session(written((0, started()), (1, ended()), (2, measured("NOTHING"))))
    assert [(each.claim, each.fact) for each in session.disbelieved] == [
        ("done!", "no commit was made")
    ]


def test_a_crash_is_told_with_how_it_went_on() -> None:
    session = fold_session(
        written(
            (0, started()), (1, ended("hang")), (2, started(unit="P/U9")),
            (3, ended("crash", unit="P/U9")), (4, started(iteration=2)), (5, ended(iteration=2)),
            (6, LANDED),
        )
    )  # fmt: skip
    assert [(each.unit, each.then) for each in session.crashed] == [
        ("P/U1", "landed later as ccccccccc"),
        ("P/U9", ""),
    ]


# Waiting


def test_waiting_is_told_with_its_length_and_what_is_not_over_says_so() -> None:
    hit = engine.LimitHit(
        vendor="acme", account="a", ending="usage_window", lane="api", found="no more today"
    )
    session = fold_session(
        written(
            (0, hit), (1, engine.RunParked(**RUN, why="quota", detail="until nine")), (1, hit),
            (31, engine.RunUnparked(**RUN)), (40, engine.LimitLifted(vendor="acme", account="a")),
            (41, engine.AgentWaiting(**UNIT, ending="overloaded")),
            (44, engine.AgentWentOn(**UNIT)), (50, engine.RunParked(**RUN, why="pause")),
            (60, lanes.LeaseRenewed(lease=1, expires_ms=1)),
        )
    )  # fmt: skip
    assert [(wait.why, wait.seconds, wait.is_over) for wait in session.waits] == [
        ("quota", 30.0, True),
        ("provider", 3.0, True),
        ("pause", 10.0, False),
    ]
    assert [
        (limit.vendor, limit.seconds, limit.times, limit.is_over) for limit in session.limits
    ] == [("acme", 40.0, 2, True)]
    lines = summary.summarize(session).limited
    assert "api: acme a has reached its usage limit; available again after 40 s" in lines
    assert "api: has waited 10 s for the end of a pause" in lines


def test_waits_of_a_lane_for_one_cause_are_one_line_and_a_check_that_went_on_is_none() -> None:
    quota = engine.RunParked(**RUN, why="quota", detail="lane web tests it")
    over = engine.RunUnparked(**RUN)
    session = fold_session(
        written(
            (0, quota), (20, over), (30, quota), (40, over), (41, quota), (41.2, over),
            (50, engine.RunParked(**RUN, why="landing")), (50.4, over),
        )
    )  # fmt: skip
    assert len(session.waits) == 4
    lines = summary.summarize(session)
    assert lines.limited == ["api: waited 30 s in 2 waits for a provider limit (lane web tests it)"]
    assert summary.render(lines).startswith("Limits and waits: 1\n")


def test_an_agent_that_said_nothing_is_not_counted_as_one_that_claimed() -> None:
    silent = fold_session(
        written(
            (0, started()), (1, ended(claim="")), (2, measured("NOTHING", "no commit was made"))
        )
    )
    told = summary.render(summary.summarize(silent))
    assert told == "Not delivered: 1\n  P/U1: no commit was made"


def test_a_worker_that_died_waits_no_more() -> None:
    parked = engine.RunParked(**RUN, why="quota")
    session = fold_session(
        written((0, parked), (5, events.WorkerReaped(**RUN, lease=1, reason="gone")), (90, BEGUN))
    )
    assert [(wait.seconds, wait.is_over) for wait in session.waits] == [(5.0, True)]


def test_a_lane_stands_still_until_somebody_works_on_it_again() -> None:
    stop = events.RunStopped(**STOPPED, stop_reason="red", needs="operator")
    assert [each.lane for each in fold_session(written((0, stop))).stopped] == ["api"]
    assert fold_session(written((0, stop), (1, BEGUN))).stopped == []
    asked = engine.DecisionRaised(
        id="d", about="lane_failed", question="What now?", choices=[], waits=["lane:api"]
    )
    assert summary.summarize_events(written((0, stop), (1, asked))).stopped == [
        "What now?  (dos decisions show d)"
    ]


def test_what_only_a_person_clears_is_told_also_where_nobody_was_asked() -> None:
    waiting = [
        Waiting(
            on=WaitsOn.PERSON, subject="api", why="its last run stopped: red", clears_with="dos up"
        ),
        Waiting(
            on=WaitsOn.PERSON,
            subject="docs",
            why="What now?",
            clears_with="dos decide-for d retry",
            question="d",
        ),
        Waiting(on=WaitsOn.DEPENDENCY, subject="P/U2", why="P/U1 has not landed"),
    ]
    assert summary.summarize_events([], waiting).stopped == [
        "api: its last run stopped: red  (dos up)"
    ]
    unasked = summary.needs_person_without_question(waiting, [])
    shown = html.render_page(structs.replace(sheet([]), waiting=waiting, unasked=unasked))
    assert "its last run stopped: red" in shown and "has not landed" not in shown
    assert len(summary.to_json(structs.replace(sheet([]), waiting=waiting))["waiting"]) == 3


# Where a session begins


@pytest.mark.parametrize(
    ("facts", "began"),
    [
        ([], None),
        ([fleet_stopped()], None),
        ([fleet_started()], 1),
        ([fleet_started(), fleet_stopped(), fleet_started()], 3),
        ([fleet_started(), fleet_started(), fleet_started()], 1),
        ([fleet_started(), fleet_stopped(), fleet_started(), fleet_started(), fleet_stopped()], 3),
        ([fleet_started("a"), fleet_started("b"), fleet_stopped("a"), fleet_started("b")], 2),
    ],
)
def test_a_fleet_that_was_killed_and_started_again_is_the_same_fleet(
    facts: list[Fact], began: int | None
) -> None:
    found = last_start(written(*enumerate(facts)))
    assert (found.pos if found else None) == began


def test_a_start_after_one_that_never_stopped_says_so() -> None:
    session = fold_session(
        written((0, fleet_started()), (5, fleet_started(pid=2)), (9, fleet_stopped()))
    )
    assert [bool(start.found) for start in session.starts] == [False, True]
    assert summary.heading(
        sheet(written((0, fleet_started()), (5, fleet_started()), (9, fleet_stopped())))
    ) == (
        "15 Jan 2027 08:00:00 to 08:00:09 UTC (9 s); restarted 1 time after a crash of the "
        "supervisor; "
        "stopped: nothing is left to do"
    )


def test_a_session_without_a_recorded_stop_runs_or_its_supervisor_was_killed() -> None:
    report = sheet(written((0, fleet_started()), (2, started())))
    killed = "the supervisor exited without a recorded stop; `dos up` starts another"
    assert summary.heading(report).endswith(f"(2 s); {killed}")
    running = structs.replace(report, is_supervised=True)
    assert summary.heading(running).endswith("(2 s); still running")


def test_a_session_in_which_nothing_was_judged_yet_counts_its_agents() -> None:
    session = fold_session(written((0, fleet_started()), (2, started())))
    empty = summary.summarize(session)
    assert summary.render(empty, summary.describe_no_result(session)) == (
        "No result yet: 1 agent started, and none was judged; `dos top` shows the lanes"
    )
    assert summary.describe_no_result(fold_session([])) == "Nothing happened"


# The page


class Seen(HTMLParser):
    """The tags with their attributes' names, and all of the text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, tuple[str, ...]]] = []
        self.values: list[str] = []
        self.text: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, tuple(name for name, _ in attributes)))
        self.values += [
            value or ""
            for name, value in attributes
            if name in ("href", "src", "xlink:href", "action")
        ]

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def busy(
    unit: str = "P/U1", claim: str = "done!", lane: str = "api", word: str = "x"
) -> list[Event]:
    """Something for every part of the page, all of it with a stranger's words."""
    who = {"run_id": word, "lane": lane}
    at = {**who, "unit": unit}
    used = [Usage(model=word, input_tokens=5, cost_usd=1.5)]
    return written(
        (0, fleet_started()),
        (1, started(**at, agent=word)),
        (2, ended(**at, claim=claim, usage=used)),
        (3, events.WorkMeasured(
            **at, iteration=1, base="", head="", commits=[], strays=[], accepted=None,
            verdict="NOTHING", reason=word)),
        (4, started(**at, agent=word)),
        (5, ended("crash", **at, claim=claim, usage=used)),
        (6, fleet_started()),
        (7, started(**at, agent=word)),
        (8, ended(**at, claim=claim)),
        (9, events.UnitLanded(**at, branch=word, base="", commit=COMMIT)),
        (10, events.WorkSalvaged(**who, ref=word, commit=word, why=word)),
        (11,
            engine.LimitHit(vendor=word, account=word, model=word, ending=word, lane=lane,
                found=word)),
        (12, engine.RunParked(**who, why=word, detail=word)),
        (13, engine.DecisionRaised(
            id=word, about=word, question=word, choices=[engine.Choice(name=word)], waits=[word],
            otherwise=word)),
        (14, events.RunStopped(**who, stop_reason=word, needs="operator", reason=word)),
        (15, events.FleetStopped(host="h", reason=word)),
    )  # fmt: skip


def proved(word: str) -> dict[str, LandingProof]:
    signed = ReceiptProof(
        valid=False, why=word, verdict=word, key_id=word, runner=word, command=word, exit_code=1
    )
    return {
        COMMIT: LandingProof(answer=word, tier="T5", tier_name=word, reason=word, receipt=signed)
    }


def hostile_free(text: str) -> str:
    """As a journal can hold it: JSON has no lone surrogates."""
    return text.encode("utf-8", "replace").decode()


@given(word=st.text(min_size=1, max_size=40).map(hostile_free))
def test_no_word_of_a_stranger_changes_the_pages_shape(word: str) -> None:
    word = f"x{word}"
    page = html.render_page(sheet(busy(word, word, word, word), proved(word), word))
    assert (
        Seen(page).tags
        == Seen(html.render_page(sheet(busy("x", "x", "x", "x"), proved("x"), "x"))).tags
    )
    assert page.startswith(html.HEAD)
    assert "\x1b" not in page and "\u202e" not in page


def test_hostile_words_are_shown_and_do_nothing() -> None:
    word = HOSTILE.replace("\ud800", "")
    page = html.render_page(sheet(busy(word, word, word, word), proved(HOSTILE), HOSTILE))
    seen = Seen(page)
    assert "script" not in {tag for tag, _ in seen.tags}
    assert not [name for _, names in seen.tags for name in names if name.startswith("on")]
    assert all(value.startswith("#") for value in seen.values), "nothing leads out of the page"
    text = "".join(seen.text)
    assert "</script><script>alert(1)</script>'\"&\\u001b[31m\\u202e\\u0000" in text
    assert not {character for character in page if ord(character) < 32} - {"\n"}
    page.encode("utf-8")


def test_the_page_fetches_nothing_and_goes_with_its_readers_light() -> None:
    page = html.render_page(sheet(busy(), {COMMIT: PROVED}))
    assert "default-src 'none'" in page
    assert "prefers-color-scheme: dark" in page
    assert "width=device-width" in page
    assert (
        "http://" not in page
        and "https://" not in page
        and "url(" not in page
        and "@import" not in page
    )


def test_the_page_shows_each_landing_with_its_proof() -> None:
    text = "".join(Seen(html.render_page(sheet(busy(), {COMMIT: PROVED}))).text)
    for told in (
        COMMIT,
        "SHIPPED T5 witnessed",
        "2 of 2 lines stand",
        "signed by SHA256:abc on vm",
        "make exit 0",
    ):
        assert told in text


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"receipt": None}, "no receipt"),
        (
            {"receipt": ReceiptProof(valid=False, why="it has no signature")},
            "receipt without a signature",
        ),
        (
            {"receipt": ReceiptProof(valid=False, why="the key is not trusted", key_id="k")},
            "its receipt is not valid here: the key is not trusted",
        ),
    ],
)
def test_a_receipt_that_does_not_count_is_not_made_to_look_as_if(
    changed: dict[str, ReceiptProof | None], told: str
) -> None:
    proof = LandingProof(answer="UNPROVEN", tier="T1", tier_name="named", reason="x", **changed)
    assert told in proof.line
    page = html.render_page(sheet(busy(), {COMMIT: proof}))
    assert told in "".join(Seen(page).text)
    assert '<article class="row bad"><h3>P/U1 <span class="badge">UNPROVEN' in page


def test_a_cost_that_nobody_knows_is_said_to_be_unknown() -> None:
    priced = written((0, started()), (1, ended(usage=[Usage(cost_usd=2.0)])))
    assert "<b>$2.00</b><span>cost</span>" in html.render_page(sheet(priced))
    unpriced = written((0, started()), (1, ended()))
    assert "<b>unknown</b><span>cost</span>" in html.render_page(sheet(unpriced))
    lost = written(
        (0, started()),
        (1, ended(usage=[Usage(cost_usd=2.0)])),
        (2, started()),
        (3, started(run_id="R2")),
    )
    page = html.render_page(sheet(lost))
    assert "<b>$2.00</b><span>cost, partly unknown</span>" in page
    assert "The cost of 1 of 3 agent runs is unknown and not included" in page


def test_nothing_at_all_is_a_page_too() -> None:
    page = html.render_page(sheet([]))
    assert "nothing has landed" in page
    assert "<svg" not in page
    assert summary.render(summary.summarize(Session())) == "Nothing happened"


@given(times=st.lists(st.floats(0, 1e9), min_size=2, max_size=6).map(sorted))
def test_every_bar_lies_within_the_drawing(times: list[float]) -> None:
    facts = [started() if number % 2 == 0 else ended() for number in range(len(times))]
    page = html.render_page(sheet(written(*zip(times, facts, strict=True))))
    bars = [part.split('"') for part in page.split("<svg x=")[1:]]
    assert len(bars) == (len(times) + 1) // 2
    for words in bars:
        left, width = float(words[1].rstrip("%")), float(words[5].rstrip("%"))
        assert left >= 0 and width > 0 and left + width <= 100.02
