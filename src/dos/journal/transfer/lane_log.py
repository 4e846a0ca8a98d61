"""The lane log of released versions: its records, what is live by them, and our leases in its shape. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, assert_never

from dos.journal import lease_state as leases
from dos.journal.events import fleet, lanes
from dos.journal.events.envelope import Event
from dos.journal.events.reader import FactReader
from dos.lease import Lease
from dos.times import utc_stamp

Record = Mapping[str, Any]
Key = tuple[str, str]  # loop_ts and lane: what identifies a lease in that log
CORRUPT = "_CORRUPT"
FAMILIES = ("lane-journal", "intent-ledger")
VERSION = 1  # of both
_Change = lanes.LeaseRenewed | lanes.LeaseReleased | lanes.LeaseExpired | lanes.LeaseRevoked
Handled = leases.Handled | lanes.LeaseRefused | fleet.UnitAttempted
reader: FactReader[Handled] = FactReader(
    Handled,
    silent="""
        spawn_intended worker_spawned worker_reaped lane_failed drain_requested fleet_started
        fleet_stopped decision_forced run_minted run_begun unit_claimed unit_taken work_salvaged
        agent_started agent_ended work_measured landing_intended unit_landed landing_refused
        iteration_committed run_stopped id_allocated journal_pruned limit_hit limit_probed
        limit_lifted units_screened run_parked landing_queued landing_deferred run_unparked
        agent_waiting agent_went_on pause_requested pause_ended halt_requested spin_flagged
        decision_raised decision_answered plans_approved settings_approved lane_cleared
        unit_cleared budget_warned budget_spent budget_promised baseline_started baseline_checked
        work_committed fleet_found incident_found intent_declared extent_changed step_claimed
        step_verified run_suspended resume_proposed run_resumed run_ended halt_proposed
        ledger_line_unreadable hook_fault receipt_issued test_witnessed line_imported
        line_unreadable
    """,
)
_FLAT = (
    "lane",
    "lane_kind",
    "tree",
    "loop_ts",
    "host_id",
    "pid",
    "acquired_at",
    "heartbeat_at",
    "ttl_minutes",
    "holder",
    "run_id",
)


def replay(records: Iterable[object]) -> list[dict[str, Any]]:
    """The live leases of a lane log, in its order. It takes anything and leaves it unchanged."""
    live: dict[Key, dict[str, Any]] = {}
    for record in records:
        if isinstance(record, Mapping):
            _step(live, record)
    return list(live.values())


def next_seq(records: Iterable[object]) -> int:
    seen = [0]
    for record in records:
        if isinstance(record, Mapping):
            seen += [_number(record.get("seq")), _number(record.get("seq_watermark"))]
    return 1 + max(seen)


class Readability(StrEnum):
    READABLE = "READABLE"
    UNTAGGED = "UNTAGGED"
    WRONG_FAMILY = "WRONG_FAMILY"
    UNREADABLE_NEWER = "UNREADABLE_NEWER"  # refused, never guessed at


def readability(record: Record) -> Readability:
    """What a record's schema tag says about who may read it."""
    tag = record.get("schema")
    family, version = (
        (tag.get("family"), tag.get("version")) if isinstance(tag, Mapping) else (None, tag)
    )
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        return Readability.UNTAGGED
    if isinstance(family, str) and family not in FAMILIES:
        return Readability.WRONG_FAMILY
    return Readability.UNREADABLE_NEWER if version > VERSION else Readability.READABLE


def lane_log_lease(lease: Lease) -> dict[str, Any]:
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


def lane_records(happened: Iterable[Event]) -> Iterator[tuple[Event, dict[str, Any]]]:
    """Our lease events and attempts as records of that log, each with its event. Named locks had another file."""
    held = leases.Leases()
    for event, fact in reader.facts(happened):
        old = held.live.get(previous_lease(fact))
        held.apply(event)
        for record in _records(event, fact, old, held.live.get(event.pos)):
            yield event, {"seq": event.pos, "ts": utc_stamp(event.at_ms), **record}


def previous_lease(fact: Handled | None) -> int:
    """The lease that something became of; 0: it is of no earlier one."""
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


def _step(live: dict[Key, dict[str, Any]], record: Record) -> None:
    key = _key(record)
    match record.get("op"):
        case "CHECKPOINT":
            live.clear()
            leases = record.get("leases")
            for lease in leases if isinstance(leases, list) else ():
                if isinstance(lease, Mapping) and any(_key(lease)):
                    live[_key(lease)] = dict(lease)
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
            given = {
                name: record[name]
                for name in ("holder", "pid", "host_id")
                if record.get(name) is not None
            }
            live[key].update(given)
            _beat(live[key], record)


def _beat(lease: dict[str, Any], record: Record) -> None:
    if (beat := record.get("heartbeat_at") or record.get("ts")) is not None:
        lease["heartbeat_at"] = beat


def _key(record: Record) -> Key:
    return _text(record.get("loop_ts")), _text(record.get("lane"))


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    return str(value) if _number(value) else ""


def _contradicts(lease: Record, key: Key) -> bool:
    """The lease says it is another one than the record that grants it."""
    return any(said and said != known for said, known in zip(_key(lease), key, strict=True))


def _number(value: object) -> int:
    # Not a bool; and neither infinity nor NaN, which no integer can hold.
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if abs(value) < 1e18 else 0


def _minutes(ttl_ms: int) -> int | float:
    whole, rest = divmod(ttl_ms, 60_000)
    return ttl_ms / 60_000 if rest else whole


def _records(
    event: Event, fact: Handled, old: Lease | None, begun: Lease | None
) -> Iterator[dict[str, Any]]:
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
    match fact:
        case lanes.LeaseRenewed():
            return {"op": "HEARTBEAT", **_place(old), "heartbeat_at": utc_stamp(event.at_ms)}
        case lanes.LeaseReleased():
            return {"op": "RELEASE", **_place(old), "reason": fact.reason}
        case lanes.LeaseExpired():
            return _scavenge(old, "expired")
        case lanes.LeaseRevoked():
            return _scavenge(old, fact.reason)
        case never:
            assert_never(never)


def _adoption(event: Event, begun: Lease, old: Lease | None) -> Iterator[dict[str, Any]]:
    if old and _same_but_holder(begun, old):
        yield {
            "op": "ADOPT",
            **_place(begun),
            "holder": begun.holder,
            "pid": begun.pid,
            "prev_holder": old.holder,
            "heartbeat_at": utc_stamp(event.at_ms),
            "reason": "adopted",
        }
        return
    # That log can only change the holder of a lease; anything more is an end and a beginning.
    if old:
        yield _scavenge(old, "adopted")
    yield _acquire(begun, prev_holder=old.holder if old else None)


def _same_but_holder(begun: Lease, old: Lease) -> bool:
    def known(lease: Lease) -> tuple[object, ...]:
        return lease.lane, lease.loop_ts, lease.region, lease.kind, lease.ttl_ms, lease.run_id

    return known(begun) == known(old) and (begun.pid is not None or old.pid is None)


def _acquire(lease: Lease, prev_holder: str | None = None) -> dict[str, Any]:
    shape = lane_log_lease(lease)
    body = {name: value for name, value in shape.items() if name != "heartbeat_at" and value != ""}
    names = ("lane", "lane_kind", "tree", "loop_ts", "host_id", "pid", "ttl_minutes")
    flat = {name: shape[name] for name in names}
    return {"op": "ACQUIRE", **flat, "prev_holder": prev_holder, "reason": "granted", "lease": body}


def _scavenge(lease: Lease, reason: str) -> dict[str, Any]:
    return {
        "op": "SCAVENGE",
        **_place(lease),
        "pid": lease.pid,
        "prev_holder": lease.holder,
        "reason": reason,
    }


def _place(lease: Lease) -> dict[str, Any]:
    return {"lane": lease.lane, "loop_ts": lease.loop_ts, "host_id": lease.host}
