"""What a lane waits for, and that only the answer, limit or unit that it waits for clears it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from dos.backlog.attempts import Attempts
from dos.backlog.io import attempts, survey
from dos.backlog.pickable import MOST_DEATHS
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet import observe, waits
from dos.fleet.choose_agent import lanes_without_agent
from dos.fleet.observation import Observation
from dos.fleet.population.reconcile import NO_WORK_STOPS, Action, GiveUp, Spawn, plan
from dos.fleet.population.types import Supervise
from dos.fleet.state import held_units
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.journal import fold, streams
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events import fleet
from dos.journal.events.limits import FleetFound, HaltRequested, LimitHit, LimitProbed
from dos.journal.store import Store
from dos.lanes.policy import Lanes
from dos.limits.policy import Budget, Budgets
from dos.limits.quota import AgentCandidate
from dos.limits.state import quota
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.questions import subject
from dos.questions.catalog import AnyQuestion
from dos.questions.changed_tests import TestsChanged
from dos.questions.lanes import LaneFailed, LaneStopped
from dos.questions.resources import limit_question
from dos.questions.runs import Spinning
from dos.questions.state import (
    Decisions,
    OpenQuestion,
    PendingClose,
    answer_entries,
    expiry_entries,
    raise_entry,
    raised_event,
)
from dos.questions.units import LandingConflict, UnitUndone
from dos.times import SystemClock
from dos.units.unit import Landing, Unit

LANES = ("api", "docs")
CONFIG = Config(lanes=Lanes(concurrent=LANES, trees={name: (f"{name}/**",) for name in LANES}))
UNITS = [
    Unit(plan="P", id="A1", title="", lane="api"),
    Unit(plan="P", id="D1", title="", lane="docs"),
]
NO_COMMIT = {"base": "a", "head": "a", "commits": [], "strays": [], "accepted": None}
COOLED_MS = 7 * 3_600_000
AGENT = AgentCandidate(name="agent", vendor="acme", account="work")


class Ticks(SystemClock):
    """A clock that goes on by a millisecond whenever it is read: no two facts are of one moment."""

    def __init__(self) -> None:
        self._now_ms = super().wall_ms()

    def wall_ms(self) -> int:
        self._now_ms += 1
        return self._now_ms


class Story:
    """A fleet of two lanes, told event by event."""

    def __init__(self, config: Config = CONFIG) -> None:
        self.config = config
        self.store = Store(MemoryBackend(clock=Ticks()), actor="fleet")
        self.units = list(UNITS)
        self.later_ms = 0

    def state(self, kind):
        return fold.current(self.store, kind)[0]

    def dies(self, *runs: str, lane: str = "api") -> None:
        for run in runs:
            self.store.record(
                streams.spawn(lane), fleet.SpawnIntended(lane=lane, run_id=run, host="h")
            )

    def begins(self, run: str, lane: str = "api") -> None:
        self.store.record(
            streams.run(run), fleet.RunBegun(run_id=run, lane=lane, host="h", start_sha="")
        )

    def fails(self, run: str, unit: str, why: str, lane: str = "api") -> None:
        who = {"run_id": run, "lane": lane, "unit": unit}
        text = next(each.fingerprint for each in self.units if each.name == unit)
        measured = fleet.WorkMeasured(
            **who, iteration=1, verdict="NOTHING", reason=why, **NO_COMMIT
        )
        self.store.record(streams.run(run), measured)
        self.store.record(
            streams.unit(unit), fleet.UnitAttempted(**who, outcome="drained", text=text)
        )

    def starts(self) -> None:
        self.store.record("fleet", fleet.FleetStarted(host="h", pid=1, target=2))

    def stops(self, run: str, why: str, needs: str, lane: str = "api") -> None:
        fact = fleet.RunStopped(run_id=run, lane=lane, stop_reason=why, needs=needs, reason="so")
        self.store.record(streams.run(run), fact)

    def ask(self, question: AnyQuestion) -> None:
        self.store.append_all([raise_entry(question)])

    def answer(self, decision: str, choice: str, *, expired: bool = False) -> None:
        asked = self.state(Decisions).open[decision]
        self.store.append_all(answer_entries(asked, choice, by="ann", expired=expired))

    def seen(self) -> Observation:
        state, answers, now_ms = (
            self.state(FleetState),
            self.state(Decisions),
            self.store.now_ms() + self.later_ms,
        )
        backlogs = {
            lane: survey.survey(
                self.units,
                self.config,
                state,
                lane,
                now_ms=now_ms,
                answers=answers,
                tried=self.state(Attempts),
            )
            for lane in LANES
        }
        return Observation(
            config=self.config,
            state=state,
            on_target=state,
            units=self.units,
            answers=answers,
            leases={},
            backlogs=backlogs,
            cannot_start=lanes_without_agent(
                self.config,
                {lane: [[AGENT]] for lane in LANES},
                self.state(ProviderLimits),
                self.state(FleetSpend),
                state,
                now_ms=now_ms,
            ),
            now_ms=now_ms,
            is_gone=lambda lease: True,
        )

    def open(self, lane: str = "api") -> list[str]:
        return sorted(unit.name for unit in self.seen().backlogs[lane].open)

    def resting(self, lane: str = "api") -> set[str]:
        return {rest.unit_id for rest in self.seen().backlogs[lane].on_cooldown}

    def asked(self) -> list[AnyQuestion]:
        return list(observe.questions(self.seen()))

    def closings(self) -> list[PendingClose]:
        return observe.closings(self.seen())

    def actions(self) -> list[Action]:
        self.later_ms += 30_001  # no rest lasts as long
        return self.planned()

    def planned(self) -> list[Action]:
        seen = self.seen()
        own = waits.own_waits(seen)
        return list(
            plan(observe.entries(seen, own), 2, failing=observe.failing_lanes(seen, own)).actions
        )

    def waits(self, lane: str = "api") -> bool:
        return observe.waits_for_a_person(self.seen(), lane)

    def questions(self) -> list[str]:
        return [question.id for question in observe.questions(self.seen())]


@pytest.fixture
def story() -> Story:
    return Story()


@pytest.fixture
def given_up(story) -> Story:
    """Three workers died, one after the other."""
    story.dies("R1", "R2", "R3")
    story.later_ms = 5_000  # longer than the back-off, and shorter than the period
    (action,) = (action for action in story.planned() if isinstance(action, GiveUp))
    story.ask(action.question)
    story.store.record("spawn/api", fleet.LaneFailed(lane="api", reason=action.question.reason))
    return story


def test_a_lane_that_is_retried_is_tried_at_once_whatever_died_before(given_up):
    assert given_up.waits()
    given_up.answer("lane-failed-api-1", "retry")
    assert given_up.planned() == [Spawn("api"), Spawn("docs")]
    assert given_up.state(FleetState).starts["api"].failed == ""


def test_a_lane_that_is_left_stays_left_also_after_an_earlier_retry(given_up):
    given_up.answer("lane-failed-api-1", "retry")
    given_up.store.record("spawn/api", fleet.LaneFailed(lane="api", reason="they die again"))
    given_up.ask(LaneFailed.ask("api", "they die again", ordinal=2))
    given_up.answer("lane-failed-api-2", "leave")
    assert given_up.actions() == [Spawn("docs")]
    given_up.store.record("fleet", fleet.FleetStarted(host="h", pid=1, target=2))
    assert given_up.actions() == [Spawn("api"), Spawn("docs")], "until the next start"


@pytest.mark.parametrize("choice", ["retry", "leave"])
def test_a_lane_that_was_answered_for_before_it_was_given_up_on_is_asked_about_when_it_dies_again(
    story, choice
):
    story.later_ms = 5_000
    for run in "ABC":
        story.dies(*(f"{run}{number}" for number in range(3)))
        (question,) = observe.failure_questions(story.seen())
        unwritten = OpenQuestion(raised=raised_event(question), at_ms=0, version=0)
        story.store.append_all(answer_entries(unwritten, choice, by="ann"))
        if choice == "leave":
            assert (
                not list(observe.failure_questions(story.seen()))
                and Spawn("api") not in story.planned()
            )
            story.starts()
        assert Spawn("api") in story.planned()


@pytest.mark.parametrize("why", sorted(NO_WORK_STOPS))
def test_a_run_that_found_nothing_to_take_holds_its_lane_no_longer_than_that(story, why):
    story.units = [structs.replace(UNITS[0], depends=("P/D1",)), UNITS[1]]
    story.stops("R1", why, "operator")
    assert story.actions() == [Spawn("docs")] and not story.questions()
    landed = fleet.UnitLanded(
        run_id="R2", lane="docs", unit="P/D1", branch="main", base="a", commit="b"
    )
    story.store.record("run/R2", landed)
    assert story.actions() == [Spawn("api")]


def test_a_worker_that_came_in_vain_is_not_followed_at_once(story):
    story.stops("R1", "drain", "operator")
    assert story.planned() == [Spawn("docs")]
    assert story.actions() == [Spawn("api"), Spawn("docs")]


@pytest.mark.parametrize(
    "why", ["consecutive-unclear", "consecutive-dirty-zero", "thrashing", "launch-failed"]
)
def test_what_only_a_person_can_clear_is_asked_once_and_holds_until_it_is_answered(story, why):
    story.stops("R1", why, "operator")
    assert story.questions() == ["lane-stopped-R1-1"]
    story.ask(LaneStopped.ask("api", "R1", why))
    assert story.questions() == [] and story.waits()
    story.answer("lane-stopped-R1-1", "leave")
    assert story.questions() == [] and story.waits()


def test_a_unit_that_is_to_be_done_again_starts_its_lane_at_once(story):
    story.units.append(Unit(plan="P", id="A2", title="", lane="api"))
    landed = fleet.UnitLanded(
        run_id="R1", lane="api", unit="P/A1", branch="main", base="a", commit="b" * 40
    )
    story.store.record("run/R1", landed)
    story.stops("R2", "drain", "operator")
    state = story.state(FleetState)
    removed = {"P/A1": structs.replace(state.units["P/A1"], landed="", undone="it was reverted")}
    seen = structs.replace(story.seen(), on_target=structs.replace(state, units=removed))
    (question,) = observe.questions(seen)
    story.ask(question)
    assert [wait.on for wait in waits.own_waits(story.seen()).lanes["api"]] == ["cooldown"]
    story.answer(question.id, "again")
    assert waits.own_waits(story.seen()).lanes.get("api", ()) == ()


# Units that failed


THIRD = Unit(plan="P", id="A3", title="", lane="api")


@pytest.fixture
def failed(story) -> Story:
    """A run tried two units of a lane in vain, and stopped; a third was never tried."""
    story.units += [Unit(plan="P", id="A2", title="", lane="api"), THIRD]
    story.begins("R1")
    story.fails("R1", "P/A1", "no commit was made")
    story.fails("R1", "P/A2", "its tests are red")
    story.fails("R1", "P/A1", "it strayed")
    story.stops("R1", "consecutive-dirty-zero", "operator")
    return story


def test_a_lane_goes_on_with_untried_units_and_the_question_is_about_those_that_failed(failed):
    (question,) = failed.asked()
    assert subject.to_words(question.waits) == ["unit:P/A2", "unit:P/A1"]
    assert "P/A1 (2 times, last: it strayed)" in question.text
    assert "P/A2 (once, last: its tests are red)" in question.text
    assert failed.actions() == [Spawn("api"), Spawn("docs")] and failed.open() == ["P/A3"]
    failed.ask(question)
    assert failed.questions() == [] and failed.actions() == [Spawn("api"), Spawn("docs")]
    assert failed.open() == ["P/A3"]


def test_a_lane_with_nothing_but_failed_units_starts_nobody_until_the_answer_and_then_at_once(
    failed,
):
    failed.units.remove(THIRD)
    failed.ask(failed.asked()[0])
    assert failed.actions() == [Spawn("docs")]
    failed.stops("R2", "pick-cooldown", "time")
    failed.answer("lane-stopped-R1-1", "retry")
    failed.later_ms = 0
    assert failed.planned() == [Spawn("api"), Spawn("docs")]
    assert failed.open() == ["P/A1", "P/A2"]


def test_what_is_left_alone_is_not_tried_until_the_next_start_and_then_after_its_cooldown(failed):
    failed.ask(failed.asked()[0])
    failed.answer("lane-stopped-R1-1", "leave")
    assert failed.open() == ["P/A3"]
    failed.later_ms = COOLED_MS
    assert failed.open() == ["P/A3"], "a person said so"
    failed.starts()
    assert failed.open() == ["P/A1", "P/A2", "P/A3"]
    failed.later_ms = 0
    assert failed.open() == ["P/A3"], "no restart clears a cooldown"


def test_a_question_that_a_start_ends_leaves_what_still_cools_and_retries_what_does_not(failed):
    failed.ask(failed.asked()[0])
    failed.starts()
    (closing,) = failed.closings()
    assert (closing.choice, closing.reason) == (
        "leave",
        "no person answered, and a unit of it is still on cooldown",
    )
    failed.later_ms = COOLED_MS
    (closing,) = failed.closings()
    assert (closing.choice, closing.reason) == ("retry", "")
    failed.later_ms = 0
    failed.store.append_all(expiry_entries(closing.asked, closing.choice))
    assert failed.open() == ["P/A3"], "what nobody answered clears nothing"


def test_a_rewritten_unit_is_tried_at_once_and_a_question_about_nothing_else_closes(failed):
    failed.ask(failed.asked()[0])
    failed.units[0] = structs.replace(failed.units[0], title="said more clearly")
    assert failed.open() == ["P/A1", "P/A3"] and not failed.closings()
    failed.units[2] = structs.replace(failed.units[2], acceptance="true")
    (closing,) = failed.closings()
    assert (closing.choice, bool(closing.reason)) == ("leave", True)
    failed.store.append_all(expiry_entries(closing.asked, closing.choice, closing.reason))
    assert failed.open() == ["P/A1", "P/A2", "P/A3"]


@pytest.mark.parametrize("words", [["P/A1", "A2"], []])
def test_units_that_are_cleared_by_hand_are_tried_at_once_also_while_a_question_is_open(
    failed, words
):
    failed.ask(failed.asked()[0])
    chosen = attempts.units_to_clear(failed.units, words, failed.store)
    assert [unit.name for unit in chosen] == ["P/A1", "P/A2"]
    attempts.clear_units(failed.store, [(unit, "api") for unit in chosen], by="ann")
    assert failed.open() == ["P/A1", "P/A2", "P/A3"] and len(failed.closings()) == 1


def test_a_unit_that_is_cleared_by_hand_has_to_be_in_a_plan(failed):
    with pytest.raises(BadInput, match="no plan has the unit 'P/A9'"):
        attempts.units_to_clear(failed.units, ["P/A9"], failed.store)


def test_a_retried_lane_takes_up_its_cooling_units_whatever_it_stopped_for(story):
    story.begins("R1")
    story.fails("R1", "P/A1", "no commit was made")
    story.stops("R1", "thrashing", "operator")
    (question,) = story.asked()
    assert subject.to_words(question.waits) == ["lane:api"]
    story.ask(question)
    story.answer(question.id, "retry")
    assert story.open() == ["P/A1"] and Spawn("api") in story.actions()


def test_what_a_run_died_at_is_no_try_in_vain_and_a_run_that_goes_on_after_it_counts_its_tries(
    story,
):
    story.begins("R1")
    story.store.record(
        "run/R1", fleet.UnitClaimed(run_id="R1", lane="api", iteration=1, unit="P/A1")
    )
    story.starts()
    assert story.open() == ["P/A1"], "the run died at it"
    story.fails("R1", "P/A1", "no commit was made")
    story.starts()
    assert story.open() == ["P/A1"], "whoever goes on after it tries again, and counts"
    story.begins("R2")
    assert story.open() == ["P/A1"]
    story.stops("R2", "consecutive-dirty-zero", "operator")
    assert story.open() == []
    story.starts()
    assert story.open() == [], "no restart clears a cooldown"


def test_a_run_that_comes_to_the_end_of_its_try_ends_a_row_of_deaths(story):
    for number in range(3):
        run_id = f"R{number}"
        story.begins(run_id)
        claim = fleet.UnitClaimed(
            run_id=run_id, lane="api", iteration=1, unit="P/A1", repeated=number > 0
        )
        story.store.record(streams.run(run_id), claim)
    assert story.state(FleetState).units["P/A1"].deaths == MOST_DEATHS and story.open() == []
    story.fails("R2", "P/A1", "no commit was made")
    assert story.open() == ["P/A1"], "the same run tries again"


def test_a_run_that_goes_on_after_a_dead_one_asks_about_the_failures_of_both(failed):
    failed.ask(failed.asked()[0])
    failed.units += [Unit(plan="P", id="A4", title="", lane="api")]
    failed.begins("R2")
    failed.fails("R2", "P/A3", "it strayed")
    failed.begins("R3")  # the second one died
    failed.fails("R3", "P/A4", "it strayed")
    failed.stops("R3", "consecutive-dirty-zero", "operator")
    (question,) = failed.asked()
    assert subject.to_words(question.waits) == ["unit:P/A3", "unit:P/A4"], (
        "the others were asked about"
    )


LAW_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("fails"), st.sampled_from(["P/A1", "P/A2", "P/A3"])),
        st.tuples(st.sampled_from(["stops", "asks", "retry", "leave", "starts"]), st.just("")),
    ),
    max_size=14,
)


@given(LAW_STEPS)
@settings(max_examples=60, deadline=None)
def test_an_answered_retry_takes_effect_and_a_start_clears_no_cooldown(steps):
    story = Story()
    story.units += [Unit(plan="P", id="A2", title="", lane="api"), THIRD]
    story.begins("R1")
    runs = 1
    for step, unit in steps:
        open_questions = list(story.state(Decisions).open.values())
        match step:
            case "fails" if story.state(FleetState).runs:
                story.fails(f"R{runs}", unit, "no commit was made")
            case "stops" if not story.state(FleetState).runs[f"R{runs}"].stop_reason:
                story.stops(f"R{runs}", "consecutive-dirty-zero", "operator")
            case "asks":
                for question in story.asked():
                    story.ask(question)
                runs += 1
                story.begins(f"R{runs}")
            case "retry" | "leave" if open_questions:
                open_question = open_questions[0]
                story.answer(open_question.raised.id, step)
                others = held_units.close_gates(
                    story.units, story.state(FleetState), story.state(Decisions)
                )
                held = {other.name for other in others if other.gated}
                if step == "retry":
                    still_asked = any(
                        "lane:api" in open_question.raised.waits
                        for open_question in open_questions[1:]
                    )
                    could_start = [each.lane for each in story.planned() if isinstance(each, Spawn)]
                    assert {*held_units.units_behind(open_question)} <= {*story.open(), *held}
                    assert "api" in could_start or held or still_asked
            case "starts":
                before = story.resting()
                story.starts()
                for closing in story.closings():
                    story.store.append_all(
                        expiry_entries(closing.asked, closing.choice, closing.reason)
                    )
                assert story.resting() == before


def stuck(story: Story) -> None:
    story.stops("R1", "thrashing", "operator")
    story.ask(LaneStopped.ask("api", "R1", "thrashing"))
    story.answer("lane-stopped-R1-1", "leave")


OTHERS = [
    (LaneFailed.ask("docs", "x"), "retry"),
    (LaneStopped.ask("docs", "R9", "x"), "retry"),
    (LandingConflict.ask("P/A1", ["red"]), "retry"),
    (
        TestsChanged.ask(
            Landing(unit="P/A1", branch="main", base="b", commit="c"), "weak", refused=2
        ),
        "accept",
    ),
    (UnitUndone.ask("P/A1", commit="abcdef0123"), "again"),
    (Spinning.ask("R9", "api", "x"), "leave"),
]


@pytest.mark.parametrize(
    ("question", "choice"), OTHERS, ids=[question.id for question, _ in OTHERS]
)
def test_an_answer_about_something_else_lets_nothing_go(story, question, choice):
    stuck(story)
    story.ask(question)
    story.answer(question.id, choice)
    assert story.waits() and story.actions() == [Spawn("docs")]


def test_who_waits_for_a_probe_is_told_whose_and_no_time(story):
    fact = LimitHit(
        vendor="acme", account="work", ending="usage_window", retry_after_seconds=0.001,
        run_id="R0", lane="api",
    )  # fmt: skip
    stream = streams.limit(quota.limit_key(fact))
    story.store.record(stream, fact)
    probe = LimitProbed(vendor="acme", account="work", run_id="R1", lane="api")
    story.store.record(stream, probe)
    story.later_ms = 1_000
    (waiting,) = waits.own_waits(story.seen()).lanes["docs"]
    assert str(waiting) == "provider limit: lane api tests whether acme work accepts requests again"
    assert not waiting.needs_person


def hit(vendor: str, run: str) -> LimitHit:
    return LimitHit(
        vendor=vendor, account="work", ending="auth", found="401", lane="api", run_id=run
    )


def ended_at_limit(story: Story, vendor: str) -> None:
    who = {"run_id": "R1", "lane": "api"}
    story.store.record("run/R1", fleet.RunBegun(**who, host="h", start_sha=""))
    fact = hit(vendor, "R1")
    story.store.record(streams.limit(quota.limit_key(fact)), fact)
    story.stops("R1", "launch-failed", "environment")


def test_a_limit_that_is_put_right_lets_those_go_that_ended_at_it_and_nobody_else(story):
    ended_at_limit(story, "acme")
    story.stops("R2", "thrashing", "operator", lane="docs")
    assert story.waits() and story.waits("docs")
    (limit,) = story.state(ProviderLimits).limits.values()
    assert story.questions() == [limit_question(limit).id, "lane-stopped-R2-1"], (
        "one question for each, not two"
    )
    story.ask(limit_question(limit))
    story.answer(limit_question(limit).id, "fixed")
    assert not story.waits() and story.waits("docs")


def test_another_limit_that_is_put_right_lets_nothing_go(story):
    ended_at_limit(story, "acme")
    fact = hit("other", "R9")
    story.store.record(streams.limit(quota.limit_key(fact)), fact)
    other = next(
        limit
        for limit in story.state(ProviderLimits).limits.values()
        if limit.key.vendor == "other"
    )
    story.ask(limit_question(other))
    story.answer(limit_question(other).id, "fixed")
    assert story.waits()


def spent(scope: str) -> Story:
    story = Story(
        structs.replace(CONFIG, budgets=structs.replace(Budgets(), **{scope: Budget(usd=1.0)}))
    )
    who = {"run_id": "R1", "lane": "api"}
    story.store.record("run/R1", fleet.RunBegun(**who, host="h", start_sha=""))
    ended = fleet.AgentEnded(
        **who,
        unit="P/A1",
        iteration=1,
        outcome="ok",
        exit_code=0,
        claim="",
        seconds=1,
        cost_usd=2.0,
    )
    story.store.record("run/R1", ended)
    story.stops("R1", "decision-needed", "operator")
    return story


@pytest.mark.parametrize("scope", ["run", "lane", "day"])
@pytest.mark.parametrize(("choice", "goes_on"), [("raise", True), ("stop", False)])
def test_a_spent_budget_is_asked_about_and_only_its_own_answer_counts(scope, choice, goes_on):
    story = spent(scope)
    (question,) = story.questions()
    assert question.startswith(f"budget-{scope}-") and story.waits()
    (room,) = {room.detail: room for room in story.seen().cannot_start.values()}.values()
    story.ask(room.questions[0])
    story.ask(LaneFailed.ask("docs", "x"))
    story.answer("lane-failed-docs-1", "retry")
    assert story.waits()
    # Two dollars are gone of one: the answer makes it two, which is not enough; the next one is.
    for ordinal in range(2 if goes_on else 1):
        if ordinal:
            story.ask(story.seen().cannot_start["api"].questions[0])
        story.answer(next(iter(story.state(Decisions).open)), choice)
    assert story.waits() is not goes_on


def test_a_day_that_is_waited_for_is_no_persons_matter_and_holds_its_own_lane_alone():
    story = spent("lane")
    story.ask(story.seen().cannot_start["api"].questions[0])
    story.answer(next(iter(story.state(Decisions).open)), "wait", expired=True)
    assert not story.waits()
    assert story.planned() == [Spawn("docs")]


def test_so_many_deaths_as_are_allowed_are_counted_and_fit_into_their_period():
    supervise = Supervise(restart_intensity=25, restart_period_seconds=60)
    story = Story(structs.replace(CONFIG, supervise=supervise))
    for number in range(24):
        story.dies(f"R{number}")
    assert len(
        story.state(FleetState).starts["api"].unended
    ) == 24 and not story.seen().why_failing("api")
    story.later_ms = 1_201
    assert Spawn("api") in story.planned(), (
        "a back-off does not last until the deaths are forgotten"
    )
    story.dies("R24")
    story.later_ms = 2_500
    assert isinstance(story.planned()[0], GiveUp)


def test_runs_that_died_are_forgotten_when_another_begins(story):
    for number in range(50):
        run = {"run_id": f"R{number}", "lane": "api"}
        story.store.record(streams.run(f"R{number}"), fleet.RunBegun(**run, host="h", start_sha=""))
        story.store.record(
            streams.run(f"R{number}"), fleet.UnitClaimed(**run, unit="P/A1", iteration=1)
        )
        story.store.record(streams.run(f"R{number}"), HaltRequested(run_id=f"R{number}"))
    state = story.state(FleetState)
    assert (list(state.runs), list(state.halts)) == (["R49"], ["R49"])
    assert observe.startup_findings(story.seen()).repeated == ["P/A1"]


def test_what_died_is_told_once(story):
    for lane in LANES:
        run = {"run_id": f"R-{lane}", "lane": lane}
        story.store.record(streams.run(f"R-{lane}"), fleet.RunBegun(**run, host="h", start_sha=""))
        story.store.record(
            streams.run(f"R-{lane}"), fleet.UnitClaimed(**run, unit=f"P/{lane}", iteration=1)
        )
    assert observe.startup_findings(story.seen()).repeated == ["P/api", "P/docs"]
    story.store.record("fleet", FleetFound(host="h", adopted=["docs: h:12"], repeated=["P/api"]))
    assert observe.startup_findings(story.seen()).repeated == ["P/docs"], (
        "it was at work then, and has died since"
    )


def test_what_had_landed_when_its_run_died_is_skipped_and_what_landed_long_ago_is_no_news(story):
    who = {"run_id": "R1", "lane": "api"}
    story.store.record("run/R1", fleet.RunBegun(**who, host="h", start_sha=""))
    for unit in ("P/A0", "P/A1"):
        story.store.record("run/R1", fleet.UnitClaimed(**who, unit=unit, iteration=1))
        story.store.record(
            "run/R1", fleet.UnitLanded(**who, unit=unit, branch="main", base="a", commit="b")
        )
    startup_findings = observe.startup_findings(story.seen())
    assert (startup_findings.skipped, startup_findings.repeated) == (["P/A1"], [])


def test_what_is_left_says_what_it_waits_for(story):
    story.units = [
        UNITS[0],
        structs.replace(UNITS[1], plan_class="DRAFT"),
        structs.replace(UNITS[1], id="D2", depends=("P/A1",)),
        structs.replace(UNITS[1], id="D3", soak_until="2999-01-01"),
    ]
    stuck(story)
    seen = story.seen()
    left = waits.with_obstacles(seen, waits.own_waits(seen), ()).units
    assert {name: found[0].on for name, found in left.items()} == {
        "P/A1": "person", "P/D1": "gate", "P/D2": "dependency", "P/D3": "soak"
    }  # fmt: skip


def test_the_run_that_began_and_never_stopped_is_the_one_to_follow(story):
    for run in ("R1", "R2"):
        story.store.record(
            streams.run(run), fleet.RunBegun(run_id=run, lane="api", host="h", start_sha="")
        )
    story.stops("R3", "lane-held", "time")
    assert story.state(FleetState).starts["api"].current_run == "R2"
    story.stops("R2", "complete", "nobody")
    assert story.state(FleetState).starts.get("api", LaneStarts()).current_run == ""
