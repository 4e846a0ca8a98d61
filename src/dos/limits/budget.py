"""May another agent be paid for, and with how much? Money, tokens, time and iterations all count."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from re import compile as pattern
from typing import Protocol

from msgspec import Struct, structs

from dos.agents.adapter import Usage
from dos.choices import ChoiceName
from dos.limits.accounts import Account, Day, Iteration, LaneDay, RunAccount, Scope
from dos.limits.policy import Budget, Budgets, TokenPrice

MILLION = 1_000_000
# How providers date a model's name: `large-1-20260101` costs what `large-1` does; `large-1-mini` does not.
_DATED = pattern(r"(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-latest)\Z")


class Measure(StrEnum):
    USD = "usd"
    TOKENS = "tokens"
    WALL_MINUTES = "wall_minutes"
    ITERATIONS = "iterations"


SHARED = (Scope.LANE, Scope.DAY)  # by several agents at a time


class Answer(StrEnum):
    WITHIN = "WITHIN"
    WARN = "WARN"  # go on; somebody should know
    UNPRICED = "UNPRICED"  # money is limited, and what an agent cost is not known; start nothing
    SPENT = "SPENT"  # start nothing; a person is asked
    REFUSED = "REFUSED"  # spent, and the person who was asked said no: stop


class Spent(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What went away. Dollars and tokens are those that are known; the counts say how many agents' are not."""

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
    """What people were told of one budget, and what they said."""

    raised: float = 0.0  # by how much, in all
    said: str = ""  # the newest answer: raise | wait | stop
    asked: int = 0  # how many questions were answered
    warned_at: float = 0.0  # the limit that people were warned of
    spent_at: float = 0.0  # the limit that was written down as spent


class SpendRecord(Protocol):
    """What was spent, folded from the journal."""

    def spent(self, account: Account) -> Spent: ...
    def promised(self, account: Account, *, besides: str, now_ms: int) -> Spent: ...
    def history(self, account: Account, measure: str) -> BudgetHistory: ...


class BudgetLine(Struct, frozen=True, kw_only=True):
    """One limit."""

    account: Account
    measure: Measure
    spent: float
    limit: float
    unpriced: int = 0  # agents whose cost is not in `spent`
    promised: float = 0.0  # of what is left, to agents of other runs
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
        return max(0.0, self.limit - self.spent - self.promised)

    @property
    def ends_ms(self) -> int | None:
        """When the budget is another one, because the day is."""
        return day_end_ms(self.account.day) if isinstance(self.account, LaneDay | Day) else None

    def __str__(self) -> str:
        known = f" and {self.unpriced} of unknown cost" if self.unpriced else ""
        promised = f", {self.promised:g} promised to agents at work" if self.promised else ""
        return f"{self.scope} {self.account}: {self.spent:g} of {self.limit:g} {self.measure}{known}{promised}"


class Verdict(Struct, frozen=True, kw_only=True):
    answer: Answer
    reason: str
    lines: tuple[BudgetLine, ...] = ()
    to_warn: tuple[BudgetLine, ...] = ()  # near their end, and nobody was told
    to_ask: tuple[BudgetLine, ...] = ()  # spent, and no answer yet
    until_ms: int | None = None  # when waiting is over, where a person said to wait

    @property
    def may_start(self) -> bool:
        return self.answer in (Answer.WITHIN, Answer.WARN)


class Allowance(Struct, frozen=True, kw_only=True):
    """What one agent may use at most; None: nothing limits it."""

    usd: float | None = None
    tokens: float | None = None
    wall_seconds: float | None = None


def judge(
    ledger: SpendRecord,
    budgets: Budgets,
    *,
    run_id: str,
    lane: str,
    now_ms: int,
    iteration: int = 0,
) -> Verdict:
    """Asked before an agent is started."""
    rows = tuple(
        _lines(ledger, budgets, _accounts(run_id, lane, day_of(now_ms), iteration), run_id, now_ms)
    )
    spent = [row for row in rows if row.is_spent]
    to_ask = tuple(row for row in spent if row.history.said in ("", ChoiceName.RAISE))
    near = [row for row in rows if not row.is_spent and row.share >= budgets.warn_at]
    to_warn = tuple(row for row in near if row.history.warned_at < row.limit)
    if refused := [row for row in spent if row.history.said == ChoiceName.STOP]:
        answer, why = Answer.REFUSED, refused
    elif spent:
        answer, why = Answer.SPENT, spent
    elif blind := _unpriced_lines(rows, budgets):
        answer, why = Answer.UNPRICED, blind
    elif near:
        answer, why = Answer.WARN, near
    else:
        answer, why = Answer.WITHIN, []
    ends = [row.ends_ms for row in spent if row.history.said == ChoiceName.WAIT]
    waiting = answer is Answer.SPENT and not to_ask
    return Verdict(
        answer=answer,
        reason="; ".join(map(str, why)) or "within every budget",
        lines=rows,
        to_warn=to_warn,
        to_ask=to_ask,
        until_ms=max((end for end in ends if end is not None), default=None) if waiting else None,
    )


def allowance(verdict: Verdict) -> Allowance:
    """The least that any of the limits leaves."""
    rest: dict[Measure, float] = {}
    for row in verdict.lines:
        rest[row.measure] = min(rest.get(row.measure, row.limit), row.rest)
    minutes = rest.get(Measure.WALL_MINUTES)
    return Allowance(
        usd=rest.get(Measure.USD),
        tokens=rest.get(Measure.TOKENS),
        wall_seconds=None if minutes is None else minutes * 60,
    )


def overspent(left: Allowance, usage: Sequence[Usage], prices: Mapping[str, TokenPrice]) -> str:
    """What an agent has used, as far as it told, once that is all that it may; empty while there is something left."""
    used: dict[str, float | None] = {
        "usd": price(usage, prices),
        "tokens": sum(each.tokens for each in usage),
    }
    given = {"usd": left.usd, "tokens": left.tokens}
    over = [
        f"{amount:g} of {most:g} {measure}"
        for measure, most in given.items()
        if most is not None and (amount := used[measure]) is not None and amount >= most
    ]
    return ", ".join(over)


def used_up(rows: Sequence[BudgetLine], spent: Spent) -> list[BudgetLine]:
    """The budgets of one iteration that an agent's end has used up, and nobody was told."""
    after = (structs.replace(row, spent=row.spent + spent.amount(row.measure)) for row in rows)
    own = (row for row in after if row.scope is Scope.ITERATION and row.is_spent)
    return [row for row in own if row.history.spent_at < row.limit]


def most_usd(verdict: Verdict, max_usd: float | None) -> float:
    """The most that one start can cost, by what its program keeps to and by the budgets of its own; 0: nobody knows."""
    own = [
        row.rest for row in verdict.lines if row.measure is Measure.USD and row.scope not in SHARED
    ]
    return min((*own, *([max_usd] if max_usd else [])), default=0.0)


def short_budgets(verdict: Verdict, usd: float) -> list[BudgetLine]:
    """The budgets whose rest the agents at work may need, so that one more that costs up to `usd` has to wait."""
    return [row for row in verdict.lines if row.promised and _is_short(row, usd)]


def _is_short(row: BudgetLine, usd: float) -> bool:
    need = usd if row.measure is Measure.USD else 1.0
    return row.rest <= 0 or row.rest < min(need, row.limit - row.spent)


def price(usage: Sequence[Usage], prices: Mapping[str, TokenPrice]) -> float | None:
    """In dollars; what the program told wins. None: nobody knows, and nothing at all is not known to be free."""
    costs = [_price(used, prices) for used in usage]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if costs and len(known) == len(costs) else None


def day_of(at_ms: int) -> str:
    """In UTC, so that a budget does not depend on the host."""
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%Y-%m-%d}"


def day_end_ms(day: str) -> int:
    return int(
        (datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(days=1)).timestamp() * 1000
    )


def _accounts(run_id: str, lane: str, day: str, iteration: int) -> list[Account]:
    return [
        Iteration(run_id=run_id, number=iteration),
        RunAccount(run_id=run_id),
        LaneDay(day=day, lane=lane),
        Day(day=day),
    ]


def _lines(
    ledger: SpendRecord, budgets: Budgets, accounts: Sequence[Account], run_id: str, now_ms: int
) -> Iterator[BudgetLine]:
    for account in accounts:
        budget: Budget = getattr(budgets, account.scope)
        for measure in Measure:
            limit: float | None = getattr(budget, measure)
            if limit is None or (
                account.scope is Scope.ITERATION and measure is Measure.ITERATIONS
            ):
                continue
            spent, standing = ledger.spent(account), ledger.history(account, measure)
            promised = ledger.promised(account, besides=run_id, now_ms=now_ms)
            yield BudgetLine(
                account=account,
                measure=measure,
                spent=spent.amount(measure),
                limit=limit + standing.raised,
                unpriced=spent.unpriced if measure is Measure.USD else 0,
                promised=promised.amount(measure),
                history=standing,
            )


def _unpriced_lines(rows: Sequence[BudgetLine], budgets: Budgets) -> list[BudgetLine]:
    if budgets.unknown_price != "refuse":
        return []
    return [row for row in rows if row.measure is Measure.USD and row.unpriced]


def _price(used: Usage, prices: Mapping[str, TokenPrice]) -> float | None:
    if used.cost_usd is not None:
        return used.cost_usd
    found = prices.get(used.model) or prices.get(_DATED.sub("", used.model))
    if found is None:
        return None
    cache_write = found.input if found.cache_write is None else found.cache_write
    return (
        used.input_tokens * found.input
        + used.cached_tokens * found.cached
        + used.cache_write_tokens * cache_write
        + used.output_tokens * found.output
    ) / MILLION
