"""The faults of a simulation. Each seed switches some of them on, at its own rates.

The texts are the names under which `dos simulate` counts them. A long batch in which one of them
never happened has not tested it, and says so.
"""

from bisect import bisect
from itertools import accumulate
from random import Random

from dos.fleet import effects
from dos.fleet.tick import ExpireQuestion, MintRun, RevokeLease, SpawnWorker

FAULT_MINUTES = 15
END_MINUTES = 60  # long enough for units that depend on one another

# Between two effects of a process.
CRASH_BEFORE = "crash before an effect"
CRASH_AFTER = "crash after an effect"
LOST_ANSWER = "answer lost"
DUPLICATE = "effect delivered twice"
LATE_DUPLICATE = "effect delivered again, late"
PAUSE = "pause between check and use"
STEPS = (CRASH_BEFORE, CRASH_AFTER, LOST_ANSWER, DUPLICATE, LATE_DUPLICATE, PAUSE)

# At a random moment, to a host or to the fleet.
PARTITION = "host cut off"
SUPERVISOR_DEATH = "supervisor killed"
BRANCH_MOVED = "branch moved by another"
DRAIN = "drain asked for"
HOLD = "pause asked for"
REAP = "leases reaped by hand"
SECOND_START = "supervisor started twice"
HALT = "run halted by a person"
BY_HAND = "worker started by hand"
MOMENTS = (
    PARTITION,
    SUPERVISOR_DEATH,
    BRANCH_MOVED,
    DRAIN,
    HOLD,
    REAP,
    SECOND_START,
    HALT,
    BY_HAND,
)

SKEW = "host clock off"
SLOW_START = "worker slow to start"
NO_START = "worker not started"
DIES_AT_START = "worker dies at its start"
RED_ON_TARGET = "tests fail on the moved branch"
NOT_FITTING = "rebase conflict"
SETTINGS = (SKEW, SLOW_START, NO_START, DIES_AT_START, RED_ON_TARGET, NOT_FITTING)

# What an agent does instead of its work.
LIE = "agent lies"
STRAY = "agent strays"
RED = "agent's work is rejected"
STALL = "agent stalls"
SPIN = "agent spins"
LIMIT = "agent is limited"
LIMIT_UNTIL = "agent is limited until a time"
OVERLOADED = "provider overloaded"
NO_CREDIT = "account without credit"
AGENT_CRASH = "agent crashes"
AGENT_MISSING = "agent does not start"
LEFTOVERS = "agent leaves changes"
AGENTS = (
    LIE,
    STRAY,
    RED,
    STALL,
    SPIN,
    LIMIT,
    LIMIT_UNTIL,
    OVERLOADED,
    NO_CREDIT,
    AGENT_CRASH,
    AGENT_MISSING,
    LEFTOVERS,
)

# On a host that checks the target branch before it starts workers.
RED_TARGET = "tests fail before any work"
BLIND_TEST = "tests do not see their tree"
TARGETS = (RED_TARGET, BLIND_TEST)

# Only in worlds with more questions to people.
NOT_INSTALLED = "agent is not installed"
LIMIT_DOUBTED = "agent is limited for longer than any limit lasts"
OBSTACLE = "a person's file in the way of a landing"
HALT_PROPOSED = "halt proposed"
QUESTION_ADDED = "question added by a person"
STOPPED_BY_HAND = "run by hand stopped"
REVERTED = "landed unit reverted by a person"
TO_BRANCH = "agent commits to the target branch"
DEADLY_UNIT = "worker dies at a unit that kills"
PLAN_EDITED = "plan edited on a host"
SETTINGS_EDITED = "dos.toml edited on a host"
ASKING = (
    NOT_INSTALLED,
    LIMIT_DOUBTED,
    OBSTACLE,
    HALT_PROPOSED,
    QUESTION_ADDED,
    STOPPED_BY_HAND,
    REVERTED,
    TO_BRANCH,
    DEADLY_UNIT,
    PLAN_EDITED,
    SETTINGS_EDITED,
)

# Not random: before every third start of a supervisor.
UPGRADE = "dos upgraded before a start"

FAULTS = (*STEPS, *MOMENTS, *SETTINGS, *AGENTS, *TARGETS, *ASKING, UPGRADE)

# Refusals that must happen in a long batch: without them the refusing code was not tested.
LEASE_HELD = "lane refused: held"
OVERLAP = "lane refused: overlaps"
BUDGET = "lane refused: class budget"
SECOND_SUPERVISOR = "second supervisor refused"
STALE_WRITE = "write refused: stale fence"
START_CONFLICT = "start refused: another was quicker"
REAP_REFUSED = "reap refused: its holder moved"
STALE_MOVE = "branch refused: stale fence"
BRANCH_RACE = "branch refused: it has moved"
PLANS_HELD = "plans refused: somebody is at them"
PROBE_RACE = "probe refused: another goes first"
PROMISE_RACE = "promise refused: another was quicker"
PROMISED = "agent refused: the rest of the budget is promised"
ANSWER_RACE = "answer refused: another was quicker"
LEASE_LOST = "lease lost"
GIVEN_UP = "lane given up on"
REFUSALS = (
    LEASE_HELD,
    OVERLAP,
    BUDGET,
    SECOND_SUPERVISOR,
    STALE_WRITE,
    START_CONFLICT,
    REAP_REFUSED,
    STALE_MOVE,
    BRANCH_RACE,
    PLANS_HELD,
    PROBE_RACE,
    PROMISE_RACE,
    PROMISED,
    ANSWER_RACE,
    LEASE_LOST,
    GIVEN_UP,
)

# Which effects a fault can strike.
#
# Sent to a store across a network: the answer may be lost, or the request arrive twice.
SENT = (
    effects.TakeLease,
    effects.TakePlans,
    effects.ReleaseLease,
    effects.Record,
    effects.RecordAll,
    effects.ClaimUnit,
    RevokeLease,
    ExpireQuestion,
)
WRITES = (*SENT, effects.MoveBranch)  # effects after which the invariants are checked
LATE = (effects.MoveBranch, RevokeLease)  # effects where a pause between check and use is worst
REPEATED_LATE = (effects.Record, effects.RecordAll, effects.MoveBranch)
# Effects on the process's own host: they need neither the store nor the repository.
LOCAL = (effects.Pause, effects.BackOff, effects.RunAgent, MintRun, SpawnWorker)


def answer_name(question: type, choice: str) -> str:
    """Return the name under which an answer of a person is counted."""
    return f"{question.__name__} answered with {choice}"


class FaultPlan:
    """The faults of one seed and their rates: a random subset, as in swarm testing.

    A subset finds more than all faults at once, because faults hide each other: a process that dies
    early never gets far enough to meet the next one.
    """

    def __init__(self, random: Random) -> None:
        # The order of the draws is part of what a seed means: changing it changes every seed.
        self._random = random
        self.rates = {name: _rate(random) for name in STEPS if random.random() < 0.4}
        self._names = list(self.rates)
        self._steps = list(accumulate(self.rates.values()))
        self.total_rate = 0.0
        if self._steps:
            self.total_rate = self._steps[-1]
        self.moments = [name for name in MOMENTS if random.random() < 0.3]
        self.settings = {
            name: 0.05 + 0.8 * random.random() for name in SETTINGS if random.random() < 0.25
        }
        # How often a process sleeps between check and use where that is worst.
        self.pause_share = 0.25 if PAUSE in self.rates else 0.0
        self.agents = {
            name: 0.05 + 0.25 * random.random() for name in AGENTS if random.random() < 0.2
        }

    def draw_step(self) -> str:
        """Return the fault at this effect; "" for none."""
        drawn = self._random.random()
        if drawn >= self.total_rate:
            return ""
        return self._names[bisect(self._steps, drawn)]

    def happens(self, name: str) -> bool:
        """Draw whether this fault happens now; a fault without a rate draws nothing."""
        rate = self.settings.get(name)
        return rate is not None and self._random.random() < rate

    def draw_agent_fault(self) -> str:
        """Return what the next agent does instead of its work; "" if it does its work."""
        drawn = self._random.random()
        for name, rate in self.agents.items():
            drawn -= rate
            if drawn < 0:
                return name
        return ""


def _rate(random: Random) -> float:
    """Draw a rate between 1/500 and 1/40, uniform in its logarithm."""
    return float(0.002 * 12.5 ** random.random())
