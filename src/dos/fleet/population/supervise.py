"""How many workers are there, how many should there be, and what is to be done about it?

A plan, not an act: it starts nobody and stops nobody. A lease that is not known to be dead keeps its region, whatever
else is thought of it; what could not be read is held, never free.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle, islice

from msgspec import UNSET

from dos import regions
from dos.backlog.waiting import WaitsOn
from dos.fleet.population import placement
from dos.fleet.population.types import (
    Answer,
    Blocked,
    Disposition,
    LaneLiveness,
    Obstacle,
    PlanRow,
    SuperviseEvidence,
    SupervisePolicy,
    SuperviseVerdict,
)
from dos.loop.verdicts.liveness import Answer as Liveness
from dos.loop.verdicts.liveness import format_span
from dos.regions import Region


def supervise(
    evidence: SuperviseEvidence, policy: SupervisePolicy = SupervisePolicy()
) -> SuperviseVerdict:
    return supervise_with_obstacles(evidence, policy)[0]


def supervise_with_obstacles(
    evidence: SuperviseEvidence, policy: SupervisePolicy = SupervisePolicy()
) -> tuple[SuperviseVerdict, list[Obstacle]]:
    """The plan, and what keeps each lane from getting a worker that has nothing of its own to wait for."""
    seen = _Seen(evidence, policy)
    target, alive, admissible = evidence.target, seen.alive, seen.admissible()
    spawn: list[PlanRow] = []
    obstacles: list[Obstacle] = []
    blocked: list[Blocked] = []
    if alive < target:
        spawn, obstacles = seen.fill(max(0, min(target, admissible) - alive), short=target - alive)
        waits = {name: lane.waits for name, lane in seen.lanes.items() if lane.waits}
        reasons = {each.lane: each.reason for each in obstacles} | waits
        if len(spawn) < target - alive:
            blocked = [
                Blocked(lane=name, reason=reasons[name]) for name in seen.lanes if name in reasons
            ]
    else:
        obstacles = seen.full()
    answer, reason = _outcome(target, admissible, alive, spawn, blocked)
    verdict = SuperviseVerdict(
        answer=answer,
        reason=f"{reason}; {seen.unknown} could not be read and count as held"
        if seen.unknown
        else reason,
        alive=alive,
        admissible=admissible,
        target=target,
        spawn=tuple(spawn),
        reap=tuple(seen.reap),
        flag=(*seen.flag, *_excess(evidence.lanes, alive - target)),
        proposed_halt=tuple(seen.proposed_halt),
        hold=tuple(seen.hold),
        blocked=tuple(blocked),
        evidence=evidence,
    )
    return verdict, obstacles


def overlapping_concurrent_lanes(
    lanes: Iterable[tuple[str, Sequence[str], bool]],
) -> list[tuple[str, str]]:
    """Pairs of lanes that never run side by side, by name; a lane that runs alone anyway is left out."""
    named = [
        (name, placement.region_of(tuple(tree))) for name, tree, exclusive in lanes if not exclusive
    ]
    pairs = regions.overlapping_pairs([region for _, region in named])
    found = {
        (min(names), max(names))
        for names in ((named[one][0], named[other][0]) for one, other in pairs)
    }
    return sorted(pair for pair in found if pair[0] != pair[1])


class _Lane:
    """What the entries of one lane say together."""

    __slots__ = (
        "advancing",
        "entries",
        "exclusive",
        "free",
        "kept",
        "off_roster",
        "placed",
        "region",
        "repeats",
        "unknown",
        "waits",
    )

    def __init__(self) -> None:
        self.entries: list[LaneLiveness] = []
        self.region = placement.region_of(())
        self.placed = False  # the region is that of an entry
        self.exclusive = False
        self.repeats = False
        self.off_roster = True
        self.free = False  # an entry is free, or will be after this tick
        self.kept = False  # an entry stays as it is
        self.advancing = False
        self.unknown = False
        self.waits = ""  # why it is held and counts for nobody, or why nobody may be started on it

    def add(self, entry: LaneLiveness, *, repeats: bool, stays: bool) -> None:
        self.entries.append(entry)
        self.exclusive = self.exclusive or entry.is_exclusive
        self.repeats = (self.repeats or repeats) and not self.exclusive
        self.off_roster = self.off_roster and entry.off_roster is True
        if entry.off_roster is True and not stays:
            return  # nobody is started there again, so where it was does not matter any more
        if not self.placed:
            self.placed, self.region = True, placement.region_of(entry.tree)
        elif entry.tree != self.region.globs:
            both_known = self.region.is_known and placement.region_of(entry.tree).is_known
            self.region = placement.region_of(
                (*self.region.globs, *entry.tree) if both_known else ()
            )


class _Seen:
    """One pass over the evidence: who is alive, who holds what, which lanes could get a worker."""

    def __init__(self, evidence: SuperviseEvidence, policy: SupervisePolicy) -> None:
        self.policy = policy
        self.alive = 0
        self.unknown = 0
        self.alone = ""  # the lane of a live worker that runs alone
        self.lanes: dict[str, _Lane] = {}
        self.holders: list[LaneLiveness] = []  # who keeps a region
        self.hold: list[PlanRow] = []
        self.reap: list[PlanRow] = []
        self.flag: list[PlanRow] = []
        self.proposed_halt: list[PlanRow] = []
        for entry in evidence.lanes:
            lane = self.lanes.get(entry.lane)
            if lane is None:
                lane = self.lanes[entry.lane] = _Lane()
            lane.add(
                entry,
                repeats=entry.repeatable and policy.max_concurrency is not None,
                stays=self._stays(entry),
            )
        for entry in evidence.lanes:
            self._read(entry, self.lanes[entry.lane])

    def _stays(self, entry: LaneLiveness) -> bool:
        """Somebody is there after this tick who is there before it."""
        dead = entry.liveness is Liveness.STALLED and self.policy.reap_stalled
        return entry.pending or not (entry.liveness is None or dead)

    def _read(self, entry: LaneLiveness, lane: _Lane) -> None:
        if entry.pending:
            self._keep(entry, lane, "launched; its lease is not there yet")
        elif entry.liveness is None:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
        elif entry.is_person is True and entry.liveness is not Liveness.STALLED:
            self._keep(entry, lane, "held, and not by a worker", counts=False)
        elif entry.liveness is Liveness.ADVANCING:
            lane.advancing = True
            self._keep(entry, lane, "ADVANCING")
        elif entry.liveness is Liveness.SPINNING:
            self._spinning(entry, lane)
        elif entry.liveness is not Liveness.STALLED:
            lane.unknown = True
            self.unknown += 1
            self._keep(entry, lane, "its liveness is unknown, and what is unknown is never free")
        elif self.policy.reap_stalled:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
            self.reap.append(_row(entry, Disposition.REAP, "STALLED"))
        else:
            lane.waits = "its worker is STALLED, and reap_stalled is off"
            self._keep(entry, lane, lane.waits, counts=False, lives=False)

    def _spinning(self, entry: LaneLiveness, lane: _Lane) -> None:
        age, most = entry.spinning_age_ms, self.policy.spin_halt_after_ms
        since = "" if age is None else f" for {format_span(age)}"
        self.flag.append(_row(entry, Disposition.FLAG, f"SPINNING{since}"))
        if most is not None and age is not None and age >= most:
            reason = f"SPINNING{since}, and a halt is proposed after {format_span(most)}"
            self.proposed_halt.append(_row(entry, Disposition.PROPOSE_HALT, reason))
        counts = self.policy.count_spinning_as_alive
        if not counts:
            lane.waits = "its worker is SPINNING: it keeps the lane, and is not counted as alive"
        self._keep(entry, lane, "SPINNING", counts=counts)

    def _keep(
        self, entry: LaneLiveness, lane: _Lane, why: str, *, counts: bool = True, lives: bool = True
    ) -> None:
        lane.kept = True
        self.alive += counts
        self.hold.append(_row(entry, Disposition.HOLD, why))
        # A name that stands for no region of its own keeps none: what its workers take is leased under other names.
        if lane.region.is_known or not lane.repeats:
            self.holders.append(entry)
        if lives and lane.exclusive:
            self.alone = entry.lane

    def admissible(self) -> int:
        """How many workers the lanes have room for; what is off the roster counts while somebody is there."""
        fixed: list[Region] = []
        exclusive = repeats = False
        for lane in self.lanes.values():
            if lane.off_roster and not lane.kept:
                continue
            if lane.exclusive:
                exclusive = True
            elif lane.repeats and not lane.region.is_known:
                repeats = True  # its workers find their own regions
            else:
                repeats = repeats or lane.repeats
                fixed.append(lane.region)
        room = placement.capacity(fixed)
        if repeats:
            room = max(room, self.policy.max_concurrency or 0)
        return room or int(exclusive)

    def fill(self, need: int, *, short: int) -> tuple[list[PlanRow], list[Obstacle]]:
        """Who is started, at most `need`: lanes first, then shared names; and what keeps each of the others waiting.

        `short` is how many are missing; the lanes may have no room for so many.
        """
        free = self._free()
        fixed = [name for name, lane in free.items() if not (lane.exclusive or lane.repeats)]
        held = [placement.region_of(entry.tree) for entry in self.holders]
        placed = placement.place(
            [free[name].region for name in fixed], held, 0 if self.alone else need
        )
        chosen = [fixed[number] for number in placed.chosen]
        if not self.alone:
            chosen += self._spread(need - len(chosen))
            if not chosen and not self.hold:
                chosen = [name for name, lane in free.items() if lane.exclusive][:need]
        names = [*(entry.lane for entry in self.holders), *fixed]
        reasons = {fixed[number]: names[other] for number, other in placed.blocked_by.items()}
        if len(chosen) == short:
            others = {name: lane for name, lane in free.items() if name not in chosen}
            return self._rows(chosen), self._full(others, reasons)
        return self._rows(chosen), self._obstacles(free, chosen, reasons)

    def full(self) -> list[Obstacle]:
        """As many as wanted are alive: nobody else is started."""
        return self._full(self._free(), {})

    def _full(self, lanes: Iterable[str], in_the_way: dict[str, str]) -> list[Obstacle]:
        reason = "as many workers as wanted are at work, or started before it"
        found = []
        for name in lanes:
            if name in in_the_way:
                found.append(
                    Obstacle(
                        lane=name,
                        waits_on=WaitsOn.REGION_HELD,
                        reason=f"it overlaps {in_the_way[name]}",
                    )
                )
            else:
                found.append(Obstacle(lane=name, waits_on=WaitsOn.HOST_FULL, reason=reason))
        return found

    def _free(self) -> dict[str, _Lane]:
        return {
            name: lane
            for name, lane in self.lanes.items()
            if lane.free and not (lane.kept or lane.off_roster)
        }

    def _spread(self, need: int) -> list[str]:
        """Every repeatable lane once, those that nobody holds first, and then round again."""
        lanes = [
            (name, lane)
            for name, lane in self.lanes.items()
            if lane.repeats
            and (lane.free or lane.advancing)
            and not (lane.unknown or lane.off_roster)
        ]
        order = [name for name, lane in lanes if not lane.kept] + [
            name for name, lane in lanes if lane.kept
        ]
        return list(islice(cycle(order), need))

    def _rows(self, chosen: Sequence[str]) -> list[PlanRow]:
        rows = []
        for name in chosen:
            lane = self.lanes[name]
            reason = (
                "its stalled worker is reaped" if lane.entries[0].liveness else "nobody holds it"
            )
            reason = "several workers may share its name" if lane.repeats else reason
            rows.append(PlanRow(lane=name, disposition=Disposition.SPAWN, reason=reason))
        return rows

    def _obstacles(
        self, free: dict[str, _Lane], chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> list[Obstacle]:
        started = set(chosen)
        found = []
        for name, lane in self.lanes.items():
            if lane.waits or name in started:
                continue
            if lane.repeats and lane.kept:
                shares = f"nobody is put beside a worker that is {_shown(lane.entries)}"
                found.append(Obstacle(lane=name, waits_on=WaitsOn.REGION_HELD, reason=shares))
            elif name in free:
                on, reason = self._obstacle(name, lane, chosen, in_the_way)
                found.append(Obstacle(lane=name, waits_on=on, reason=reason))
        return found

    def _obstacle(
        self, name: str, lane: _Lane, chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> tuple[WaitsOn, str]:
        if self.alone:
            return WaitsOn.EXCLUSIVE, f"{self.alone} runs alone, and somebody is in it"
        if lane.exclusive:  # somebody is there or is started, or it would be started itself
            others = [*(row.lane for row in self.hold), *chosen]
            first = f"{others[0]} does not wait for it" if others else "nobody is wanted"
            return WaitsOn.EXCLUSIVE, f"it runs alone, and {first}"
        if name in in_the_way:
            unknown = "" if lane.region.is_known else "its own region is unknown: "
            return WaitsOn.REGION_HELD, f"{unknown}it overlaps {in_the_way[name]}"
        return WaitsOn.HOST_FULL, "the lanes have no room for one more"


def _outcome(
    target: int, admissible: int, alive: int, spawn: Sequence[PlanRow], blocked: Sequence[Blocked]
) -> tuple[Answer, str]:
    if target > admissible:
        room = f"{target} are wanted, and the lanes have room for {admissible} at once"
        return (
            Answer.TARGET_UNREACHABLE,
            f"{room}; add disjoint lanes to dos.toml [lanes], or ask for fewer",
        )
    if alive > target:
        return (
            Answer.OVER_TARGET,
            f"{alive - target} more than wanted; who advances is flagged, and nobody is stopped",
        )
    if alive == target:
        return Answer.AT_TARGET, "as many as wanted"
    missing = target - alive
    if spawn:
        return Answer.FILLING, f"{missing} missing, {len(spawn)} to be started"
    because = f": {blocked[0].lane}: {blocked[0].reason}" if blocked else ""
    return Answer.FILLING, f"{missing} missing, and nobody can be placed{because}"


def _excess(lanes: Sequence[LaneLiveness], excess: int) -> list[PlanRow]:
    """Who could be done without: those that come last in the roster, and only those that advance."""
    found: list[PlanRow] = []
    for entry in reversed(lanes if excess > 0 else ()):
        if len(found) == excess:
            break
        if entry.liveness is Liveness.ADVANCING and not entry.pending:
            found.append(_row(entry, Disposition.FLAG, f"one of {excess} more than wanted"))
    return found


def _shown(entries: Sequence[LaneLiveness]) -> str:
    kept = next(entry for entry in entries if entry.pending or entry.liveness)
    return "being launched" if kept.pending else str(kept.liveness)


def _row(entry: LaneLiveness, disposition: Disposition, reason: str) -> PlanRow:
    why = "" if entry.why is UNSET else f": {entry.why}"
    return PlanRow(lane=entry.lane, disposition=disposition, reason=reason + why)
