"""A budget that several agents use: what one may still need is not given to another."""

import pytest
from budget_story import DAY, Story, T, judged
from hypothesis import given, settings
from hypothesis import strategies as st

from dos.config.schema import Config
from dos.fleet import choose_agent
from dos.fleet.effects import AgentChoice, CannotStart
from dos.fleet.population.workers import Workers
from dos.fleet.state.fleet import FleetState
from dos.journal.events.fleet import RunBegun, WorkerReaped
from dos.journal.events.limits import RunParked
from dos.lanes.policy import Lanes
from dos.limits import budget
from dos.limits.accounts import Day
from dos.limits.policy import Budget, Budgets
from dos.limits.quota import AgentCandidate
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.reasons.table import Needs

TEN = Budgets(day=Budget(usd=10))
CAPPED = AgentCandidate(name="a", vendor="v", max_usd=4.0)


SHARED = Lanes(repeatable=("docs",), trees={"docs": ("docs/**",)})


def chosen(
    spend, budgets=TEN, *, agent=CAPPED, run="R9", lane="docs", iteration=1, now_ms=T, lanes=Lanes()
):
    workers = Workers(wall_seconds=60, setup_seconds=60)
    config = Config(budgets=budgets, workers=workers, lanes=lanes)
    return choose_agent.choose(
        config,
        [agent],
        ProviderLimits(),
        spend,
        choose_agent.AgentRequest(run_id=run, lane=lane, iteration=iteration, now_ms=now_ms),
    )


def at_work(*usd):
    """As many agents as are named, each with its promise."""
    story = Story()
    for number, each in enumerate(usd):
        run, lane = f"R{number}", f"lane{number}"
        story.begin(run, lane).promise(run, lane, usd=each).start(run, lane, unit=f"U{number}")
    return story


def test_what_is_left_is_what_nobody_else_may_need():
    choice = chosen(at_work(4.0).folded)
    assert isinstance(choice, AgentChoice)
    assert (choice.allowance.usd, choice.reservation.fact.usd, choice.reservation.version) == (
        6.0,
        4.0,
        1,
    )


def test_an_agent_that_could_overdraw_the_rest_waits_for_the_next_end():
    story = at_work(4.0, 4.0)
    choice = chosen(story.folded)
    assert isinstance(choice, CannotStart)
    assert (choice.parked_for, choice.needs, choice.questions) == ("budget", Needs.TIME, [])
    assert (
        choice.detail == f"the fleet on {DAY}: $0.00 of $10.00, $8.00 reserved for agents at work"
    )
    assert choice.until_ms == min(
        promise.until_ms for promise in story.folded.reservations.values()
    )


@pytest.mark.parametrize(
    "end",
    [
        lambda story: story.end("R0", "lane0", unit="U0", usd=0.5),
        lambda story: story.stop("R0", "lane0"),
        lambda story: story.commit("R0", "lane0", unit="U0"),
        lambda story: story.tell(RunParked(run_id="R0", lane="lane0", why="quota")),
        lambda story: story.tell(WorkerReaped(lane="lane0", run_id="R0", lease=1, reason="gone")),
    ],
    ids=["ended", "stopped", "committed", "parked", "reaped"],
)
def test_whatever_ends_an_agent_frees_what_was_promised_and_wakes_who_waits(end):
    story = at_work(4.0, 4.0)
    before = story.fold(FleetState()).wake_pos
    assert isinstance(chosen(end(story).folded), AgentChoice)
    assert story.fold(FleetState()).wake_pos > before


def test_a_promise_whose_end_nobody_wrote_is_over_with_its_time():
    story = at_work(4.0, 4.0)
    assert isinstance(chosen(story.folded, now_ms=T + 3_600_000), AgentChoice)


def test_the_last_of_a_budget_goes_to_one_agent_although_it_could_need_more():
    story = Story().begin().turn(1, usd=8.0)
    choice = chosen(story.folded)
    assert isinstance(choice, AgentChoice) and choice.allowance.usd == 2.0


def test_the_iterations_of_a_day_are_counted_before_their_agents_start():
    budgets = Budgets(day=Budget(iterations=1))
    story = Story().begin("R0", "lane0").promise("R0", "lane0")
    assert isinstance(chosen(story.folded, budgets), CannotStart)
    assert isinstance(chosen(story.folded, budgets, run="R0", lane="lane0"), AgentChoice), (
        "its own promise is its own"
    )
    story.start("R0", "lane0")
    assert story.folded.promised(Day(day=DAY), besides="", now_ms=T).iterations == 0, (
        "it counts as spent now"
    )
    assert judged(story.folded, budgets).answer is budget.Answer.SPENT


@pytest.mark.parametrize(
    ("budgets", "agent", "bound"),
    [
        (TEN, CAPPED, 4.0),
        (TEN, AgentCandidate(name="a", vendor="v"), 0.0),
        (Budgets(day=Budget(usd=10), iteration=Budget(usd=3)), CAPPED, 3.0),
        (Budgets(day=Budget(usd=10), run=Budget(usd=2)), CAPPED, 2.0),
        (Budgets(lane=Budget(tokens=10)), CAPPED, 4.0),
    ],
)
def test_what_one_start_can_cost_is_the_least_that_bounds_it(budgets, agent, bound):
    assert chosen(FleetSpend(), budgets, agent=agent).reservation.fact.usd == bound


@pytest.mark.parametrize(
    "budgets", [Budgets(), Budgets(run=Budget(usd=10), iteration=Budget(usd=1))]
)
def test_nothing_is_promised_where_nothing_is_shared(budgets):
    assert chosen(FleetSpend(), budgets).reservation is None


def test_lanes_have_their_own_budgets_of_a_day():
    budgets = Budgets(lane=Budget(usd=5))
    story = Story().begin("R0", "docs").promise("R0", "docs", usd=4.0)
    assert isinstance(chosen(story.folded, budgets, lane="docs"), CannotStart)
    assert isinstance(chosen(story.folded, budgets, lane="api"), AgentChoice)


def test_the_parts_of_a_lane_use_the_budget_of_the_lane():
    budgets = Budgets(lane=Budget(usd=5))
    begun = RunBegun(run_id="R0", lane="docs/A/A1", host="h", start_sha="", part_of="docs")
    story = Story().tell(begun)
    story.start("R0", "docs/A/A1").end("R0", "docs/A/A1", usd=4.5)
    assert list(story.folded.lanes[DAY]) == ["docs"]
    choice = chosen(story.folded, budgets, lane="docs/A/A2", lanes=SHARED)
    assert isinstance(choice, AgentChoice)
    assert (choice.allowance.usd, choice.reservation.fact.lane) == (0.5, "docs")
    story.promise("R1", "docs", usd=0.5)
    assert isinstance(chosen(story.folded, budgets, lane="docs/A/A3", lanes=SHARED), CannotStart)
    assert isinstance(chosen(story.folded, budgets, lane="api", lanes=SHARED), AgentChoice)


@pytest.mark.soak
@settings(max_examples=200)
@given(
    limit=st.floats(1, 20),
    cap=st.floats(0.5, 5),
    order=st.lists(st.tuples(st.integers(0, 4), st.floats(0, 1)), max_size=40),
)
def test_however_agents_come_and_go_a_shared_budget_is_not_overdrawn(limit, cap, order):
    """Each of five runs starts an agent when there is room for one, and ends the one it has."""
    budgets, agent = (
        Budgets(day=Budget(usd=limit)),
        AgentCandidate(name="a", vendor="v", max_usd=cap),
    )
    story, running = Story(), {}
    for number, (run, share) in enumerate(order, 1):
        name, lane = f"R{run}", f"lane{run}"
        if name in running:
            iteration, most = running.pop(name)
            story.end(name, lane, iteration=iteration, usd=share * most)
        elif isinstance(
            choice := chosen(story.folded, budgets, agent=agent, run=name, lane=lane), AgentChoice
        ):
            assert choice.allowance.usd > 0
            running[name] = number, min(choice.allowance.usd, cap)
            story.promise(name, lane, iteration=number, usd=choice.reservation.fact.usd).start(
                name, lane, iteration=number
            )
        spent = story.folded.whole.total.usd
        assert spent <= limit + 1e-6
        assert spent + sum(most for _, most in running.values()) <= limit + 1e-6
