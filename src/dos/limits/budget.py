"""Decide whether the budgets allow another agent, and how much it may use.

A budget limits dollars, tokens, minutes or iterations, of an iteration, a run, a lane or a day.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Protocol

from msgspec import Struct, structs

from dos.agents.adapter import Usage
from dos.choices import ChoiceName
from dos.limits.accounts import (
    Account,
    Day,
    Iteration,
    LaneDay,
    Measure,
    RunAccount,
    Scope,
    format_amount,
    format_share,
)
from dos.limits.policy import Budget, Budgets, TokenPrice
from dos.text import plural

MILLION = 1_000_000
# Providers add dates to model names: `large-1-20260101` costs what `large-1` does, but
# `large-1-mini` does not.
_DATED = re.compile(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)\Z")


SHARED = (Scope.LANE, Scope.DAY)  # several agents use such a budget at a time


class Answer(StrEnum):
    """Whether an agent may start by the budgets."""

    WITHIN = "WITHIN"
    WARN = "WARN"  # start, and warn people
    UNPRICED = "UNPRICED"  # dollars are limited and a cost is unknown: start nothing
    SPENT = "SPENT"  # start nothing and ask a person
    REFUSED = "REFUSED"  # spent, and a person answered `stop`


class Spent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What agents used; `unpriced` and `unmetered` count those of unknown cost or tokens."""

    usd: float = 0.0
    unpriced: int = 0
    tokens: int = 0
    unmetered: int = 0
    seconds: float = 0.0
    iterations: int = 0
    agents: int = 0

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            usd=round(self.usd + other.usd, 9),
            unpriced=self.unpriced + other.unpriced,
            tokens=self.tokens + other.tokens,
            unmetered=self.unmetered + other.unmetered,
            seconds=round(self.seconds + other.seconds, 3),
            iterations=self.iterations + other.iterations,
            agents=self.agents + other.agents,
        )

    def amount(self, measure: Measure) -> float:
        """What was used of one measure."""
        match measure:
            case Measure.USD:
                return self.usd
            case Measure.TOKENS:
                return self.tokens
            case Measure.WALL_MINUTES:
                return self.seconds / 60
            case Measure.ITERATIONS:
                return self.iterations


class BudgetHistory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What people were told about one budget, and what they answered."""

    raised: float = 0.0  # by how much, in total
    said: str = ""  # the newest answer: raise | wait | stop
    asked: int = 0  # how many questions were answered
    warned_at: float = 0.0  # the limit that people were warned of
    spent_at: float = 0.0  # the limit that was recorded as spent


class SpendRecord(Protocol):
    """What was spent, folded from the journal."""

    def spent(self, account: Account) -> Spent:
        """What was used of an account."""

    def promised(self, account: Account, *, besides: str, now_ms: int) -> Spent:
        """What agents of other runs than `besides` may still use of an account."""

    def history(self, account: Account, measure: str) -> BudgetHistory:
        """What people were told about a budget of an account."""


class BudgetLine(Struct, frozen=True, kw_only=True):
    """One limit of one account, and how much of it is used."""

    account: Account
    measure: Measure
    spent: float
    limit: float
    unpriced: int = 0  # agents whose cost is not in `spent`
    promised: float = 0.0  # to agents of other runs that are at work
    history: BudgetHistory = BudgetHistory()

    @property
    def scope(self) -> Scope:
        return self.account.scope

    @property
    def share(self) -> float:
        return self.spent / self.limit

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit

    @property
    def rest(self) -> float:
        """What is neither used nor promised."""
        return max(0.0, self.limit - self.spent - self.promised)

    @property
    def ends_ms(self) -> int | None:
        """When the day of the budget ends; None for a budget that is not of a day."""
        if isinstance(self.account, LaneDay | Day):
            return day_end_ms(self.account.day)
        return None

    def __str__(self) -> str:
        """The budget for people: whose it is, how much is used, and what agents may still use."""
        used = format_share(self.spent, self.limit, self.measure)
        text = f"{self.account.words}: {used}"
        if self.unpriced:
            text += f", and {plural(self.unpriced, 'agent')} of unknown cost"
        if self.promised:
            text += f", {format_amount(self.promised, self.measure)} reserved for agents at work"
        return text


class Verdict(Struct, frozen=True, kw_only=True):
    """Whether an agent may start, and what to tell people."""

    answer: Answer
    reason: str
    lines: tuple[BudgetLine, ...] = ()
    to_warn: tuple[BudgetLine, ...] = ()  # near their end, and people were not warned yet
    to_ask: tuple[BudgetLine, ...] = ()  # spent, and not answered yet
    until_ms: int | None = None  # when the wait ends that a person asked for

    @property
    def may_start(self) -> bool:
        return self.answer in (Answer.WITHIN, Answer.WARN)


class Allowance(Struct, frozen=True, kw_only=True):
    """What one agent may use at most; None: nothing limits it."""

    usd: float | None = None
    tokens: float | None = None
    wall_seconds: float | None = None


def judge(
    record: SpendRecord,
    budgets: Budgets,
    *,
    run_id: str,
    lane: str,
    now_ms: int,
    iteration: int = 0,
) -> Verdict:
    """Decide whether an agent of a run may start now. A spent budget outranks a near one."""
    accounts = _accounts(run_id, lane, day_of(now_ms), iteration)
    lines = tuple(_lines(record, budgets, accounts, run_id, now_ms))
    spent = [line for line in lines if line.is_spent]
    near = [line for line in lines if not line.is_spent and line.share >= budgets.warn_at]
    refused = [line for line in spent if line.history.said == ChoiceName.STOP]
    unpriced = _unpriced_lines(lines, budgets)
    if refused:
        answer, causes = Answer.REFUSED, refused
    elif spent:
        answer, causes = Answer.SPENT, spent
    elif unpriced:
        answer, causes = Answer.UNPRICED, unpriced
    elif near:
        answer, causes = Answer.WARN, near
    else:
        answer, causes = Answer.WITHIN, []
    to_ask = tuple(line for line in spent if line.history.said in ("", ChoiceName.RAISE))
    until_ms = None
    if answer is Answer.SPENT and not to_ask:
        until_ms = _wait_end_ms(spent)
    return Verdict(
        answer=answer,
        reason="; ".join(map(str, causes)) or "within every budget",
        lines=lines,
        to_warn=tuple(line for line in near if line.history.warned_at < line.limit),
        to_ask=to_ask,
        until_ms=until_ms,
    )


def _wait_end_ms(spent: Sequence[BudgetLine]) -> int | None:
    """When the last of the budgets ends that a person answered with `wait`."""
    ends = [line.ends_ms for line in spent if line.history.said == ChoiceName.WAIT]
    return max((end for end in ends if end is not None), default=None)


def allowance(verdict: Verdict) -> Allowance:
    """What one agent may use: the least that any budget leaves."""
    rest: dict[Measure, float] = {}
    for line in verdict.lines:
        rest[line.measure] = min(rest.get(line.measure, line.limit), line.rest)
    wall_seconds = None
    if Measure.WALL_MINUTES in rest:
        wall_seconds = rest[Measure.WALL_MINUTES] * 60
    return Allowance(
        usd=rest.get(Measure.USD), tokens=rest.get(Measure.TOKENS), wall_seconds=wall_seconds
    )


def overspent(allowed: Allowance, usages: Sequence[Usage], prices: Mapping[str, TokenPrice]) -> str:
    """What an agent used of its allowance, once it is used up; empty while something is left."""
    tokens = sum(usage.tokens for usage in usages)
    measured = (
        (Measure.USD, price(usages, prices), allowed.usd),
        (Measure.TOKENS, tokens, allowed.tokens),
    )
    over = []
    for measure, used, most in measured:
        if used is not None and most is not None and used >= most:
            over.append(format_share(used, most, measure))
    return ", ".join(over)


def used_up(lines: Sequence[BudgetLine], spent: Spent) -> list[BudgetLine]:
    """The budgets of one iteration that an agent's end has used up, and that are not recorded."""
    spent_lines = []
    for line in lines:
        after = structs.replace(line, spent=line.spent + spent.amount(line.measure))
        is_new = after.history.spent_at < after.limit
        if after.scope is Scope.ITERATION and after.is_spent and is_new:
            spent_lines.append(after)
    return spent_lines


def most_usd(verdict: Verdict, max_usd: float | None) -> float:
    """The most that one start can cost; 0: not known.

    It is bounded by the agent's cap, and by the budgets of its own run. A program that reports
    what it costs only at its end may cost more.
    """
    bounds = []
    for line in verdict.lines:
        if line.measure is Measure.USD and line.scope not in SHARED:
            bounds.append(line.rest)
    if max_usd:
        bounds.append(max_usd)
    return min(bounds, default=0.0)


def short_budgets(verdict: Verdict, usd: float) -> list[BudgetLine]:
    """The budgets that agents at work may use up, so that an agent costing `usd` has to wait."""
    return [line for line in verdict.lines if line.promised and _is_short(line, usd)]


def _is_short(line: BudgetLine, usd: float) -> bool:
    """Whether the rest of a budget is less than the agent may need, or already zero."""
    need = 1.0
    if line.measure is Measure.USD:
        need = usd
    return line.rest <= 0 or line.rest < min(need, line.limit - line.spent)


def price(usages: Sequence[Usage], prices: Mapping[str, TokenPrice]) -> float | None:
    """The cost in dollars; None when it is not known, also when no usage was reported at all.

    A cost that the program reported wins over one computed from `prices`.
    """
    costs = [_price(usage, prices) for usage in usages]
    known = [cost for cost in costs if cost is not None]
    if not costs or len(known) < len(costs):
        return None
    return sum(known)


def day_of(at_ms: int) -> str:
    """The day in UTC, so that a budget does not depend on the host."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"


def day_end_ms(day: str) -> int:
    """When a day in UTC ends."""
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    return int((start + timedelta(days=1)).timestamp() * 1000)


def _accounts(run_id: str, lane: str, day: str, iteration: int) -> list[Account]:
    """The accounts that one agent is charged to, from the narrowest to the widest."""
    return [
        Iteration(run_id=run_id, number=iteration),
        RunAccount(run_id=run_id),
        LaneDay(day=day, lane=lane),
        Day(day=day),
    ]


def _lines(
    record: SpendRecord, budgets: Budgets, accounts: Sequence[Account], run_id: str, now_ms: int
) -> Iterator[BudgetLine]:
    """One line for each limit that dos.toml sets for these accounts."""
    for account in accounts:
        budget: Budget = getattr(budgets, account.scope)
        for measure in Measure:
            limit: float | None = getattr(budget, measure)
            if limit is None:
                continue
            if account.scope is Scope.ITERATION and measure is Measure.ITERATIONS:
                continue  # an iteration is one iteration
            spent = record.spent(account)
            history = record.history(account, measure)
            promised = record.promised(account, besides=run_id, now_ms=now_ms)
            line = BudgetLine(
                account=account,
                measure=measure,
                spent=spent.amount(measure),
                limit=limit + history.raised,
                promised=promised.amount(measure),
                history=history,
            )
            if measure is Measure.USD:
                line = structs.replace(line, unpriced=spent.unpriced)
            yield line


def _unpriced_lines(lines: Sequence[BudgetLine], budgets: Budgets) -> list[BudgetLine]:
    """Budgets in dollars that an agent of unknown cost was charged to, if those are refused."""
    if budgets.unknown_price != "refuse":
        return []
    return [line for line in lines if line.measure is Measure.USD and line.unpriced]


def _price(usage: Usage, prices: Mapping[str, TokenPrice]) -> float | None:
    """The cost of one usage in dollars; None when neither the program nor dos.toml tells it."""
    if usage.cost_usd is not None:
        return usage.cost_usd
    found = prices.get(usage.model) or prices.get(_DATED.sub("", usage.model))
    if found is None:
        return None
    # Without their own price they count as input, so that a budget is not overdrawn unseen.
    cached = found.cached
    if cached is None:
        cached = found.input
    cache_write = found.cache_write
    if cache_write is None:
        cache_write = found.input
    return (
        usage.input_tokens * found.input
        + usage.cached_tokens * cached
        + usage.cache_write_tokens * cache_write
        + usage.output_tokens * found.output
    ) / MILLION
