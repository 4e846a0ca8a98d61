"""The faults of a simulation. Each seed switches some of them on, at its own rates.

The texts are the names under which `dos simulate` counts them. A long batch in which one of them
never happened has not tested it, and says so.
"""

from bisect import bisect
from itertools import accumulate
from random import Random
from zlib import crc32

from dos.fleet import effects
from dos.fleet.tick import ExpireQuestion, MintRun, RevokeLease, SpawnWorker
from dos.verify import red_before
from dos.verify.policy import Policy

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
TESTS_CHANGED = "work weakens tests"
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
    TESTS_CHANGED,
    HALT_PROPOSED,
    QUESTION_ADDED,
    STOPPED_BY_HAND,
    REVERTED,
    TO_BRANCH,
    DEADLY_UNIT,
    PLAN_EDITED,
    SETTINGS_EDITED,
)

# Only in worlds whose agents talk with their workers.
ASKS_PERSON = "agent asks a person"
ASK_DENIED = "request of an agent denied by the rule"
ASKS_AGAIN = "agent repeats a request"
WITHDRAWS = "agent takes a request back"
STEERED = "person tells an agent something"
TOLD_AT_WORK = "agent told while it works"
TOLD_IN_PROMPT = "agent told with its prompt"
TALKS = (
    ASKS_PERSON,
    ASK_DENIED,
    ASKS_AGAIN,
    WITHDRAWS,
    STEERED,
    TOLD_AT_WORK,
    TOLD_IN_PROMPT,
)

# Inside one effect on a lane or on the branch.
GIT_DIES = "git dies between two writes"
WORKER_DIES_INSIDE = "worker dies between two writes of git"
HANDOVER_BREAKS = "hand-over breaks off"
CHECK_DIES = "check of a hand-over dies"
# What an agent does besides its work, or to it.
LANE_DAMAGED = "agent damages its lane's repository"
WRITES_ELSEWHERE = "agent writes into another lane"
NAMES_ANOTHER = "agent names another unit"
REWRITES = "agent rewrites the history of its lane"
TRESPASSES = (LANE_DAMAGED, WRITES_ELSEWHERE, NAMES_ANOTHER, REWRITES)
LANES = (GIT_DIES, WORKER_DIES_INSIDE, HANDOVER_BREAKS, CHECK_DIES, *TRESPASSES)
# The highest rate of each, at a write, a hand-over or an agent.
LANE_RATES = {GIT_DIES: 0.1, WORKER_DIES_INSIDE: 0.05, HANDOVER_BREAKS: 0.8, CHECK_DIES: 0.3}
# Not a fault of a process: a unit whose acceptance command does not tell whether it was done.
GREEN_BEFORE = "acceptance passes without the work"
GREEN_UNITS = 8  # it is one unit in so many
REQUIRED = 0.1  # share of the worlds that land no such unit, for each of two settings

# Not random: before every third start of a supervisor.
UPGRADE = "dos upgraded before a start"

FAULTS = (
    *STEPS,
    *MOMENTS,
    *SETTINGS,
    *AGENTS,
    *TARGETS,
    *ASKING,
    *TALKS,
    *LANES,
    GREEN_BEFORE,
    UPGRADE,
)

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
WALL = "write refused: outside the lane"
GREEN_REFUSED = "landing refused: green before"
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
    WALL,
    GREEN_REFUSED,
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


class LaneFaultPlan:
    """The faults inside lanes of one seed, and what a landing has to show there.

    They are drawn apart, so that the other draws of a seed stay as they are. `is_walled`: the
    kernel refuses what an agent writes outside its lane.
    """

    def __init__(self, random: Random) -> None:
        self._random = random
        self.is_walled = random.random() < 0.5
        self.rates = {}
        for name in LANES:
            rate = LANE_RATES.get(name, 0.3) * random.random()
            if random.random() < 0.2:
                self.rates[name] = rate

        self._salt = random.getrandbits(32)
        self.landing_policy = red_before.Policy(require_red=random.random() < REQUIRED)
        self.required_policy = Policy(require="witnessed" if random.random() < REQUIRED else "live")

    @property
    def needs_red(self) -> bool:
        """Whether nothing may land whose acceptance command passes without it."""
        return self.landing_policy.require_red or self.required_policy.require == "witnessed"

    def is_green_before(self, unit: str) -> bool:
        """Whether the unit's acceptance command passes without any work."""
        return crc32(f"{self._salt}/{unit}".encode()) % GREEN_UNITS == 0

    def happens(self, name: str) -> bool:
        """Draw whether this fault happens now; a fault without a rate draws nothing."""
        rate = self.rates.get(name)
        return rate is not None and self._random.random() < rate

    def draw_trespass(self) -> str:
        """Return what the next agent does that it may not do; "" for nothing."""
        for name in TRESPASSES:
            if self.happens(name):
                return name
        return ""


def _rate(random: Random) -> float:
    """Draw a rate between 1/500 and 1/40, uniform in its logarithm."""
    return float(0.002 * 12.5 ** random.random())
