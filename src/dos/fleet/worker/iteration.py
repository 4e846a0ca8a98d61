"""One iteration of a worker: whether to stop, which unit to try, and what the iteration came to.

Pure: the worker calls these functions with its backlog, and yields the effects itself.
"""

from enum import StrEnum

from msgspec import Struct, structs

from dos.backlog import pickable
from dos.fleet import effects
from dos.loop import decide
from dos.loop.gate import Gate
from dos.loop.types import IterationOutcome, LoopState, OutcomeKind, StopReason, WorkerStop
from dos.reasons.table import Needs
from dos.units.unit import Unit

# Why a unit is held, as the table of blocked causes names it. All other reasons keep their name.
BLOCKED_CAUSES = {
    pickable.Answer.DRAFT_CLASS: "operator_decision",
    pickable.Answer.OPERATOR_GATED: "operator_decision",
    pickable.Answer.SOAK_OPEN: "lane_soak_gated",
    pickable.Answer.STALE_CLAIM: "stale_claim_false_block",
}


class Dispatch(Struct, frozen=True, kw_only=True):
    """A unit to work on, the agent that works on it, and what is known of earlier attempts.

    The agent is told why earlier attempts did not land, so that it does not repeat them.
    """

    unit: Unit
    iteration: int
    attempt: int
    agent_choice: effects.AgentChoice
    history: list[str]  # why earlier attempts did not land
    repeated: bool  # an earlier run died while it worked on the unit
    refusals: effects.Refusals = effects.Refusals()  # of its landings so far
    saved_commit: str = ""  # changes that the last agent did not commit
    documents: list[str] = []  # the plan documents, in a replan

    @property
    def is_replan(self) -> bool:
        """Whether the agent updates the plan documents instead of working on a unit."""
        return bool(self.documents)


class LandingResult(StrEnum):
    """What became of the work of an agent."""

    LANDED = "landed"
    KEPT = "kept"  # finished and measured; it lands once a person's own work is out of the way
    MISSED = "missed"


class IterationResult(Struct, frozen=True, kw_only=True):
    """What one agent came to, as the loop decides by it.

    `outcome` is what the rules of the loop read; the rest explains it to people.
    """

    outcome: IterationOutcome
    agent_result: effects.AgentResult
    limited: bool = False  # stopped by a limit; the next choice of an agent says when to continue
    fault: str = ""  # what a person has to correct about a program or an account


class Stop(Struct, frozen=True):
    """Why a worker stops: a reason from the table of reasons, and the details for people."""

    reason: StopReason | WorkerStop
    detail: str

    @property
    def needs(self) -> Needs:
        """Who can clear the stop."""
        return decide.needs(self.reason)


def requested_stop(backlog: effects.Backlog) -> Stop | None:
    """Return the stop that a person, a drain or the state of the host asks for, if any."""
    if backlog.halted:
        return Stop(WorkerStop.HALTED, backlog.halted)
    if backlog.drain_requested:
        return Stop(WorkerStop.DRAIN_REQUESTED, "the fleet was asked to drain")
    if backlog.superseded_by:
        version = backlog.superseded_by
        return Stop(WorkerStop.DRAIN_REQUESTED, f"dos {version} was started on this host")
    if backlog.fault_question:
        command = f"`dos decisions show {backlog.fault_question}`"
        return Stop(WorkerStop.DECISION_NEEDED, f"agents cannot start on this host: see {command}")
    return None


def units_to_try(backlog: effects.Backlog, retry: str) -> list[Unit]:
    """Return the unit to try next, then for each other agent the first unit that asks for it.

    The unit `retry` comes first, then units that a dead run left half done, then those that
    failed least often. The further units are tried when the agent of the first cannot start.
    """
    landing = {pending.landing.unit for pending in backlog.pending_landings}
    offered = [unit for unit in backlog.open if unit.name not in landing]

    def order(unit: Unit) -> tuple[bool, bool, int]:
        failures = len(backlog.history.get(unit.name, []))
        return unit.name != retry, unit.name not in backlog.interrupted, failures

    first_by_agent: dict[str, Unit] = {}
    for unit in sorted(offered, key=order):
        first_by_agent.setdefault(unit.agent, unit)
    return list(first_by_agent.values())


def gate_outcome(backlog: effects.Backlog) -> IterationOutcome:
    """Return the outcome of an iteration that could start nothing.

    It carries the cause of the first held unit that has one.
    """
    if not backlog.held and not backlog.on_cooldown:
        return IterationOutcome(kind=OutcomeKind.GATE, verdict=Gate.DRAIN)
    reasons = (verdict.reason for verdict in backlog.held if verdict.reason)
    reason = next(reasons, pickable.Answer.COOLDOWN)
    return IterationOutcome(
        kind=OutcomeKind.GATE,
        verdict=Gate.BLOCKED,
        blocked_cause=BLOCKED_CAUSES.get(reason, reason),
    )


def with_evidence(state: LoopState, backlog: effects.Backlog) -> LoopState:
    """Return the loop's state with the evidence that the backlog gives for the next decision.

    The verdicts on the next unit count only when no unit can be offered and none waits to land.
    """
    if backlog.open or backlog.pending_landings:
        return structs.replace(
            state, completion=backlog.completion, pickability=None, cooldown=None
        )
    return structs.replace(
        state,
        completion=backlog.completion,
        pickability=next(iter(backlog.held), None),
        cooldown=next(iter(backlog.on_cooldown), None),
    )
