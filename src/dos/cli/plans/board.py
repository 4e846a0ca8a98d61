"""The plan board: one row a unit, with what its plan claims and what git shows.

`dos plan` gathers the facts and builds the rows with `row`; `render` turns the page into text. The
field names of Row, Summary and Board are keys of `dos plan --json`, those of dos-kernel among them.
"""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from dos.backlog.io import landed
from dos.backlog.io.landed import Landed, NotLanded, Truth
from dos.text import plural
from dos.times import format_local_time
from dos.units.unit import PlanClaim, Unit
from dos.verify import reconcile
from dos.verify.reconcile import Answer
from dos.verify.shipped import Source


class Divergence(StrEnum):
    """How a plan's claim about a unit compares with git, as JSON names it."""

    SHIPPED = "✓shipped"
    PENDING = "·pending"
    OVER = "⚠over-claim"  # the plan says shipped, git does not confirm it
    UNDER = "✓under-claim"  # it shipped, and the plan does not say so
    NO_CLAIM = "—"
    UNKNOWN = "?unknown"  # git could not be read


# What people read in place of the tokens.
WORDS = {
    Divergence.SHIPPED: "✓ shipped",
    Divergence.PENDING: "· open",
    Divergence.OVER: "⚠ ticked, not in git",
    Divergence.UNDER: "✓ in git, not ticked",
    Divergence.NO_CLAIM: "— no status",
    Divergence.UNKNOWN: "? not readable",
}
FREE = "⚪ FREE"
HELD = "🟢 HELD"


class Row(Struct, frozen=True, kw_only=True):
    """One unit on the board."""

    plan: str
    phase: str
    title: str
    doc_path: str
    line: int
    claimed_status: str
    oracle_shipped: bool | None  # None: git could not be read
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
    agent: str = ""  # agent that is configured for it; empty: none


class Commit(Struct, frozen=True, kw_only=True):
    """One of the newest commits."""

    sha: str
    subject: str


class Summary(Struct, frozen=True, kw_only=True):
    """How many units of the board are in which state."""

    phases: int
    shipped: int
    divergent: int
    over_claims: int
    in_flight: int
    gated: int


class Board(Struct, frozen=True, kw_only=True):
    """The whole page."""

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
    """Build the row of a unit from its plan, from git and from the lease on its lane.

    A truth that could not be read gives `oracle_shipped` None and never counts as divergent.
    `in_flight` is whether a live run has claimed the unit.
    """
    shipped = landed.shipped(truth)
    says_done = unit.claimed == PlanClaim.SHIPPED
    verdict = reconcile.judge(
        reconcile.Evidence(unit=unit.name, claimed=says_done, oracle_shipped=shipped)
    )
    cell = _divergence(verdict.answer, PlanClaim(unit.claimed))
    chip = FREE
    if is_held:
        chip = HELD
    source = Source.NONE
    sha = ""
    if isinstance(truth, Landed):
        source = truth.source
        sha = truth.commit
    return Row(
        plan=unit.plan,
        phase=unit.id,
        title=unit.title,
        doc_path=unit.document,
        line=unit.line,
        claimed_status=unit.claimed,
        oracle_shipped=verdict.oracle_shipped,
        oracle_source=source,
        oracle_sha=sha,
        divergence=cell,
        is_divergent=cell in (Divergence.OVER, Divergence.UNDER),
        lane=lane,
        lane_chip=chip,
        in_flight=in_flight,
        gated=bool(unit.gated or unit.soak_until) or unit.claimed == PlanClaim.BLOCKED,
        why=_why(truth, cell),
        agent=agent,
    )


def _why(truth: Truth, cell: Divergence) -> str:
    """Return why the unit has not shipped, if its plan or a commit claims that it has."""
    if isinstance(truth, Landed):
        return ""
    is_claimed = isinstance(truth, NotLanded) and truth.is_claimed
    if is_claimed or cell in (Divergence.OVER, Divergence.UNKNOWN):
        return truth.why
    return ""


def summary(rows: Sequence[Row]) -> Summary:
    """Count the rows by state. A unit can count several times, as in flight and gated."""
    shipped = divergent = over_claims = in_flight = gated = 0
    for row in rows:
        shipped += row.oracle_shipped is True
        divergent += row.is_divergent
        over_claims += row.divergence is Divergence.OVER
        in_flight += row.in_flight
        # What holds a unit does not matter any more once it has shipped.
        gated += row.gated and row.oracle_shipped is not True
    return Summary(
        phases=len(rows),
        shipped=shipped,
        divergent=divergent,
        over_claims=over_claims,
        in_flight=in_flight,
        gated=gated,
    )


def _divergence(answer: Answer, claim: PlanClaim) -> Divergence:
    """Return the cell for the comparison. A plan without a readable status claims nothing."""
    if answer is Answer.UNKNOWN:
        return Divergence.UNKNOWN
    if answer is Answer.QUIET_INCOMPLETE:
        return Divergence.OVER
    if answer is Answer.HONEST_OPEN and claim:
        return Divergence.PENDING
    if answer is Answer.HONEST_OPEN:
        return Divergence.NO_CLAIM
    if claim in (PlanClaim.OPEN, PlanClaim.BLOCKED):
        return Divergence.UNDER
    return Divergence.SHIPPED


def render(board: Board) -> str:
    """Return the page as text: the counts, the units in columns, problems and recent commits."""
    counts = board.summary
    states = (
        f"{plural(counts.phases, 'unit')}, {counts.shipped} shipped, "
        f"{counts.in_flight} in progress, {counts.gated} held by a plan"
    )
    differing = f"{counts.divergent} where plan and git differ"
    now = datetime.fromisoformat(board.now)
    read = f"read from {board.plan_source} at {format_local_time(now, now)}"
    lines = [f"{states}; {differing}  ({read})"]
    lines += _unit_lines(board.phases)
    if board.problems:
        lines += ["", "problems:"]
        lines += [f"  {problem}" for problem in board.problems]
    if board.activity:
        lines += ["", "recent commits:"]
        lines += [f"  {commit.sha}  {commit.subject}" for commit in board.activity]
    return "\n".join(lines)


def _unit_lines(rows: Sequence[Row]) -> list[str]:
    """Return a line for each unit, in columns as wide as their longest text.

    A column in which all rows say the same is left out: agents that are the same one everywhere,
    and states if no unit has one.
    """
    agents = set()
    cell_width = name_width = lane_width = agent_width = state_width = 0
    for row in rows:
        agents.add(row.agent)
        cell_width = max(cell_width, len(WORDS[row.divergence]))
        name_width = max(name_width, len(f"{row.plan}/{row.phase}"))
        lane_width = max(lane_width, len(row.lane))
        agent_width = max(agent_width, len(row.agent))
        state_width = max(state_width, len(_state(row)))
    lines = []
    for row in rows:
        name = f"{row.plan}/{row.phase}"
        columns = [
            f"  {WORDS[row.divergence]:<{cell_width}}",
            f"{name:<{name_width}}",
            f"{row.lane:<{lane_width}}",
        ]
        if len(agents) > 1:
            columns.append(f"{row.agent:<{agent_width}}")
        if state_width:
            columns.append(f"{_state(row):<{state_width}}")
        place = ""
        if row.doc_path:
            place = f"{row.doc_path}:{row.line}"
        columns.append(place)
        columns.append(row.why or row.title)
        lines.append("  ".join(columns).rstrip())
    return lines


def _state(row: Row) -> str:
    """Return the short hash of the landing, or else what happens with the unit; often nothing."""
    if row.oracle_sha:
        return row.oracle_sha[:9]
    if row.in_flight:
        return "in progress"
    if row.gated:
        return "held by its plan"
    return ""
