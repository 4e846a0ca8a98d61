"""The plan board: what the plans claim, beside what is true."""

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded, Truth
from dos.units.unit import PlanClaim, Unit
from dos.verify import reconcile
from dos.verify.reconcile import Answer
from dos.verify.shipped import Source


class Divergence(StrEnum):
    SHIPPED = "✓shipped"
    PENDING = "·pending"
    OVER = "⚠over-claim"  # the plan says shipped, and it is not so
    UNDER = "✓under-claim"  # it shipped, and the plan does not say so
    NO_CLAIM = "—"
    UNKNOWN = "?unknown"  # the truth could not be read


FREE, HELD = "⚪ FREE", "🟢 HELD"


class Row(Struct, frozen=True, kw_only=True):
    plan: str
    phase: str
    title: str
    doc_path: str
    line: int
    claimed_status: str
    oracle_shipped: bool | None  # None: it could not be read
    oracle_source: Source
    oracle_sha: str
    divergence: Divergence
    is_divergent: bool
    lane: str
    lane_chip: str
    in_flight: bool
    gated: bool
    why: str
    decision_ref: str = ""
    agent: str = ""  # who is to do it; empty: no agent is configured


class Commit(Struct, frozen=True, kw_only=True):
    sha: str
    subject: str


class Summary(Struct, frozen=True, kw_only=True):
    phases: int
    shipped: int
    divergent: int
    over_claims: int
    in_flight: int
    gated: int


class Board(Struct, frozen=True, kw_only=True):
    workspace: str
    now: str
    plan_source: str
    initialized: bool
    phases: list[Row]
    activity: list[Commit]
    summary: Summary
    problems: list[str] = []


def row(
    unit: Unit, truth: Truth, *, lane: str, is_held: bool, in_flight: bool, agent: str = ""
) -> Row:
    shipped = landed.shipped(truth)
    says_done = unit.claimed == PlanClaim.SHIPPED
    verdict = reconcile.judge(
        reconcile.Evidence(unit=unit.name, claimed=says_done, oracle_shipped=shipped)
    )
    cell = _divergence(verdict.answer, PlanClaim(unit.claimed))
    return Row(
        plan=unit.plan,
        phase=unit.id,
        title=unit.title,
        doc_path=unit.document,
        line=unit.line,
        claimed_status=unit.claimed,
        oracle_shipped=verdict.oracle_shipped,
        oracle_source=truth.source if isinstance(truth, Landed) else Source.NONE,
        oracle_sha=truth.commit if isinstance(truth, Landed) else "",
        divergence=cell,
        is_divergent=cell in (Divergence.OVER, Divergence.UNDER),
        lane=lane,
        lane_chip=HELD if is_held else FREE,
        in_flight=in_flight,
        gated=bool(unit.gated or unit.soak_until) or unit.claimed == PlanClaim.BLOCKED,
        why=_why(truth, cell),
        agent=agent,
    )


def _why(truth: Truth, cell: Divergence) -> str:
    """Why it is not shipped, where somebody could think that it is."""
    if isinstance(truth, Landed):
        return ""
    is_worth_it = cell in (Divergence.OVER, Divergence.UNKNOWN) or (
        isinstance(truth, NotLanded) and truth.is_claimed
    )
    return truth.why if is_worth_it else ""


def summary(rows: Sequence[Row]) -> Summary:
    return Summary(
        phases=len(rows),
        shipped=sum(row.oracle_shipped is True for row in rows),
        divergent=sum(row.is_divergent for row in rows),
        over_claims=sum(row.divergence is Divergence.OVER for row in rows),
        in_flight=sum(row.in_flight for row in rows),
        gated=sum(row.gated and row.oracle_shipped is not True for row in rows),
    )


def _divergence(answer: Answer, claim: PlanClaim) -> Divergence:
    if answer is Answer.UNKNOWN:
        return Divergence.UNKNOWN
    if answer is Answer.QUIET_INCOMPLETE:
        return Divergence.OVER
    if answer is Answer.HONEST_OPEN:
        return Divergence.PENDING if claim else Divergence.NO_CLAIM
    return Divergence.UNDER if claim in (PlanClaim.OPEN, PlanClaim.BLOCKED) else Divergence.SHIPPED


def _differ(rows: Sequence[Row]) -> bool:
    """Whether it is worth a column who does which unit."""
    return len({row.agent for row in rows}) > 1


def render(board: Board) -> str:
    counts = board.summary
    units = "unit" if counts.phases == 1 else "units"
    at_work = f"{counts.phases} {units}, {counts.shipped} shipped, {counts.in_flight} in flight, {counts.gated} gated"
    lines = [
        f"{at_work}; {counts.divergent} where plan and truth differ  ({board.plan_source}, {board.now})"
    ]
    names = max((len(f"{each.plan}/{each.phase}") for each in board.phases), default=0)
    lanes = max((len(each.lane) for each in board.phases), default=0)
    agents = (
        max((len(each.agent) for each in board.phases), default=0) if _differ(board.phases) else 0
    )
    for each in board.phases:
        place = f"{each.doc_path}:{each.line}" if each.doc_path else ""
        state = each.oracle_sha[:9] or (
            "in flight" if each.in_flight else "gated" if each.gated else ""
        )
        who = f"  {each.agent:<{agents}}" if agents else ""
        name = f"{each.plan}/{each.phase}"
        line = f"  {each.divergence:<13} {name:<{names}}  {each.lane:<{lanes}}{who}  {state:<9}  {place}"
        said = each.why or each.title
        lines.append(f"{line}  {said}".rstrip())
    if board.problems:
        lines += ["", "problems:", *(f"  {problem}" for problem in board.problems)]
    if board.activity:
        lines += [
            "",
            "recent commits:",
            *(f"  {commit.sha}  {commit.subject}" for commit in board.activity),
        ]
    return "\n".join(lines)
