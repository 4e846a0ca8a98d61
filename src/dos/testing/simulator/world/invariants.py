"""The promises that must hold for every fleet, whatever goes wrong: a name and a sentence each.

`dos simulate` prints the name and the sentence of a broken promise. The names stay as they are:
people search for them, and the table of planted bugs says by name which one has to notice what. The
checkers raise InvariantBroken with one of them.
"""

POSITIONS = "positions-grow"
DISJOINT = "leases-disjoint"
FENCES = "fences-grow"
CURRENT = "only-the-current-ends"
NO_ZOMBIE = "no-zombie-writes"
ONCE = "once-and-in-order"
DEAD_ONLY = "only-the-dead-are-reaped"
STORE_TIME = "expiry-by-the-stores-clock"
NO_LIE = "no-lie-is-landed"
STOPPED = "nothing-after-the-stop"
INTENSITY = "starts-are-limited"
TABLE = "lease-table-is-the-fold"
LIVENESS = "every-lane-comes-to-an-end"
GIT_FENCE = "git-refuses-stale-fences"
INTENT = "intent-before-the-move"
KEPT = "no-edit-is-lost"
REPLAY = "decisions-replay-equal"
ONE_ANSWER = "a-decision-is-answered-once"
TAKES_EFFECT = "an-answer-takes-effect"
COOLDOWN = "no-restart-clears-a-cooldown"
RETENTION = "retention-changes-no-fold"
POPULATION = "population-within-target"
LIMITS = "limits-charge-no-breaker"
TYPED = "one-typed-reason-a-stop"
PENDING = "no-start-over-a-start"
BUDGET = "class-budget-not-overdrawn"
MONEY = "no-agent-past-its-budget"
OVERDRAWN = "shared-budget-not-overdrawn"
HOLDS = "who-holds-goes-on"
BASELINE = "no-agent-on-a-red-target"
TURNS = "landings-take-turns"
UPGRADE = "older-workers-drain"
OWN_WORK = "only-its-own-work-lands"
WHOLE = "hand-overs-are-whole"
SAVED_ONCE = "nothing-is-saved-twice"
ACCEPTED = "what-lands-is-accepted"
WITNESSED = "witnessed-was-red-before"
ONE_REPLY = "one-answer-a-request"
REFUSED = "what-is-refused-is-not-done"
UNANSWERED = "no-answer-is-a-denial"
NOT_SILENT = "asking-is-no-silence"
TOLD_ONCE = "a-message-arrives-once"

INVARIANTS = {
    POSITIONS: (
        "Positions strictly grow, versions have no gap, and a reader of the journal sees each "
        "event once."
    ),
    DISJOINT: "No two live leases overlap.",
    FENCES: "Every fence is greater than all before it.",
    CURRENT: "Only a live lease is renewed, released, revoked or expired.",
    NO_ZOMBIE: "An event under a fence is recorded only while that lease is live.",
    ONCE: (
        "Each attempt of an iteration is decided once and in order; a unit lands once, in the "
        "journal and in git."
    ),
    DEAD_ONLY: (
        "A lease is revoked only if its process has exited or it has expired; a worker without "
        "progress keeps its lease."
    ),
    STORE_TIME: "A lease expires by the store's clock, whatever a host's clock shows.",
    NO_LIE: (
        "A unit that is recorded as landed is in the named commit, and that commit is on the "
        "target branch."
    ),
    STOPPED: "A run that has stopped records nothing more.",
    INTENSITY: (
        "Within the period, no more workers of a lane are started that die without a stop reason "
        "than are allowed."
    ),
    TABLE: "The table of leases equals the fold of the lease events.",
    LIVENESS: (
        "Once the faults are over, every lane has landed its units or has a typed reason why not."
    ),
    GIT_FENCE: "Git moves the branch only for the lane's newest fence.",
    INTENT: "The target branch moves to a commit of the fleet only after the intent was recorded.",
    KEPT: "An agent's edit is on the target branch, in the saved work, or still in its lane.",
    REPLAY: "Every decision, made again from its recorded evidence, is the same.",
    ONE_ANSWER: "A question is answered at most once, and only after it was raised.",
    TAKES_EFFECT: (
        "At the next tick after a person's answer, nothing that the answer releases still holds a "
        "lane, and the lane is started, or the fleet reports what else it waits for."
    ),
    COOLDOWN: "Units on cooldown before the fleet was started are on cooldown after it.",
    RETENTION: "The fold over the events that retention keeps equals the fold over all events.",
    POPULATION: "A supervisor starts no more workers than its observation lacks to the target.",
    LIMITS: "A provider's limit is never counted as a failure.",
    TYPED: "A run stops once, for one reason from the table.",
    PENDING: "A lane whose last worker may still be starting is not started again.",
    MONEY: (
        "No agent is started for a run or a lane that has spent its budget, unless a person "
        "raised it."
    ),
    OVERDRAWN: (
        "If each agent stays within what one start may cost, all together stay within their "
        "shared budget."
    ),
    HOLDS: (
        "No supervisor or worker ends with a lost lease while it holds the lease and its time is "
        "not over."
    ),
    BASELINE: (
        "No worker is started on a host whose tests fail without any work, and no worker started "
        "by hand starts an agent there, unless a person chose to start all the same."
    ),
    TURNS: (
        "Where no process sleeps or is cut off, nothing lands while work that was proven earlier "
        "is still to land."
    ),
    UPGRADE: (
        "Once a supervisor of another version was started on its host, a run starts at most one "
        "more agent."
    ),
    BUDGET: "No class of lanes, and no repeatable lane, has more leases than it may have.",
    OWN_WORK: (
        "What lands descends from the branch, names its own unit alone, and was written by agents "
        "of its lane, inside that lane."
    ),
    WHOLE: (
        "Work that counts as handed over is in the repository with all of its files, and a lane "
        "that counts as settled has no edit that is neither on the target branch nor saved."
    ),
    SAVED_ONCE: "No two salvage refs hold the same work.",
    ACCEPTED: "The acceptance command of a unit passes on the commit that landed.",
    WITNESSED: (
        "A landing counts as witnessed only if the acceptance command fails on the commit below "
        "it; where that is required, nothing else lands."
    ),
    ONE_REPLY: (
        "A request of an agent that runs gets exactly one answer, within the time that a person "
        "has, unless the agent takes it back."
    ),
    REFUSED: "An agent is not allowed to write outside of its lane.",
    UNANSWERED: "What needs a person is allowed only if a person allowed it.",
    NOT_SILENT: "An agent whose request waits for a person is not ended for its silence.",
    TOLD_ONCE: (
        "A message of a person is told to one agent, once, or waits for the next one on its lane."
    ),
}


class InvariantBroken(Exception):
    """Raised at the first event or state that breaks an invariant; ends the simulation."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant
        self.detail = detail
