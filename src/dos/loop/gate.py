"""Decide why a dispatch started nothing, and what the loop does about it.

Also the table [loop] of `dos.toml`, with the mode of the gate and the limits of the loop.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, Literal

from msgspec import DecodeError, Struct, field, json, structs

from dos.errors import MalformedDisposition, StaleDispositionContract
from dos.fields import Count, PublicRecord, Table
from dos.text import quote

DISPOSITIONS_SCHEMA = "oc3-dispositions-v1"
RACE_SCHEMA = "next-up-race-v1"


class Gate(StrEnum):
    """Why nothing was dispatched, or that something can be."""

    LIVE = "LIVE"  # a pick can be dispatched
    DRAIN = "DRAIN"  # no pick is left
    STALE_STAMP = "STALE-STAMP"  # a pick has shipped, and the plan document does not say so
    BLOCKED = "BLOCKED"  # picks are left, and none may be taken now
    RACE = "RACE"  # another process was writing the packet
    WEDGE = "BLOCKED"  # its older name


class Mode(StrEnum):
    """What a loop does with an empty packet: refill it by a replan, or stop.

    The mode is `[loop] gate_mode`.
    """

    HARD = "hard"
    SOFT = "soft"
    DRIVE = "drive"  # the same as soft; released callers name it


class GatePolicy(PublicRecord, frozen=True, kw_only=True):
    """What a loop does at a gate."""

    next_mode: str  # dispatch | replan | stop
    reconcile: bool = False  # correct the stamps before the next dispatch
    counts_toward_drain: bool = False
    surface: bool = False  # a person should know


_REFILL = {
    Gate.LIVE: GatePolicy(next_mode="dispatch"),
    Gate.DRAIN: GatePolicy(next_mode="replan", counts_toward_drain=True),
    Gate.STALE_STAMP: GatePolicy(next_mode="replan"),
    Gate.BLOCKED: GatePolicy(next_mode="replan"),
    Gate.RACE: GatePolicy(next_mode="dispatch", surface=True),
}
_STOP = {
    **_REFILL,
    Gate.DRAIN: GatePolicy(next_mode="stop", counts_toward_drain=True, surface=True),
    Gate.STALE_STAMP: GatePolicy(next_mode="dispatch", reconcile=True),
    Gate.BLOCKED: GatePolicy(next_mode="stop", surface=True),
}
_POLICIES: dict[str, dict[Gate, GatePolicy]] = {
    Mode.HARD: _REFILL,
    Mode.SOFT: _STOP,
    Mode.DRIVE: _STOP,
}


def gate_policy(verdict: Gate, mode: Mode | str = Mode.HARD) -> GatePolicy:
    """Return what a loop does at a gate; raises ValueError for an unknown mode."""
    if mode not in _POLICIES:
        raise ValueError(f"the gate mode {mode!r} is none of {', '.join(Mode)}")
    return _POLICIES[mode][Gate(verdict)]


class Disposition(Struct, frozen=True, kw_only=True):
    """What became of one pick of a packet: it is live, or why it was dropped."""

    phase: str
    series: str = ""
    live: bool = False  # it can be dispatched
    drop_reason: str = ""  # shipped, soft_claimed, quota_blocked, or anything else
    ship_via: str = ""
    plan_doc_stamped: bool = True
    ship_sha: str = ""
    claim_tag: str = ""

    @property
    def unstamped_ship(self) -> bool:
        """Whether it shipped by direct proof, and its plan document does not say so."""
        return (
            self.drop_reason == "shipped"
            and self.ship_via == "direct"
            and not self.plan_doc_stamped
        )


class Pick(Struct, frozen=True, kw_only=True):
    """A disposition, as the answer shows it."""

    series: str
    phase: str
    live: bool
    drop_reason: str


class Verdict(Struct, frozen=True, kw_only=True):
    """Why nothing was dispatched, and the picks that show it."""

    answer: Gate = field(name="verdict")
    reason: str = ""
    evidence: tuple[Pick, ...] = ()

    @property
    def is_false_drain(self) -> bool:
        """Whether picks are left although none could be dispatched."""
        return self.answer in (Gate.STALE_STAMP, Gate.BLOCKED, Gate.RACE)


class Packet(Struct, frozen=True, kw_only=True):
    """The picks of a packet."""

    picks: tuple[Disposition, ...] = ()
    raced: bool = False  # another process was writing it, so that the picks are incomplete


def plan(packet: Packet) -> Verdict:
    """Decide by the picks of a packet, unless another process was writing it."""
    if packet.raced:
        return Verdict(answer=Gate.RACE, reason="another process was writing the packet")
    return classify(packet.picks)


def classify(picks: Iterable[object]) -> Verdict:
    """Decide by picks: records, objects with the same fields, or plain dicts.

    Raises MalformedDisposition for a pick that cannot be read.
    """
    read = [disposition(pick, number) for number, pick in enumerate(picks, 1)]
    if live := [pick for pick in read if pick.live]:
        return _verdict(Gate.LIVE, f"{len(live)} of {len(read)} picks can be dispatched", live)
    if unstamped := [pick for pick in read if pick.unstamped_ship]:
        return _verdict(
            Gate.STALE_STAMP, "shipped, and the plan document does not say so", unstamped
        )
    if blocked := [pick for pick in read if pick.drop_reason in ("soft_claimed", "quota_blocked")]:
        return _verdict(Gate.BLOCKED, "left, and not to be had now", blocked)
    return Verdict(answer=Gate.DRAIN, reason="no pick is left" if read else "there are no picks")


def _verdict(gate: Gate, reason: str, picks: list[Disposition]) -> Verdict:
    """Return the verdict with the picks that show it; the reason names the first five."""
    named = ", ".join(pick.phase for pick in picks[:5])
    if len(picks) > 5:
        named = f"{named} ..."
    evidence = (
        Pick(series=pick.series, phase=pick.phase, live=pick.live, drop_reason=pick.drop_reason)
        for pick in picks
    )
    return Verdict(answer=gate, reason=f"{reason}: {named}", evidence=tuple(evidence))


def disposition(pick: object, number: int = 1) -> Disposition:
    """Read one pick strictly: a text in place of a boolean is refused, not taken for true."""
    if isinstance(pick, Disposition):
        return _with_series(pick)
    given = pick if isinstance(pick, Mapping) else _fields(pick)
    phase = given.get("phase") or given.get("phase_id")
    if not isinstance(phase, str) or not phase.strip():
        raise MalformedDisposition(
            f"pick {number} has no phase: {_written(pick)}",
            hint='Each pick is at least {"phase": "ID"}.',
        )
    values: dict[str, Any] = {}
    for name, kind in _KINDS.items():
        value = given.get(name)
        if value is None:
            continue
        if not isinstance(value, kind):
            wanted = "true or false" if kind is bool else "a text"
            raise MalformedDisposition(
                f"pick {number} ({quote(phase)}): {name} is {_written(value)}",
                hint=f"Make it {wanted}.",
            )
        values[name] = value
    return _with_series(Disposition(phase=phase, **values))


_KINDS: dict[str, type] = {
    "series": str,
    "live": bool,
    "drop_reason": str,
    "ship_via": str,
    "plan_doc_stamped": bool,
    "ship_sha": str,
    "claim_tag": str,
}


def _fields(pick: object) -> Mapping[str, Any]:
    """Return the fields of an object that is no mapping; a missing one is None."""
    return {name: getattr(pick, name, None) for name in ("phase", "phase_id", *_KINDS)}


def _written(value: object) -> str:
    """Return a value as JSON, as it was written."""
    import json  # only a mistake needs it

    if isinstance(value, str):
        return quote(value)
    return quote(json.dumps(value, default=str, skipkeys=True, ensure_ascii=False))


def _with_series(pick: Disposition) -> Disposition:
    """Return the pick with its series: its phase without the number at the end."""
    if pick.series:
        return pick
    return structs.replace(pick, series=pick.phase.rstrip("0123456789.") or pick.phase)


def dispositions(text: bytes | str, where: str) -> tuple[Disposition, ...]:
    """Read the picks of a dispositions file; `where` is its name, for the errors.

    Raises StaleDispositionContract when it is not such a file.
    """
    again = "Write the packet again."
    try:
        found = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise StaleDispositionContract(f"{where} is not JSON: {error}", hint=again) from error
    if not isinstance(found, dict) or found.get("schema") != DISPOSITIONS_SCHEMA:
        schema = found.get("schema") if isinstance(found, dict) else None
        raise StaleDispositionContract(
            f"{where} has the schema {quote(str(schema))}, not {DISPOSITIONS_SCHEMA!r}", hint=again
        )
    picks = found.get("dispositions")
    if not isinstance(picks, list):
        raise StaleDispositionContract(f"{where} holds no list of dispositions", hint=again)
    return tuple(disposition(pick, number) for number, pick in enumerate(picks, 1))


def is_race(text: bytes | str) -> bool:
    """Whether the text records a race of two writers of a packet; unreadable text does not."""
    try:
        found = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError):
        return False
    return isinstance(found, dict) and found.get("schema") == RACE_SCHEMA


class Loop(Table, frozen=True, kw_only=True):
    """[loop]: how often in a row something may go wrong before a loop stops."""

    gate_mode: Literal["hard", "soft", "drive"] = "hard"
    """When no unit can be offered: `hard` replans; `soft`, and its other name `drive`, stop."""
    max_unclear: Count = 3
    """Iterations in a row without a clear result after which the loop stops; 0 means 1."""
    max_dirty_zero: Count = 3
    """Finished iterations in a row that land nothing after which the loop stops; 0 means 1."""
    max_overloaded: Count = 3
    """Overloads and passing failures in a row after which the loop stops; 0 means 1."""
    max_stale_stamp: Count = 3
    """Gates in a row, BLOCKED or STALE-STAMP, after which the loop stops; 0 means 1."""
    max_unproductive_replan_drains: Count = 2
    """Fruitless replans of a drained backlog in a row before the loop stops; 0: no replan."""
    max_unproductive_replan: Count = 2
    """Replans in a row that add no unit after which the loop stops; 0 means 1."""
    max_adopt_wait: Count = 2
    """Unclear iterations in a row that do not count while a child of them lands commits."""
    max_race: Count = 2
    """Races in a row that may be lost before the next one counts as unclear."""
    max_wait: Count = 3
    """Waits in a row for a usage window or a failed start before the loop stops; 0: none."""
