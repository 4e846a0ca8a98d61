"""What must hold of every fleet, whatever goes wrong: each with a name and a sentence."""

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

INVARIANTS = {
    POSITIONS: "Positions strictly grow, versions have no gap, and whoever follows the journal sees each event once.",
    DISJOINT: "No two leases that stand at once overlap.",
    FENCES: "Every fence is greater than all before it.",
    CURRENT: "Only a lease that stands is renewed, released, revoked or expired.",
    NO_ZOMBIE: "What is written under a fence is written while that lease stands.",
    ONCE: "Each try of an iteration is decided once and in order; a unit lands once, in the journal and in git.",
    DEAD_ONLY: "A lease is revoked only when its process is dead or its time is over; one that spins is left alone.",
    STORE_TIME: "A lease expires only when its time is over by the store's clock, whatever a host's clock says.",
    NO_LIE: "A unit that is written as landed is in the commit that is named, and that commit is on the target branch.",
    STOPPED: "A run that has stopped writes nothing more.",
    INTENSITY: "Of a lane, no more workers that die without a word are started within the period than are allowed.",
    TABLE: "The table of leases is what the events of leases fold to.",
    LIVENESS: "Once the faults are over, every lane has landed its units or has a typed reason why not.",
    GIT_FENCE: "Git moves the branch for no fence but the lane's newest.",
    INTENT: "The target branch moves to a commit of ours only after that was written as intended.",
    KEPT: "What an agent edited is on the target branch, on a salvage ref, or still in its tree.",
    REPLAY: "Every decision, made again from what was written of it, is the same.",
    ONE_ANSWER: "A decision that was shown to a person is answered once at most, and only after it was raised.",
    TAKES_EFFECT: "At the next tick after a person's answer, nothing that the answer releases still holds a lane, and"
    " the lane is started, or the fleet says what else it waits for.",
    COOLDOWN: "What was on cooldown before the fleet was started is on cooldown after it.",
    RETENTION: "A fold over what retention leaves is the fold over everything.",
    POPULATION: "A supervisor starts no more than are missing from the target, as it saw the fleet.",
    LIMITS: "A provider's limit is never counted as a failure.",
    TYPED: "A run stops once, for one reason from the table.",
    PENDING: "A lane whose last start may still show up is not started again.",
    MONEY: "No agent is started for a run or a lane whose money is spent, unless a person raised it.",
    OVERDRAWN: "Where each agent keeps to what one start may cost, all together keep to the budget that they share.",
    HOLDS: "Nobody who holds a lease ends because it was lost: no supervisor, and no worker whose time is not over.",
    BASELINE: "No worker is started on a host whose tests fail without any work, and none that comes by itself starts"
    " an agent there, unless a person said to start all the same.",
    TURNS: "Where nobody sleeps or is cut off, nothing lands while work that was proven before it is still to land.",
    UPGRADE: "Once a supervisor of another version was started on its host, a run starts at most one more agent.",
    BUDGET: "No class of lanes holds more leases than its budget.",
}


class InvariantBroken(Exception):
    """An invariant does not hold."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant
        self.detail = detail
