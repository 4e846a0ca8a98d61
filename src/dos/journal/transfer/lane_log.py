"""The lane log of dos-kernel ≤ 0.30: its records, the leases that are live by them, and ours.

`replay` reads such a log as that version did. `lane_records` and `lane_log_lease` write the events
and leases of this journal in its format, for programs that still read it.
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, assert_never

from dos.journal import lease_state
from dos.journal.events import fleet, lanes
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.lease import Lease
from dos.times import utc_stamp

Record = Mapping[str, Any]
Key = tuple[str, str]  # loop_ts and lane, which identify a lease in that log
CORRUPT = "_CORRUPT"
FAMILIES = ("lane-journal", "intent-ledger")
VERSION = 1  # of both families
_Change = lanes.LeaseRenewed | lanes.LeaseReleased | lanes.LeaseExpired | lanes.LeaseRevoked
Handled = lease_state.Handled | lanes.LeaseRefused | fleet.UnitAttempted
reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured landing_intended unit_landed landing_refused
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared unit_cleared
        budget_warned budget_spent budget_promised baseline_started baseline_checked work_committed
        fleet_found incident_found intent_declared extent_changed step_claimed step_verified
        run_suspended resume_proposed run_resumed run_ended halt_proposed ledger_line_unreadable
        hook_fault receipt_issued test_witnessed command_checked line_imported line_unreadable
        tool_called hook_answered marker_held marker_reset session_bound export_advanced
        notification_sent verdict_given lifecycle_ticked run_steered steer_delivered
    """,
)
_FLAT = (
    "lane", "lane_kind", "tree", "loop_ts", "host_id", "pid", "acquired_at", "heartbeat_at",
    "ttl_minutes", "holder", "run_id",
)  # fmt: skip


def replay(records: Iterable[object]) -> list[dict[str, Any]]:
    """Return the leases that are live by the records of a lane log, in its order.

    Records may be anything that JSON can hold, and are not changed.
    """
    live: dict[Key, dict[str, Any]] = {}
    for record in records:
        if isinstance(record, Mapping):
            _apply(live, record)
    return list(live.values())


def next_seq(records: Iterable[object]) -> int:
    """Return the sequence number after the highest one that the records name."""
    highest = 0
    for record in records:
        if isinstance(record, Mapping):
            for name in ("seq", "seq_watermark"):
                highest = max(highest, _number(record.get(name)))
    return highest + 1


class Readability(StrEnum):
    """Whether this version can read a record, as `dos journal` prints it in JSON."""

    READABLE = "READABLE"
    UNTAGGED = "UNTAGGED"
    WRONG_FAMILY = "WRONG_FAMILY"
    UNREADABLE_NEWER = "UNREADABLE_NEWER"  # refused: guessing at its meaning could be wrong


def readability(record: Record) -> Readability:
    """Return what a record's schema tag says about whether this version can read it."""
    tag = record.get("schema")
    family, version = None, tag
    if isinstance(tag, Mapping):
        family, version = tag.get("family"), tag.get("version")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        return Readability.UNTAGGED
    if isinstance(family, str) and family not in FAMILIES:
        return Readability.WRONG_FAMILY
    if version > VERSION:
        return Readability.UNREADABLE_NEWER
    return Readability.READABLE


def lane_log_lease(lease: Lease) -> dict[str, Any]:
    """Return a lease as a lane log writes it."""
    return {
        "lane": lease.lane,
        "lane_kind": lease.kind,
        "tree": list(lease.region.globs),
        "loop_ts": lease.loop_ts,
        "holder": lease.holder,
        "host_id": lease.host,
        "pid": lease.pid,
        "acquired_at": utc_stamp(lease.granted_ms),
        "heartbeat_at": utc_stamp(lease.beat_ms),
        "ttl_minutes": _minutes(lease.ttl_ms),
        "run_id": lease.run_id,
    }


def lane_records(events: Iterable[Event]) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Yield lease events and attempts as records of a lane log, each with its event.

    Named locks are left out: they had another file.
    """
    held = lease_state.Leases()
    for event, fact in reader.facts(events):
        old = held.live.get(previous_lease(fact))
        held.apply(event)
        for record in _records(event, fact, old, held.live.get(event.pos)):
            yield event, {"seq": event.pos, "ts": utc_stamp(event.at_ms), **record}


def previous_lease(fact: Handled | None) -> int:
    """Return the fence of the earlier lease that a fact changes or ends; 0 when there is none."""
    match fact:
        case lanes.LeaseAdopted():
            return fact.previous
        case (
            lanes.LeaseRenewed()
            | lanes.LeaseReleased()
            | lanes.LeaseExpired()
            | lanes.LeaseRevoked()
        ):
            return fact.lease
        case lanes.LeaseGranted() | lanes.LeaseRefused() | fleet.UnitAttempted() | None:
            return 0
        case never:
            assert_never(never)


def _apply(live: dict[Key, dict[str, Any]], record: Record) -> None:  # noqa: C901
    """Change the live leases by one record, by the rules of the version that wrote it.

    A record of an unknown kind, or without a key, changes nothing.
    """
    key = _key(record)
    match record.get("op"):
        case "CHECKPOINT":
            _restore(live, record.get("leases"))
        case _ if not any(key):
            return
        case "ACQUIRE" | "RECONCILE":
            lease = record.get("lease")
            if not isinstance(lease, Mapping):
                live[key] = {name: record[name] for name in _FLAT if name in record}
            elif not _contradicts(lease, key):
                live[key] = dict(lease)
        case "RELEASE" | "SCAVENGE":
            live.pop(key, None)
        case "HEARTBEAT" if key in live:
            _beat(live[key], record)
        case "ADOPT" if key in live:
            for name in ("holder", "pid", "host_id"):
                if record.get(name) is not None:
                    live[key][name] = record[name]
            _beat(live[key], record)


def _restore(live: dict[Key, dict[str, Any]], leases: object) -> None:
    """Replace the live leases by those of a checkpoint."""
    live.clear()
    if not isinstance(leases, list):
        return
    for lease in leases:
        if isinstance(lease, Mapping) and any(_key(lease)):
            live[_key(lease)] = dict(lease)


def _beat(lease: dict[str, Any], record: Record) -> None:
    """Note when the holder of a lease was last heard of."""
    beat = record.get("heartbeat_at") or record.get("ts")
    if beat is not None:
        lease["heartbeat_at"] = beat


def _key(record: Record) -> Key:
    """Return what identifies the lease of a record; two empty texts when it names none."""
    return _text(record.get("loop_ts")), _text(record.get("lane"))


def _text(value: object) -> str:
    """Return a text or a number as a text; "" for anything else."""
    if isinstance(value, str):
        return value
    if _number(value):
        return str(value)
    return ""


def _contradicts(lease: Record, key: Key) -> bool:
    """Whether a lease names another key than the record that grants it."""
    return any(said and said != known for said, known in zip(_key(lease), key, strict=True))


def _number(value: object) -> int:
    """Return a number as an integer; 0 for anything else, among it bool, infinity and NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    if not abs(value) < 1e18:
        return 0
    return int(value)


def _minutes(ttl_ms: int) -> int | float:
    """Return a lifetime in minutes, as a whole number where it is one."""
    whole, rest = divmod(ttl_ms, 60_000)
    if rest:
        return ttl_ms / 60_000
    return whole


def _records(
    event: Event, fact: Handled, old: Lease | None, begun: Lease | None
) -> Iterator[dict[str, Any]]:
    """Yield the records that an event stands for: one, or two for some adoptions.

    `old` is the lease that the event changes or ends, `begun` the one that it begins.
    """
    if (old and old.is_lock) or (begun and begun.is_lock):
        return
    match fact:
        case lanes.LeaseGranted():
            if begun:
                yield _acquire(begun)
        case lanes.LeaseAdopted():
            if begun:
                yield from _adoption(event, begun, old)
        case (
            lanes.LeaseRenewed()
            | lanes.LeaseReleased()
            | lanes.LeaseExpired()
            | lanes.LeaseRevoked()
        ):
            if old:
                yield _change(event, fact, old)
        case lanes.LeaseRefused():
            yield {
                "op": "REFUSE",
                "lane": fact.lane,
                "loop_ts": fact.loop_ts,
                "host_id": "",
                "run_id": fact.run_id,
                "holder": fact.holder,
                "reason": fact.reason,
                "reason_class": fact.reason_class,
            }
        case fleet.UnitAttempted():
            yield {
                "op": "ATTEMPT",
                "schema": {"family": FAMILIES[0], "version": VERSION},
                "unit_id": fact.unit,
                "outcome": fact.outcome,
                "lane": fact.lane,
                "loop_ts": fact.loop_ts,
                "host_id": fact.host,
                "run_id": fact.run_id,
            }
        case never:
            assert_never(never)


def _change(event: Event, fact: _Change, old: Lease) -> dict[str, Any]:
    """Return the record of an event that renews or ends a lease."""
    match fact:
        case lanes.LeaseRenewed():
            return {"op": "HEARTBEAT", **_identity(old), "heartbeat_at": utc_stamp(event.at_ms)}
        case lanes.LeaseReleased():
            return {"op": "RELEASE", **_identity(old), "reason": fact.reason}
        case lanes.LeaseExpired():
            return _scavenge(old, "expired")
        case lanes.LeaseRevoked():
            return _scavenge(old, fact.reason)
        case never:
            assert_never(never)


def _adoption(event: Event, begun: Lease, old: Lease | None) -> Iterator[dict[str, Any]]:
    """Yield the records of a lease that a new holder continues."""
    if old and _same_but_holder(begun, old):
        yield {
            "op": "ADOPT",
            **_identity(begun),
            "holder": begun.holder,
            "pid": begun.pid,
            "prev_holder": old.holder,
            "heartbeat_at": utc_stamp(event.at_ms),
            "reason": "adopted",
        }
        return
    # A lane log can only change the holder of a lease; anything more is an end and a beginning.
    if old:
        yield _scavenge(old, "adopted")
    yield _acquire(begun, prev_holder=old.holder if old else None)


def _same_but_holder(begun: Lease, old: Lease) -> bool:
    """Whether an adoption changed only the holder, so that a lane log can express it."""

    def terms(lease: Lease) -> tuple[object, ...]:
        return lease.lane, lease.loop_ts, lease.region, lease.kind, lease.ttl_ms, lease.run_id

    return terms(begun) == terms(old) and (begun.pid is not None or old.pid is None)


def _acquire(lease: Lease, prev_holder: str | None = None) -> dict[str, Any]:
    """Return the record of a grant.

    It has the lease's fields at the top, where old readers look for them, and the lease as a whole.
    """
    shape = lane_log_lease(lease)
    body = {name: value for name, value in shape.items() if name != "heartbeat_at" and value != ""}
    names = ("lane", "lane_kind", "tree", "loop_ts", "host_id", "pid", "ttl_minutes")
    flat = {name: shape[name] for name in names}
    return {"op": "ACQUIRE", **flat, "prev_holder": prev_holder, "reason": "granted", "lease": body}


def _scavenge(lease: Lease, reason: str) -> dict[str, Any]:
    """Return the record of a lease that was ended by another than its holder."""
    return {
        "op": "SCAVENGE",
        **_identity(lease),
        "pid": lease.pid,
        "prev_holder": lease.holder,
        "reason": reason,
    }


def _identity(lease: Lease) -> dict[str, Any]:
    """Return the fields by which every record names its lease."""
    return {"lane": lease.lane, "loop_ts": lease.loop_ts, "host_id": lease.host}
