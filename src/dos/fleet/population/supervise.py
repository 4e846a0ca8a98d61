"""The population plan: how many workers run, how many should, and what to do about it.

A plan, not an action: it starts and stops nothing. A lease that is not known to be dead keeps its
region, and a lane that could not be read counts as held, never as free.
"""

from collections.abc import Iterable, Sequence
from itertools import cycle, islice

from msgspec import UNSET

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
from dos.loop.verdicts import liveness
from dos.loop.verdicts.liveness import format_span
from dos.regions import Region


def supervise(
    evidence: SuperviseEvidence, policy: SupervisePolicy = SupervisePolicy()
) -> SuperviseVerdict:
    """Plan which workers to start, reap, flag and halt, so that `target` workers run."""
    verdict, _ = supervise_with_obstacles(evidence, policy)
    return verdict


def supervise_with_obstacles(
    evidence: SuperviseEvidence, policy: SupervisePolicy = SupervisePolicy()
) -> tuple[SuperviseVerdict, list[Obstacle]]:
    """Return the plan, and why lanes that wait for nothing by themselves get no worker."""
    scan = _Scan(evidence, policy)
    target = evidence.target
    alive = scan.alive
    admissible = scan.admissible()
    spawn: list[PlanRow] = []
    blocked: list[Blocked] = []
    if alive < target:
        missing = target - alive
        need = max(0, min(target, admissible) - alive)
        spawn, obstacles = scan.fill(need, short=missing)
        if len(spawn) < missing:
            blocked = scan.blocked(obstacles)
    else:
        obstacles = scan.full()
    answer, reason = _outcome(target, admissible, alive, spawn, blocked)
    if scan.unknown:
        reason = f"{reason}; {scan.unknown} could not be read and count as held"
    verdict = SuperviseVerdict(
        answer=answer,
        reason=reason,
        alive=alive,
        admissible=admissible,
        target=target,
        spawn=tuple(spawn),
        reap=tuple(scan.reap),
        flag=(*scan.flag, *_excess(evidence.lanes, alive - target)),
        proposed_halt=tuple(scan.proposed_halt),
        hold=tuple(scan.hold),
        blocked=tuple(blocked),
        evidence=evidence,
    )
    return verdict, obstacles


class _Lane:
    """One lane: what all of its entries say together."""

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
        self.waits = ""  # why no worker may be started on it

    def add(self, entry: LaneLiveness, *, repeats: bool, stays: bool) -> None:
        """Add an entry; `stays` says whether its holder is still there after the tick."""
        self.entries.append(entry)
        self.exclusive = self.exclusive or entry.is_exclusive
        self.repeats = (self.repeats or repeats) and not self.exclusive
        self.off_roster = self.off_roster and entry.off_roster is True
        if entry.off_roster is True and not stays:
            return  # no worker is started there again, so that its region does not matter
        if not self.placed:
            self.placed = True
            self.region = placement.region_of(entry.tree)
        elif entry.tree != self.region.globs:
            both_known = self.region.is_known and placement.region_of(entry.tree).is_known
            tree = (*self.region.globs, *entry.tree) if both_known else ()
            self.region = placement.region_of(tree)


class _Scan:
    """One pass over the evidence: which workers are alive, and which lanes could get one."""

    def __init__(self, evidence: SuperviseEvidence, policy: SupervisePolicy) -> None:
        self.policy = policy
        self.alive = 0
        self.unknown = 0
        self.alone = ""  # the lane of a live worker that runs alone
        self.lanes: dict[str, _Lane] = {}
        self.holders: list[LaneLiveness] = []  # entries that keep their region
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
        """Whether the holder of the entry is still there after this tick."""
        is_reaped = entry.liveness is liveness.Answer.STALLED and self.policy.reap_stalled
        return entry.pending or not (entry.liveness is None or is_reaped)

    def _read(self, entry: LaneLiveness, lane: _Lane) -> None:
        """Count one entry, and add its row to the plan."""
        if entry.pending:
            self._keep(entry, lane, "launched; its lease is not there yet")
        elif entry.liveness is None:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
        elif entry.is_person is True and entry.liveness is not liveness.Answer.STALLED:
            self._keep(entry, lane, "held, and not by a worker", counts=False)
        elif entry.liveness is liveness.Answer.ADVANCING:
            lane.advancing = True
            self._keep(entry, lane, "ADVANCING")
        elif entry.liveness is liveness.Answer.SPINNING:
            self._spinning(entry, lane)
        elif entry.liveness is not liveness.Answer.STALLED:
            lane.unknown = True
            self.unknown += 1
            self._keep(entry, lane, "its liveness is unknown, and what is unknown is never free")
        elif self.policy.reap_stalled:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
            self.reap.append(_row(entry, Disposition.REAP, "STALLED"))
        else:
            lane.waits = (
                "its worker is dead, and reap_stalled is off: its lease has to expire first"
            )
            self._keep(entry, lane, lane.waits, counts=False, lives=False)

    def _spinning(self, entry: LaneLiveness, lane: _Lane) -> None:
        """Flag a worker without progress, and propose its halt once it spins for too long."""
        age = entry.spinning_age_ms
        most = self.policy.spin_halt_after_ms
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
        """Keep the entry as it is; `counts`: it is a worker, `lives`: its holder is alive."""
        lane.kept = True
        self.alive += counts
        self.hold.append(_row(entry, Disposition.HOLD, why))
        # A name without a region of its own keeps none: its workers lease other names.
        if lane.region.is_known or not lane.repeats:
            self.holders.append(entry)
        if lives and lane.exclusive:
            self.alone = entry.lane

    def admissible(self) -> int:
        """Return how many workers the lanes have room for.

        A lane that is off the roster counts while it is held.
        """
        fixed: list[Region] = []
        exclusive = False
        repeats = False
        for lane in self.lanes.values():
            if lane.off_roster and not lane.kept:
                continue
            if lane.exclusive:
                exclusive = True
            elif lane.repeats and not lane.region.is_known:
                repeats = True  # its workers choose their own regions
            else:
                repeats = repeats or lane.repeats
                fixed.append(lane.region)
        room = placement.capacity(fixed)
        if repeats:
            room = max(room, self.policy.max_concurrency or 0)
        return room or int(exclusive)

    def fill(self, need: int, *, short: int) -> tuple[list[PlanRow], list[Obstacle]]:
        """Return the workers to start, at most `need`, and why each other lane gets none.

        Lanes come first, then names that repeat. `short` is how many workers are missing; the
        lanes may have no room for so many.
        """
        free = self._free()
        fixed = [name for name, lane in free.items() if not (lane.exclusive or lane.repeats)]
        held = [placement.region_of(entry.tree) for entry in self.holders]
        most = 0 if self.alone else need
        placed = placement.place([free[name].region for name in fixed], held, most)
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
        """Return the obstacles when the target is reached and no worker is started."""
        return self._full(self._free(), {})

    def blocked(self, obstacles: Sequence[Obstacle]) -> list[Blocked]:
        """Return why lanes get no worker, in the order of the roster."""
        reasons = {obstacle.lane: obstacle.reason for obstacle in obstacles}
        for name, lane in self.lanes.items():
            if lane.waits:
                reasons[name] = lane.waits
        return [Blocked(lane=name, reason=reasons[name]) for name in self.lanes if name in reasons]

    def _full(self, lanes: Iterable[str], in_the_way: dict[str, str]) -> list[Obstacle]:
        """Return the obstacles of lanes that get no worker because enough are running."""
        reason = "as many workers as wanted are at work, or started before it"
        found = []
        for name in lanes:
            if name in in_the_way:
                overlap = f"it overlaps {in_the_way[name]}"
                found.append(Obstacle(lane=name, waits_on=WaitsOn.REGION_HELD, reason=overlap))
            else:
                found.append(Obstacle(lane=name, waits_on=WaitsOn.HOST_FULL, reason=reason))
        return found

    def _free(self) -> dict[str, _Lane]:
        """Return the lanes on which a worker could be started."""
        lanes = self.lanes.items()
        return {
            name: lane
            for name, lane in lanes
            if lane.free and not lane.kept and not lane.off_roster
        }

    def _spread(self, need: int) -> list[str]:
        """Return `need` names of repeatable lanes in turn, those that are not held first."""
        unheld: list[str] = []
        held: list[str] = []
        for name, lane in self.lanes.items():
            is_usable = lane.free or lane.advancing
            if not lane.repeats or not is_usable or lane.unknown or lane.off_roster:
                continue
            if lane.kept:
                held.append(name)
            else:
                unheld.append(name)
        return list(islice(cycle([*unheld, *held]), need))

    def _rows(self, chosen: Sequence[str]) -> list[PlanRow]:
        """Return the rows of the workers to start, each with why its lane is free."""
        rows = []
        for name in chosen:
            lane = self.lanes[name]
            if lane.repeats:
                reason = "several workers may share its name"
            elif lane.entries[0].liveness:
                reason = "its stalled worker is reaped"
            else:
                reason = "nobody holds it"
            rows.append(PlanRow(lane=name, disposition=Disposition.SPAWN, reason=reason))
        return rows

    def _obstacles(
        self, free: dict[str, _Lane], chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> list[Obstacle]:
        """Return why each lane gets no worker that is not started and waits for nothing else."""
        started = set(chosen)
        found = []
        for name, lane in self.lanes.items():
            if lane.waits or name in started:
                continue
            if lane.repeats and lane.kept:
                shares = f"nobody is put beside a worker that is {_describe_holder(lane.entries)}"
                found.append(Obstacle(lane=name, waits_on=WaitsOn.REGION_HELD, reason=shares))
            elif name in free:
                waits_on, reason = self._obstacle(name, lane, chosen, in_the_way)
                found.append(Obstacle(lane=name, waits_on=waits_on, reason=reason))
        return found

    def _obstacle(
        self, name: str, lane: _Lane, chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> tuple[WaitsOn, str]:
        if self.alone:
            return WaitsOn.EXCLUSIVE, f"{self.alone} runs alone, and somebody is in it"
        if lane.exclusive:  # another worker runs or starts, or this lane would be started
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
    """Return the answer of the plan, and its reason."""
    if target > admissible:
        room = f"{target} are wanted, and the lanes have room for {admissible} at once"
        hint = "add disjoint lanes to dos.toml [lanes], or ask for fewer"
        return Answer.TARGET_UNREACHABLE, f"{room}; {hint}"
    if alive > target:
        what = "who advances is flagged, and nobody is stopped"
        return Answer.OVER_TARGET, f"{alive - target} more than wanted; {what}"
    if alive == target:
        return Answer.AT_TARGET, "as many as wanted"
    missing = target - alive
    if spawn:
        return Answer.FILLING, f"{missing} missing, {len(spawn)} to be started"
    because = f": {blocked[0].lane}: {blocked[0].reason}" if blocked else ""
    return Answer.FILLING, f"{missing} missing, and nobody can be placed{because}"


def _excess(lanes: Sequence[LaneLiveness], excess: int) -> list[PlanRow]:
    """Flag workers above the target: the last of the roster, and only those that advance."""
    found: list[PlanRow] = []
    for entry in reversed(lanes):
        if len(found) >= excess:
            break
        if entry.liveness is liveness.Answer.ADVANCING and not entry.pending:
            found.append(_row(entry, Disposition.FLAG, f"one of {excess} more than wanted"))
    return found


def _describe_holder(entries: Sequence[LaneLiveness]) -> str:
    kept = next(entry for entry in entries if entry.pending or entry.liveness)
    return "being launched" if kept.pending else str(kept.liveness)


def _row(entry: LaneLiveness, disposition: Disposition, reason: str) -> PlanRow:
    why = "" if entry.why is UNSET else f": {entry.why}"
    return PlanRow(lane=entry.lane, disposition=disposition, reason=reason + why)
