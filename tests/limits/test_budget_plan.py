"""What was spent, what is left, and when a person is told or asked."""

import pytest
from budget_story import DAY, DAY_MS, Story, T, judged
from hypothesis import given
from hypothesis import strategies as st

from dos.agents.adapter import Ending, Usage
from dos.journal import fold
from dos.journal.backends.memory import MemoryBackend
from dos.journal.events.fleet import WorkerReaped
from dos.journal.events.limits import BudgetSpent, BudgetWarned, RunParked, RunUnparked
from dos.journal.store import Store
from dos.limits import budget
from dos.limits.accounts import Iteration, RunAccount
from dos.limits.budget import Answer, Spent
from dos.limits.policy import Budget, Budgets, TokenPrice
from dos.limits.state.costs import costs, render
from dos.limits.state.ledger import LANDED, REJECTED, REPLAN
from dos.limits.state.spend import DAYS_KEPT, RUNS_KEPT, FleetSpend
from dos.questions import resources, state
from dos.questions.state import Decisions
from dos.questions.subject import Fleet


def amounts(row):
    told = {name: getattr(row, name) for name in ("scope", "measure", "spent", "limit")}
    return {**told, "subject": str(row.account)}


ONE_TURN = Story().begin().turn(1, usd=8.0, tokens=800, seconds=480.0)


@pytest.mark.parametrize(
    ("budgets", "answer"),
    [
        (Budgets(), Answer.WITHIN),
        (Budgets(run=Budget(usd=10.01)), Answer.WITHIN),
        (Budgets(run=Budget(usd=10)), Answer.WARN),
        (Budgets(run=Budget(usd=8)), Answer.SPENT),
        (Budgets(run=Budget(tokens=1000)), Answer.WARN),
        (Budgets(lane=Budget(tokens=800)), Answer.SPENT),
        (Budgets(day=Budget(wall_minutes=8)), Answer.SPENT),
        (Budgets(day=Budget(wall_minutes=8.5)), Answer.WARN),
        (Budgets(day=Budget(iterations=1)), Answer.SPENT),
        (Budgets(day=Budget(iterations=2)), Answer.WITHIN),
        (Budgets(iteration=Budget(usd=8)), Answer.SPENT),
        (Budgets(run=Budget(usd=10), warn_at=0.9), Answer.WITHIN),
        (Budgets(run=Budget(usd=10), day=Budget(tokens=10)), Answer.SPENT),
    ],
)
def test_the_worst_of_all_limits_is_the_answer(budgets, answer):
    verdict = judged(ONE_TURN.folded, budgets, iteration=1)
    assert verdict.answer is answer
    assert verdict.may_start == (answer in (Answer.WITHIN, Answer.WARN))


@pytest.mark.parametrize(
    ("subject", "answer"),
    [
        ({"run_id": "R2"}, Answer.WITHIN),
        ({"lane": "docs"}, Answer.WITHIN),
        ({"now_ms": T + DAY_MS}, Answer.WITHIN),
        ({"iteration": 2}, Answer.WITHIN),
    ],
)
def test_a_budget_counts_its_own_subject_alone(subject, answer):
    scope = {"run_id": "run", "lane": "lane", "now_ms": "day", "iteration": "iteration"}[
        next(iter(subject))
    ]
    budgets = Budgets(**{scope: Budget(usd=1)})
    assert judged(ONE_TURN.folded, budgets, **({"iteration": 1} | subject)).answer is answer
    assert judged(ONE_TURN.folded, budgets, iteration=1).answer is Answer.SPENT


def test_what_is_left_is_the_least_that_any_limit_leaves():
    budgets = Budgets(
        run=Budget(usd=10, tokens=10_000, wall_minutes=10), day=Budget(usd=9, tokens=900)
    )
    assert budget.allowance(judged(ONE_TURN.folded, budgets)) == budget.Allowance(
        usd=1.0, tokens=100.0, wall_seconds=120.0
    )
    assert budget.allowance(judged(ONE_TURN.folded, Budgets())) == budget.Allowance()
    assert budget.allowance(judged(ONE_TURN.folded, Budgets(run=Budget(usd=3)))).usd == 0.0


@pytest.mark.parametrize(
    ("left", "used", "why"),
    [
        (budget.Allowance(), Usage(output_tokens=10**9, cost_usd=99.0), ""),
        (
            budget.Allowance(tokens=100),
            Usage(input_tokens=40, cached_tokens=30, output_tokens=29),
            "",
        ),
        (
            budget.Allowance(tokens=100),
            Usage(input_tokens=40, cached_tokens=30, output_tokens=30),
            "100 of 100 tokens",
        ),
        (budget.Allowance(usd=0.5), Usage(cost_usd=3.0), "$3.00 of $0.50"),
        (budget.Allowance(usd=0.5), Usage(model="large", output_tokens=10**6), "$2.00 of $0.50"),
        (budget.Allowance(usd=0.5), Usage(model="nobody-knows", output_tokens=10**6), ""),
        (
            budget.Allowance(usd=1, tokens=1),
            Usage(output_tokens=1, cost_usd=1.0),
            "$1.00 of $1.00, 1 of 1 tokens",
        ),
    ],
)
def test_an_agent_has_used_all_that_it_may_by_what_it_told(left, used, why):
    assert budget.overspent(left, [used], {"large": TokenPrice(input=1, output=2, cached=0)}) == why


def test_an_iteration_that_an_agent_used_up_is_told_once():
    budgets = Budgets(iteration=Budget(usd=9, tokens=900), run=Budget(usd=9))
    rows = judged(ONE_TURN.folded, budgets, iteration=1).lines
    (row,) = budget.used_up(rows, Spent(usd=1.0, tokens=50))
    assert (row.scope, row.measure, row.spent) == ("iteration", "usd", 9.0)
    story = Story().begin().turn(1, usd=8.0, tokens=800)
    story.tell(BudgetSpent(**amounts(row)), stream="run/R1")
    assert (
        budget.used_up(judged(story.folded, budgets, iteration=1).lines, Spent(usd=1.0, tokens=50))
        == []
    )


def test_people_are_warned_once_for_each_limit():
    story = Story().begin().turn(1, usd=8.0)
    budgets = Budgets(run=Budget(usd=10))
    (row,) = judged(story.folded, budgets).to_warn
    story.tell(BudgetWarned(**amounts(row)), stream="budget")
    assert judged(story.folded, budgets).to_warn == ()
    assert judged(story.folded, budgets).answer is Answer.WARN
    assert judged(story.folded, Budgets(run=Budget(usd=10.5), warn_at=0.5)).to_warn != ()


def ask_and_answer(story, row, choice):
    """As the fleet and a person do it."""
    entry = state.raise_entry(resources.BudgetSpent.ask(row))
    story.tell(entry.body, stream=entry.stream)
    waiting = fold.fold(Decisions(), story.teller.happened).open[entry.body.id]
    for written in state.answer_entries(waiting, choice, by="ann"):
        story.tell(written.body, stream=written.stream)


def test_a_spent_budget_is_asked_about_raised_and_asked_about_again_until_the_answer_is_no():
    story, budgets = Story().begin().turn(1, usd=10.0), Budgets(run=Budget(usd=10))
    first = judged(story.folded, budgets)
    assert first.answer is Answer.SPENT
    ask_and_answer(story, first.to_ask[0], "raise")
    raised = judged(story.folded, budgets)
    assert (raised.answer, raised.lines[0].limit) == (Answer.WITHIN, 20.0)
    story.turn(2, usd=11.0)
    second = judged(story.folded, budgets)
    assert (
        resources.BudgetSpent.ask(second.to_ask[0]).id
        != resources.BudgetSpent.ask(first.to_ask[0]).id
    )
    ask_and_answer(story, second.to_ask[0], "stop")
    refused = judged(story.folded, budgets)
    assert (refused.answer, refused.to_ask, refused.may_start) == (Answer.REFUSED, (), False)


def test_who_waits_is_told_until_when_and_the_next_day_is_another_budget():
    story, budgets = Story().begin().turn(1, usd=10.0), Budgets(day=Budget(usd=10))
    row = judged(story.folded, budgets).to_ask[0]
    question = resources.BudgetSpent.ask(row)
    assert {choice.name for choice in question.choices} == {"raise", "wait", "stop"}
    assert (question.expires_ms, question.otherwise, question.waits) == (
        row.ends_ms,
        "wait",
        (Fleet(),),
    )
    ask_and_answer(story, row, "wait")
    waiting = judged(story.folded, budgets)
    assert (waiting.answer, waiting.to_ask, waiting.until_ms) == (
        Answer.SPENT,
        (),
        budget.day_end_ms(DAY),
    )
    assert budget.day_of(waiting.until_ms) == "2027-01-16"
    assert judged(story.folded, budgets, now_ms=T + DAY_MS).answer is Answer.WITHIN


def test_an_unknown_price_is_said_to_be_unknown_and_refused_where_the_policy_says_so():
    story = Story().begin().turn(1, usd=None)
    allowed, refused = (
        Budgets(run=Budget(usd=10)),
        Budgets(run=Budget(usd=10), unknown_price="refuse"),
    )
    verdict = judged(story.folded, allowed)
    assert (verdict.answer, verdict.lines[0].unpriced) == (Answer.WITHIN, 1)
    assert judged(story.folded, refused).answer is Answer.UNPRICED
    assert judged(FleetSpend(), refused).answer is Answer.WITHIN
    assert (
        judged(story.folded, Budgets(run=Budget(tokens=1000), unknown_price="refuse")).answer
        is Answer.WITHIN
    )


PRICES = {
    "large-1": TokenPrice(input=3.0, output=15.0, cached=0.3),
    "tiny": TokenPrice(input=1, output=1, cache_write=2),
}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ([], None),
        ([Usage(model="large-1", input_tokens=1_000_000)], 3.0),
        ([Usage(model="large-1", cached_tokens=1_000_000, cache_write_tokens=1_000_000)], 3.3),
        ([Usage(model="tiny", cache_write_tokens=1_000_000)], 2.0),
        ([Usage(model="tiny", cached_tokens=1_000_000)], 1.0),
        ([Usage(model="large-1-20260101", output_tokens=1_000_000)], 15.0),
        ([Usage(model="large-1-mini", output_tokens=1_000_000)], None),
        ([Usage(model="other", output_tokens=1, cost_usd=0.25)], 0.25),
        ([Usage(model="large-1", output_tokens=1_000_000, cost_usd=0.25)], 0.25),
        ([Usage(model="large-1", input_tokens=1), Usage(model="other", input_tokens=1)], None),
        ([Usage(model="large-1", input_tokens=1_000_000), Usage(model="x", cost_usd=1.0)], 4.0),
    ],
)
def test_price(usage, expected):
    assert budget.price(usage, PRICES) == (None if expected is None else pytest.approx(expected))


def test_what_was_spent_is_told_by_what_became_of_it():
    story = Story().begin()
    story.start(iteration=1).end(iteration=1, usd=1.0).commit(iteration=1, outcome="UNCLEAR")
    story.start(iteration=2).end(iteration=2, usd=2.0).land().commit(iteration=2)
    story.start(iteration=3, unit="").end(iteration=3, unit="", usd=4.0).commit(
        iteration=3, unit="", outcome="REPLAN_DONE"
    )
    story.start(iteration=4, unit="U2")
    whole = story.folded.whole
    assert {name: spent.usd for name, spent in whole.by_outcome.items()} == {
        REJECTED: 1.0,
        LANDED: 2.0,
        REPLAN: 4.0,
    }
    assert (whole.total.usd, whole.units, whole.undecided) == (7.0, 1, 1)
    unit = story.folded.units["U1"]
    assert (
        unit.outcome_total(REJECTED).usd,
        unit.outcome_total(LANDED).usd,
        unit.total.iterations,
    ) == (1.0, 2.0, 2)
    assert story.folded.agents["a"].total.agents == 4


def test_a_retry_is_no_iteration_of_its_own():
    assert Story().begin().turn(1).turn(1).folded.spent(Iteration(run_id="R1", number=1)).usd == 2.0
    story = Story().begin().turn(1).turn(1).turn(2)
    assert (story.folded.whole.total.iterations, story.folded.whole.total.agents) == (2, 3)
    assert story.folded.spent(Iteration(run_id="R1", number=2)).usd == 1.0


def test_a_landing_that_another_run_recognised_is_counted_for_the_one_that_paid():
    story = Story().begin().start().end(usd=3.0)
    story.tell(WorkerReaped(lane="api", run_id="R1", lease=1, reason="gone"))
    story.begin("R2").land("R2", recognised=True)
    assert story.folded.units["U1"].outcome_total(LANDED).usd == 3.0
    assert story.folded.whole.undecided == 0


def test_what_a_dead_worker_paid_for_is_lost_when_another_begins_anew():
    story = Story().begin().start().end(usd=3.0)
    story.tell(WorkerReaped(lane="api", run_id="R1", lease=1, reason="gone"))
    assert story.folded.whole.undecided == 1
    story.begin("R2").start("R2").end("R2", usd=1.0).land("R2").commit("R2")
    unit = story.folded.units["U1"]
    assert (unit.outcome_total(REJECTED).usd, unit.outcome_total(LANDED).usd) == (3.0, 1.0)


def test_time_that_only_passed_is_parked_or_idle_and_never_both():
    story = Story().begin().turn(1, seconds=60.0)
    story.tell(RunParked(run_id="R1", lane="api", why="quota"), 5.0)
    story.tell(RunUnparked(run_id="R1", lane="api"), 100.0)
    story.stop(seconds=5.0)
    book = story.folded.whole
    assert (book.total.seconds, book.parked_seconds, book.idle_seconds) == (60.0, 100.0, 10.0)


def test_the_days_on_which_a_dead_worker_lay_unseen_are_nobodys_idle_time():
    story = Story().begin().turn(1, seconds=60.0)
    story.tell(WorkerReaped(lane="api", run_id="R1", lease=1, reason="gone"), 10 * 86_400)
    assert story.folded.whole.idle_seconds == 0.0


def test_an_agent_whose_end_was_never_recorded_has_an_unknown_cost():
    story = Story().begin().start()
    assert costs(story.folded, "unit").total.total.unpriced == 0, "it is at work"
    story.tell(WorkerReaped(lane="api", run_id="R1", lease=1, reason="gone"))
    story.begin("R2").start("R2")  # nobody saw the death of this one
    story.begin("R3").start("R3").end("R3", usd=None).start("R3", unit="U2").end("R3", unit="U2")
    story.stop("R3")
    report = costs(story.folded, "unit")
    assert (report.total.total.usd, report.total.total.tokens) == (None, None)
    assert (report.total.total.known_usd, report.total.total.unpriced) == (1.0, 3)
    assert [row.total.unpriced for row in report.rows] == [3, 0]
    assert "The cost of 3 of 4 agent runs is unknown and not included" in render(report)
    assert story.folded.whole.total.unpriced == 1, "no budget is held for a dead worker"


def test_waits_are_shown_for_lanes_and_not_as_zero_for_units():
    story = Story().begin().turn(1, seconds=60.0).stop(seconds=5.0)
    _, unit, total, *_ = render(costs(story.folded, "unit")).splitlines()
    assert unit.split()[-2:] == ["–", "–"]
    assert total.split()[-4:] == ["0", "s", "5", "s"]
    _, lane, *_ = render(costs(story.folded, "lane")).splitlines()
    assert lane.split()[-4:] == ["0", "s", "5", "s"]


def test_a_failed_launch_costs_nothing_and_an_agent_without_a_report_costs_an_unknown_amount():
    story = Story().begin().turn(1, usd=None, tokens=None, outcome=Ending.LAUNCH_FAILED)
    assert story.folded.whole.total.unpriced == 0
    story.turn(2, usd=None, tokens=None)
    assert (story.folded.whole.total.unpriced, story.folded.whole.total.unmetered) == (1, 1)


def test_the_state_stays_small_however_long_the_fleet_runs():
    story = Story()
    for number in range(RUNS_KEPT + 50):
        run = f"R{number}"
        story.begin(run).start(run).end(run, seconds=DAY_MS / 4000).commit(run).stop(run)
        story.tell(
            BudgetSpent(scope="run", subject=run, measure="usd", spent=1, limit=1), stream="budget"
        )
    ledger = story.folded
    assert len(ledger.runs) <= RUNS_KEPT
    assert len(ledger.days) <= DAYS_KEPT + 1
    assert len(ledger.lanes) <= DAYS_KEPT + 1
    assert len(ledger.marks) <= RUNS_KEPT + 1
    assert ledger.whole.total.usd == ledger.units["U1"].total.usd == RUNS_KEPT + 50


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "start", "end", "land", "commit", "stop", "turn"]),
        st.sampled_from(["R1", "R2"]),
        st.integers(1, 3),
    ),
    max_size=25,
)


def told(steps):
    story = Story()
    for what, run, number in steps:
        match what:
            case "turn":
                story.turn(number)
            case "start" | "end" | "commit":
                getattr(story, what)(run, iteration=number)
            case _:
                getattr(story, what)(run)
    return story


@given(STEPS, st.integers(0, 60))
def test_folding_in_two_parts_is_folding_at_once(steps, cut):
    happened = told(steps).teller.happened
    kept = fold.decode(FleetSpend, fold.encode(fold.fold(FleetSpend(), happened[:cut])))
    assert fold.fold(kept, happened[cut:]) == fold.fold(FleetSpend(), happened)


@given(STEPS)
def test_nothing_is_counted_twice_and_nothing_is_lost(steps):
    ledger = told(steps).folded
    of_lanes = [book for of_day in ledger.lanes.values() for book in of_day.values()]
    for books in (ledger.days.values(), of_lanes, ledger.agents.values()):
        assert sum((book.total for book in books), Spent()) == ledger.whole.total
    for book in (ledger.whole, *ledger.days.values(), *ledger.units.values()):
        assert sum((spent.usd for spent in book.by_outcome.values()), 0.0) <= book.total.usd


@given(
    st.lists(st.tuples(st.floats(0.01, 5), st.integers(1, 500), st.floats(1, 300)), max_size=30),
    st.data(),
)
def test_a_budget_is_never_overdrawn_by_more_than_one_iteration(turns, data):
    limits = Budget(
        usd=data.draw(st.floats(1, 20)), tokens=data.draw(st.integers(1, 2000)), iterations=10
    )
    story = Story().begin()
    largest = (0.0, 0)
    for number, (usd, tokens, seconds) in enumerate(turns, 1):
        if not judged(story.folded, Budgets(run=limits)).may_start:
            break
        largest = (max(largest[0], usd), max(largest[1], tokens))
        story.turn(number, usd=usd, tokens=tokens, seconds=seconds)
    spent = story.folded.spent(RunAccount(run_id="R1"))
    assert spent.usd <= limits.usd + largest[0] + 1e-6
    assert spent.tokens <= limits.tokens + largest[1]
    assert spent.iterations <= limits.iterations


def test_a_restart_forgets_nothing():
    store = Store(MemoryBackend())
    story = Story().begin().turn(1, usd=8.0)
    for event in story.teller.happened:
        store.append(event.stream, event.kind, event.body)
    before, pos = fold.current(store, FleetSpend)
    fold.save_snapshot(store, before, pos)
    again, _ = fold.current(store, FleetSpend)
    assert again == before
    assert again.spent(RunAccount(run_id="R1")).usd == 8.0
