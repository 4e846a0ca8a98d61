"""A lease: a lane, or a named lock, held by somebody for a limited time under a fence that only grows."""

from enum import StrEnum

from msgspec import Struct

from dos.regions import Mode, Region

KEY_VARIABLE = "DOS_LEASE_KEY"  # what a worker hands to its programs; a fence is a number that anybody can read


class Request(Struct, frozen=True, kw_only=True):
    """What a would-be holder asks for."""

    lane: str
    holder: str
    host: str
    ttl_ms: int
    region: Region
    mode: Mode = Mode.EXCLUSIVE
    kind: str = "cluster"
    exclusive: bool = False  # runs alone: no other lane may be held beside it
    is_lock: bool = False  # a named lock: it has no region and meets only its own name
    run_id: str = ""
    loop_ts: str = ""
    pid: int | None = None
    pid_started: float | None = None
    system: str = (
        ""  # in whose table of processes the pid is; empty: unknown, as in leases of older versions
    )
    start_sha: str = ""
    key_hash: str = ""  # of the key that the holder's programs carry; empty: it was taken by hand, and has no programs


class Lease(Request, frozen=True, kw_only=True):
    """A granted request. Its identity is the fence."""

    fence: int
    boot: str
    granted_ms: int  # wall clock, for people
    beat_ms: int  # wall clock, for people
    expires_ms: int  # the store's clock: the only one that decides
    version: int  # of the lane's stream when this lease last changed

    def has_lapsed(self, now_ms: int, boot: str) -> bool:
        """Its time is over, or the machine restarted and its holder is dead: anybody may take it."""
        return self.expires_ms <= now_ms or self.boot != boot


class RefusalReason(StrEnum):
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
    """Why a request was not granted, and which lease stands in the way."""

    reason: RefusalReason
    detail: str
    blocked_by: int | None = None


def key_hash(key: str) -> str:
    """What is written of a key: whoever reads it cannot make the key from it."""
    from hashlib import sha256  # most verbs never meet a key

    return sha256(key.encode("utf-8", "surrogateescape")).hexdigest()
