"""The names of the journal's streams. Nowhere else is one put together or taken apart."""

from typing import TYPE_CHECKING

from msgspec import Struct

from dos.text import comparison_key

if TYPE_CHECKING:
    from dos.limits.quota import Key

FLEET = "fleet"  # what people ask of the fleet; it carries no fence. Older versions wrote everything of the fleet here.
APPROVALS = "approvals"  # the plans and settings that people approved
BUDGET = (
    "budget"  # promises of a shared budget: who writes to it has seen all that were made before
)
HOOKS = "hooks"  # faults of the hooks of agent programs
HALTS = "halts"  # halts that were proposed of processes that belong to no run
LANES = "lanes"  # refusals of requests that named no lane
PRUNINGS = "journal/pruned"  # what was removed


class Family(Struct, frozen=True):
    """Streams that are named alike: a word, and whose the stream is. `run("RID-1")` is `run/RID-1`."""

    word: str

    @property
    def prefix(self) -> str:
        """What the names of all its streams begin with."""
        return f"{self.word}/"

    def __call__(self, subject: str) -> str:
        return f"{self.prefix}{subject}"

    def __contains__(self, stream: str) -> bool:
        return stream.startswith(self.prefix)

    def subject(self, stream: str) -> str:
        """Whose stream it is; empty for one of another family."""
        return stream[len(self.prefix) :] if stream in self else ""


run = Family("run")
unit = Family("unit")
spawn = Family("spawn")  # by lane: the starts of its workers
decision = Family("decision")
system = Family(FLEET)  # by system: what its supervisors say, each under the fence of its own lease
baseline = Family("baseline")  # by host
witness = Family("witness")  # by commit
numbers = Family("ids")  # by scope
imported = Family("import")  # by file
supervisor = Family(
    "supervisor"
)  # no stream of its own: the name of the lock by which a system has one supervisor
lane_leases = Family("lane")
lock_leases = Family("lock")
limits = Family("limit")


def lease(lane: str, *, is_lock: bool = False) -> str:
    """The stream that holds the lease events of a lane, or of a named lock."""
    family = lock_leases if is_lock else lane_leases
    return family(comparison_key(lane))


def limit(key: "Key") -> str:
    return limits(key.path)


def family(stream: str) -> str:
    """The word of a stream's family; of a stream that has none, its whole name."""
    return stream.partition("/")[0]
