"""The names of the journal's streams. No other module composes one or takes one apart."""

from typing import TYPE_CHECKING

from msgspec import Struct

from dos.text import comparison_key

if TYPE_CHECKING:
    from dos.limits.quota import Key

# What people ask of the fleet, without a fence. Older versions wrote all fleet events here.
FLEET = "fleet"
APPROVALS = "approvals"  # the plans and settings that people approved
# Reservations from shared budgets. One stream, so that each writer has seen all earlier ones.
BUDGET = "budget"
HOOKS = "hooks"  # faults of the hooks of agent programs
HALTS = "halts"  # proposed halts of processes that belong to no run
VERDICTS = "verdicts"  # of verbs that judge
LIFECYCLE = "lifecycle"  # cycles over the classes of plans
LANES = "lanes"  # refusals of requests that named no lane
PRUNINGS = "journal/pruned"  # records of what pruning removed


class Family(Struct, frozen=True):
    """Streams with one first word that differ in their subject: `run("RID-1")` is `run/RID-1`."""

    word: str

    @property
    def prefix(self) -> str:
        """The text with which the names of all its streams begin."""
        return f"{self.word}/"

    def __call__(self, subject: str) -> str:
        """Return the name of the stream of a subject."""
        return f"{self.prefix}{subject}"

    def __contains__(self, stream: str) -> bool:
        return stream.startswith(self.prefix)

    def subject(self, stream: str) -> str:
        """Return the subject of a stream; empty for a stream of another family."""
        if stream not in self:
            return ""
        return stream[len(self.prefix) :]


run = Family("run")
unit = Family("unit")
spawn = Family("spawn")  # by lane: the starts of its workers
decision = Family("decision")
system = Family(FLEET)  # by system: its supervisors' events, each under the fence of its lease
baseline = Family("baseline")  # by host
witness = Family("witness")  # by commit
check = Family("check")  # by the digest of a command, its tree and what else decides its result
numbers = Family("ids")  # by scope
session = Family("session")  # by the name of a conversation: its tool calls and what it was told
bound = Family("bound")  # by the name of a conversation: the leases that it belonged to
trial = Family("trial")  # by subject and program: what a test of a real agent program showed
imported = Family("import")  # by file
supervisor = Family("supervisor")  # not a stream: the lock that gives a system one supervisor
lane_leases = Family("lane")
lock_leases = Family("lock")
limits = Family("limit")
exports = Family("export")  # by transport
notifications = Family("notification")  # by transport and what the message is about


def lease(lane: str, *, is_lock: bool = False) -> str:
    """Return the stream of the lease events of a lane, or of a named lock.

    Names that differ only in case or Unicode form share a stream, and so exclude each other.
    """
    family = lock_leases if is_lock else lane_leases
    return family(comparison_key(lane))


def limit(key: "Key") -> str:
    """Return the stream of the limits of an account."""
    return limits(key.path)


def family(stream: str) -> str:
    """Return the first word of a stream's name, or the whole name if it has only one."""
    return stream.partition("/")[0]
