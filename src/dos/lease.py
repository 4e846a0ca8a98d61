"""Leases: a lane, or a named lock, that one holder has for a limited time.

Each lease has a fence, a number that only grows, so that a write under an old lease can be refused.
"""

from enum import StrEnum

from msgspec import Struct

from dos.regions import Mode, Region

# The variable with the key that a worker hands to its programs. A fence is a number that anybody
# can
# read, so it proves nothing.
KEY_VARIABLE = "DOS_LEASE_KEY"
TREE_VARIABLE = "DOS_TREE"  # the folder in which the agent of a lease works
# The globs of its lane from the top of the work tree on, as JSON: behind walls an agent can read
# neither the journal nor dos.toml.
REGION_VARIABLE = "DOS_REGION"


class Request(Struct, frozen=True, kw_only=True):
    """What a would-be holder asks for."""

    lane: str
    holder: str
    host: str
    ttl_ms: int
    region: Region
    # The folder that its region starts in, as `Workspace.prefix` names it: one repository may have
    # several with a dos.toml. None: unknown, as in leases of older versions.
    prefix: str | None = None
    mode: Mode = Mode.EXCLUSIVE
    kind: str = "cluster"
    exclusive: bool = False  # runs alone: no other lane may be held beside it
    part_of: str = ""  # the repeatable lane that it is a part of; empty: a lane, or a lock
    part_number: int = 0  # of a part, in the order of the plans: for what no two may have, as ports
    is_lock: bool = False  # a named lock: it has no region and conflicts only with its own name
    run_id: str = ""
    loop_ts: str = ""
    pid: int | None = None
    pid_started: float | None = None
    # The process table that the pid is in. Empty: unknown, as in leases of older versions.
    system: str = ""
    start_sha: str = ""
    # The hash of the key that the holder's programs carry. Empty: a person took it, without
    # programs.
    key_hash: str = ""


class Lease(Request, frozen=True, kw_only=True):
    """A granted request. Its identity is the fence."""

    fence: int
    boot: str
    granted_ms: int  # wall clock, for people
    beat_ms: int  # wall clock, for people
    expires_ms: int  # the store's clock, the only one that decides
    version: int  # of the lane's stream when this lease last changed

    def has_lapsed(self, now_ms: int, boot: str) -> bool:
        """Whether another holder may take it.

        Its time is over, or the machine has restarted, so that its holder is dead.
        """
        return self.expires_ms <= now_ms or self.boot != boot


# Why a holder counts as dead, in the words of every surface and of the journal.
PROCESS_GONE = "its process is gone"
LEASE_OVER = "its lease is over"


def why_lost(*, process_gone: bool, lapsed: bool) -> str:
    """Return why the holder of a lease counts as dead; "" while it counts as alive.

    A lease that is over says less than a process that is gone: its holder may be only slow.
    """
    if process_gone:
        return PROCESS_GONE
    if lapsed:
        return LEASE_OVER
    return ""


class RefusalReason(StrEnum):
    """Why a lease was not granted; the table of reasons explains each."""

    LANE_HELD = "LANE_HELD"
    LANE_EXCLUSIVE = "LANE_EXCLUSIVE"
    REGION_OVERLAP = "REGION_OVERLAP"
    REGION_UNKNOWN = "REGION_UNKNOWN"
    CLASS_BUDGET_EXHAUSTED = "CLASS_BUDGET_EXHAUSTED"
    UNKNOWN_LANE = "UNKNOWN_LANE"
    SELF_MODIFY = "SELF_MODIFY"
    PREDICATE = "PREDICATE"
    NO_FREE_LANE = "NO_FREE_LANE"


class Refusal(Struct, frozen=True, kw_only=True):
    """Why a request was not granted, and the fence of the lease that blocks it."""

    reason: RefusalReason
    detail: str
    blocked_by: int | None = None


def key_hash(key: str) -> str:
    """Return what the journal stores of a key. The key cannot be computed from it."""
    from hashlib import sha256  # most verbs never use a key

    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
