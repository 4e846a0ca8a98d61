"""Choose the agent that may start now, by the limits of the providers and by the budgets.

A worker asks before each iteration, and a supervisor before it starts a worker, so that no worker
is started only to wait.
"""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from msgspec import Struct

from dos.agents import logins
from dos.agents.adapter import Ending
from dos.backlog.waiting import WaitsOn
from dos.config.schema import Config
from dos.fleet.effects import AgentChoice, BudgetReservation, CannotStart
from dos.fleet.population.reconcile import NO_ROOM_STOP
from dos.fleet.state.fleet import FleetState, LaneStarts
from dos.journal.events.envelope import Fact
from dos.journal.events.limits import BudgetPromised, BudgetSpent, BudgetWarned
from dos.limits import budget, quota
from dos.limits.budget import Answer, BudgetLine
from dos.limits.quota import AgentCandidate, Gated, Probe
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import FleetSpend
from dos.questions import resources
from dos.questions.catalog import AnyQuestion
from dos.reasons.table import Needs

LATE_MS = 600_000  # so long after its wall clock an agent without a recorded end is gone


class AgentRequest(Struct, frozen=True, kw_only=True):
    """The iteration that an agent is needed for, and the time."""

    run_id: str
    lane: str
    iteration: int
    now_ms: int


def choose(
    config: Config,
    agents: Sequence[AgentCandidate],
    limits: ProviderLimits,
    spend: FleetSpend,
    request: AgentRequest,
) -> AgentChoice | CannotStart:
    """Return the first of the agents that may start, or why none may and until when.

    Budgets come before limits: where a budget is spent, no other agent would help. A choice has to
    be recorded before the agent starts, where it reserves money or probes a limit.
    """
    now_ms = request.now_ms
    verdict = budget.judge(
        spend,
        config.budgets,
        run_id=request.run_id,
        lane=config.lanes.whole_of(request.lane) or request.lane,
        now_ms=now_ms,
        iteration=request.iteration,
    )
    if not verdict.may_start:
        return _budget_spent(verdict)
    choice = quota.choose(
        limits.limits, agents, lane=request.lane, now_ms=now_ms, policy=config.quota
    )
    warnings: list[Fact] = [BudgetWarned(**_amounts(line)) for line in verdict.to_warn]
    if choice.agent is None:
        assert isinstance(choice.availability, Gated)
        return _limit_reached(choice.availability, limits, warnings)
    usd = budget.most_usd(verdict, choice.agent.max_usd)
    if short := budget.short_budgets(verdict, usd):
        return _budget_reserved(short, spend, now_ms)
    reservation: BudgetReservation | None = None
    if any(line.scope in budget.SHARED for line in verdict.lines):
        reservation = _reservation(config, spend, request, usd)
    return AgentChoice(
        agent=choice.agent,
        now_ms=now_ms,
        probe=choice.availability if isinstance(choice.availability, Probe) else None,
        reservation=reservation,
        allowance=budget.allowance(verdict),
        budget_rows=verdict.lines,
        warnings=warnings,
    )


def first_available(refusals: Sequence[CannotStart]) -> CannotStart:
    """Return the refusal that ends first; one that only a person can clear comes last."""

    def ends_ms(refusal: CannotStart) -> float:
        return inf if refusal.until_ms is None else refusal.until_ms

    return min(refusals, key=ends_ms)


def lanes_without_agent(
    config: Config,
    agents: Mapping[str, Sequence[Sequence[AgentCandidate]]],
    limits: ProviderLimits,
    spend: FleetSpend,
    state: FleetState,
    *,
    now_ms: int,
) -> dict[str, CannotStart]:
    """Return the lanes on which no agent may start, each with why; no worker is started there.

    `agents` has, for each lane, one list of candidates for each agent that a unit asks for. A
    lane can start as long as one of its units has an agent. Where a run stopped because its own
    budget was spent, that run's budget counts until a person has answered.
    """
    refused: dict[str, CannotStart] = {}
    for lane, candidate_lists in agents.items():
        stopped = state.starts.get(lane, LaneStarts()).stopped
        run_id = ""
        if stopped and stopped.reason == NO_ROOM_STOP:
            run_id = stopped.run_id
        iteration = spend.runs[run_id].iteration if run_id in spend.runs else 0
        request = AgentRequest(run_id=run_id, lane=lane, iteration=iteration, now_ms=now_ms)
        refusals = []
        for candidates in candidate_lists:
            choice = choose(config, candidates, limits, spend, request)
            if isinstance(choice, CannotStart):
                refusals.append(choice)
        if refusals and len(refusals) == len(candidate_lists):
            refused[lane] = first_available(refusals)
    return refused


def spent_facts(lines: Sequence[BudgetLine]) -> list[Fact]:
    """Return the facts that record these budgets as spent."""
    return [BudgetSpent(**_amounts(line)) for line in lines]


def _reservation(
    config: Config, spend: FleetSpend, request: AgentRequest, usd: float
) -> BudgetReservation:
    """Reserve money of the shared budgets until the agent must have ended."""
    seconds = config.workers.setup_seconds + config.workers.wall_seconds
    fact = BudgetPromised(
        run_id=request.run_id,
        lane=config.lanes.whole_of(request.lane) or request.lane,
        iteration=request.iteration,
        usd=usd,
        until_ms=request.now_ms + int(seconds * 1000) + LATE_MS,
    )
    return BudgetReservation(fact=fact, version=spend.promised_at)


def _budget_reserved(lines: Sequence[BudgetLine], spend: FleetSpend, now_ms: int) -> CannotStart:
    """The rest of a budget is reserved for agents at work.

    The end of any of them wakes the run. A reservation whose agent never recorded its end runs
    out.
    """
    ends_ms = []
    for reservation in spend.reservations.values():
        if reservation.until_ms > now_ms:
            ends_ms.append(reservation.until_ms)
    return CannotStart(
        waits_on=WaitsOn.BUDGET,
        parked_for="budget",
        detail="; ".join(map(str, lines)),
        until_ms=min(ends_ms),
        needs=Needs.TIME,
        is_reserved=True,
    )


def _budget_spent(verdict: budget.Verdict) -> CannotStart:
    """The budgets allow no agent: a person is asked, unless one has answered already."""
    questions: list[AnyQuestion] = []
    if verdict.answer is Answer.SPENT:
        questions = [resources.BudgetSpent.ask(line) for line in verdict.to_ask]
    newly_spent = [line for line in verdict.to_ask if line.history.spent_at < line.limit]
    return CannotStart(
        waits_on=WaitsOn.BUDGET,
        parked_for="budget",
        detail=verdict.reason,
        until_ms=verdict.until_ms,
        needs=Needs.OPERATOR if verdict.until_ms is None else Needs.TIME,
        questions=questions,
        warnings=spent_facts(newly_spent),
    )


def _limit_reached(gate: Gated, limits: ProviderLimits, warnings: list[Fact]) -> CannotStart:
    """Every agent is limited: wait until the first is available, or ask a person to clear it."""
    limit = limits.limits.get(gate.key.path)
    questions: list[AnyQuestion] = []
    if limit and (gate.until_ms is None or quota.is_doubted(limit)):
        questions = [resources.limit_question(limit)]
    waits_on = WaitsOn.LIMIT
    clears_with = ""
    if limit and limit.ending == Ending.AUTH:
        waits_on = WaitsOn.LOGIN
        clears_with = logins.login_command(gate.key.vendor)
    return CannotStart(
        waits_on=waits_on,
        parked_for="quota",
        detail=gate.why,
        until_ms=gate.until_ms,
        needs=gate.needs,
        questions=questions,
        warnings=warnings,
        clears_with=clears_with,
        limit=gate.key.path,
        is_probed=gate.is_probed,
    )


def _amounts(line: BudgetLine) -> dict[str, Any]:
    """The fields that every event about a budget has."""
    return {
        "scope": line.scope,
        "subject": str(line.account),
        "measure": line.measure,
        "spent": line.spent,
        "limit": line.limit,
    }
