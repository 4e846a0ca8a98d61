"""Who may be started now: by what the providers said, and by what the budgets leave."""

from collections.abc import Sequence
from math import inf
from typing import Any

from dos.agents import logins
from dos.agents.adapter import Ending
from dos.backlog.waiting import WaitsOn
from dos.config.schema import Config
from dos.fleet.effects import AgentChoice, BudgetReservation, CannotStart
from dos.journal.events.envelope import Fact
from dos.journal.events.limits import BudgetPromised, BudgetSpent, BudgetWarned
from dos.limits import budget, quota
from dos.limits.budget import Answer, BudgetLine
from dos.limits.quota import AgentCandidate, Gated, Probe
from dos.limits.state.quota import ProviderLimits
from dos.limits.state.spend import Spend
from dos.questions import resources
from dos.questions.catalog import AnyQuestion
from dos.reasons.table import Needs

LATE_MS = 600_000  # after its wall clock, an agent that has not ended has no worker any more


def choose(
    config: Config,
    agents: Sequence[AgentCandidate],
    limits: ProviderLimits,
    spend: Spend,
    *,
    run_id: str,
    lane: str,
    iteration: int,
    now_ms: int,
) -> AgentChoice | CannotStart:
    verdict = budget.judge(
        spend, config.budgets, run_id=run_id, lane=lane, now_ms=now_ms, iteration=iteration
    )
    if not verdict.may_start:
        return _spent(verdict)
    choice = quota.choose(limits.limits, agents, lane=lane, now_ms=now_ms, policy=config.quota)
    told: list[Fact] = [BudgetWarned(**_amounts(row)) for row in verdict.to_warn]
    if choice.agent is None:
        assert isinstance(choice.availability, Gated)
        return _gated(choice.availability, limits, told)
    usd = budget.most_usd(verdict, choice.agent.max_usd)
    if crowded := budget.short_budgets(verdict, usd):
        return _crowded(crowded, spend, now_ms)
    promise = None
    if any(row.scope in budget.SHARED for row in verdict.lines):
        until_ms = (
            now_ms
            + int((config.workers.setup_seconds + config.workers.wall_seconds) * 1000)
            + LATE_MS
        )
        fact = BudgetPromised(
            run_id=run_id, lane=lane, iteration=iteration, usd=usd, until_ms=until_ms
        )
        promise = BudgetReservation(fact=fact, version=spend.promised_at)
    return AgentChoice(
        agent=choice.agent,
        now_ms=now_ms,
        probe=choice.availability if isinstance(choice.availability, Probe) else None,
        reservation=promise,
        allowance=budget.allowance(verdict),
        budget_rows=verdict.lines,
        warnings=told,
    )


def first_available(refusals: Sequence[CannotStart]) -> CannotStart:
    """Of several agents that have no room, the one to wait for; one that only a person can help comes last."""
    return min(refusals, key=lambda room: inf if room.until_ms is None else room.until_ms)


def _crowded(rows: Sequence[BudgetLine], spend: Spend, now_ms: int) -> CannotStart:
    """The end of any of the agents at work is a word that is heard; one whose end nobody wrote down is outwaited."""
    ends = [
        promise.until_ms for promise in spend.reservations.values() if promise.until_ms > now_ms
    ]
    return CannotStart(
        waits_on=WaitsOn.BUDGET,
        parked_for="budget",
        detail="; ".join(map(str, rows)),
        until_ms=min(ends),
        needs=Needs.TIME,
        is_reserved=True,
    )


def _spent(verdict: budget.Verdict) -> CannotStart:
    waits = verdict.until_ms is not None
    fresh = [row for row in verdict.to_ask if row.history.spent_at < row.limit]
    return CannotStart(
        waits_on=WaitsOn.BUDGET,
        parked_for="budget",
        detail=verdict.reason,
        until_ms=verdict.until_ms,
        needs=Needs.TIME if waits else Needs.OPERATOR,
        questions=[resources.BudgetSpent.ask(row) for row in verdict.to_ask]
        if verdict.answer is Answer.SPENT
        else [],
        warnings=spent_facts(fresh),
    )


def _gated(gate: Gated, limits: ProviderLimits, told: list[Fact]) -> CannotStart:
    found = limits.limits.get(gate.key.path)
    asks: list[AnyQuestion] = (
        [resources.limit_question(found)] if found and _wants_a_person(gate, found) else []
    )
    is_login = found is not None and found.ending == Ending.AUTH
    return CannotStart(
        waits_on=WaitsOn.LOGIN if is_login else WaitsOn.LIMIT,
        parked_for="quota",
        detail=gate.why,
        until_ms=gate.until_ms,
        needs=gate.needs,
        questions=asks,
        warnings=told,
        clears_with=logins.login_command(gate.key.vendor) if is_login else "",
        limit=gate.key.path,
    )


def _wants_a_person(gate: Gated, limit: quota.Limit) -> bool:
    return gate.until_ms is None or quota.is_doubted(limit)


def spent_facts(rows: Sequence[BudgetLine]) -> list[Fact]:
    return [BudgetSpent(**_amounts(row)) for row in rows]


def _amounts(row: BudgetLine) -> dict[str, Any]:
    return {
        "scope": row.scope,
        "subject": str(row.account),
        "measure": row.measure,
        "spent": row.spent,
        "limit": row.limit,
    }
