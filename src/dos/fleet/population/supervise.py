"""The population plan: how many workers run, how many should, and what to do about it.

A plan, not an action: it starts and stops nothing. A lease that is not known to be dead keeps its
region, and a lane that could not be read counts as held, never as free.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import cycle, islice

from msgspec import UNSET

from dos.backlog.waiting import WaitsOn
from dos.fleet.population import placement
from dos.fleet.population.placement import RosterLane
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
from dos.text import plural


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
        reason = f"{reason}; {plural(scan.unknown, 'lease')} could not be read and count as held"
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


class _Scan:
    """One pass over the evidence: which workers are alive, and which lanes could get one."""

    def __init__(self, evidence: SuperviseEvidence, policy: SupervisePolicy) -> None:
        self.policy = policy
        self.target = evidence.target
        self.alive = 0
        self.unknown = 0
        self.alone = ""  # the lane of a live worker that runs alone
        self.lanes: dict[str, RosterLane] = {}
        self.holders: list[LaneLiveness] = []  # entries that keep their region
        self.hold: list[PlanRow] = []
        self.reap: list[PlanRow] = []
        self.flag: list[PlanRow] = []
        self.proposed_halt: list[PlanRow] = []
        for entry in evidence.lanes:
            lane = self.lanes.get(entry.lane)
            if lane is None:
                lane = self.lanes[entry.lane] = RosterLane()
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

    def _read(self, entry: LaneLiveness, lane: RosterLane) -> None:
        """Count one entry, and add its row to the plan."""
        if entry.pending:
            self._keep(entry, lane, "launched, and has not taken its lease yet")
        elif entry.liveness is None:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
        elif entry.is_person is True and entry.liveness is not liveness.Answer.STALLED:
            self._keep(entry, lane, "held by a person or a script, not by a worker", counts=False)
        elif entry.liveness is liveness.Answer.ADVANCING:
            lane.advancing = True
            self._keep(entry, lane, "advancing")
        elif entry.liveness is liveness.Answer.SPINNING:
            self._spinning(entry, lane)
        elif entry.liveness is not liveness.Answer.STALLED:
            lane.unknown = True
            self.unknown += 1
            self._keep(entry, lane, "its liveness is unknown, so the lane counts as held")
        elif self.policy.reap_stalled:
            lane.free = not entry.waits
            lane.waits = entry.waits or ""
            self.reap.append(_row(entry, Disposition.REAP, "stalled"))
        else:
            lane.waits = (
                "its worker is dead, and reap_stalled is off: its lease has to expire first"
            )
            self._keep(entry, lane, lane.waits, counts=False, lives=False)

    def _spinning(self, entry: LaneLiveness, lane: RosterLane) -> None:
        """Flag a worker without progress, and propose its halt once it spins for too long."""
        age = entry.spinning_age_ms
        most = self.policy.spin_halt_after_ms
        spinning = "spinning"
        if age is not None:
            spinning += f" for {format_span(age)}"
        self.flag.append(_row(entry, Disposition.FLAG, spinning))
        if most is not None and age is not None and age >= most:
            reason = f"{spinning}, and a halt is proposed after {format_span(most)}"
            self.proposed_halt.append(_row(entry, Disposition.PROPOSE_HALT, reason))
        counts = self.policy.count_spinning_as_alive
        if not counts:
            lane.waits = "its worker spins: it keeps the lane, and does not count as alive"
        self._keep(entry, lane, "spinning", counts=counts)

    def _keep(
        self,
        entry: LaneLiveness,
        lane: RosterLane,
        why: str,
        *,
        counts: bool = True,
        lives: bool = True,
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
        parts_of: list[str] = []
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
                parts_of.append(lane.part_of)
        room = self._capacity(fixed, parts_of)
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
        candidates = [free[name].region for name in fixed]
        placed = placement.place_with_room(
            candidates, held, most, lanes=[free[name].part_of for name in fixed], room=self._room()
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

    def _capacity(self, fixed: Sequence[Region], parts_of: Sequence[str]) -> int:
        """Return how many of the regions can be worked on at once."""
        most = self.policy.max_concurrency
        if most is None or not any(parts_of):
            return placement.capacity(fixed)
        room = dict.fromkeys(filter(None, parts_of), most)
        placed = placement.place_with_room(fixed, (), len(fixed), lanes=parts_of, room=room)
        return len(placed.chosen)

    def _room(self, chosen: Collection[str] = ()) -> dict[str, int]:
        """Return how many more workers each repeatable lane may get, besides those `chosen`.

        Without a bound nothing is returned.
        """
        most = self.policy.max_concurrency
        if most is None:
            return {}
        room: dict[str, int] = {}
        for name, lane in self.lanes.items():
            if lane.part_of:
                is_taken = lane.kept or name in chosen
                room[lane.part_of] = room.get(lane.part_of, most) - is_taken
        return room

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
        reason = "the fleet is to run no worker"
        if self.target:
            workers = plural(self.target, "worker")
            reason = (
                f"the fleet runs {workers} at a time, and other lanes come first;"
                f" `dos up --target {self.target + 1}` runs more"
            )
        found = []
        for name in lanes:
            if name in in_the_way:
                overlap = f"it overlaps lane {in_the_way[name]}"
                found.append(Obstacle(lane=name, waits_on=WaitsOn.REGION_HELD, reason=overlap))
            else:
                found.append(Obstacle(lane=name, waits_on=WaitsOn.HOST_FULL, reason=reason))
        return found

    def _free(self) -> dict[str, RosterLane]:
        """Return the lanes on which a worker could be started."""
        free = {}
        for name, lane in self.lanes.items():
            if lane.free and not lane.kept and not lane.off_roster:
                free[name] = lane
        return free

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
                reason = "no worker holds it"
            rows.append(PlanRow(lane=name, disposition=Disposition.SPAWN, reason=reason))
        return rows

    def _obstacles(
        self, free: dict[str, RosterLane], chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> list[Obstacle]:
        """Return why each lane gets no worker that is not started and waits for nothing else."""
        started = set(chosen)
        found = []
        for name, lane in self.lanes.items():
            if lane.waits or name in started:
                continue
            if lane.repeats and lane.kept:
                shares = f"its worker {_describe_holder(lane.entries)}, so no second one is started"
                found.append(Obstacle(lane=name, waits_on=WaitsOn.REGION_HELD, reason=shares))
            elif name in free:
                waits_on, reason = self._obstacle(name, lane, chosen, in_the_way)
                found.append(Obstacle(lane=name, waits_on=waits_on, reason=reason))
        return found

    def _obstacle(
        self, name: str, lane: RosterLane, chosen: Sequence[str], in_the_way: dict[str, str]
    ) -> tuple[WaitsOn, str]:
        if self.alone:
            return WaitsOn.EXCLUSIVE, f"lane {self.alone} runs alone, and a worker holds it"
        if lane.exclusive:  # another worker runs or starts, or this lane would be started
            others = [*(row.lane for row in self.hold), *chosen]
            first = "no worker is wanted"
            if others:
                first = f"lane {others[0]} has or gets a worker"
            return WaitsOn.EXCLUSIVE, f"it runs alone, and {first}"
        if lane.part_of and self._room(chosen).get(lane.part_of, 1) <= 0:
            most = plural(self.policy.max_concurrency or 0, "worker")
            enough = f"lane {lane.part_of} has {most}: [supervise] max_concurrency allows no more"
            return WaitsOn.HOST_FULL, enough
        if name in in_the_way:
            overlap = f"it overlaps lane {in_the_way[name]}"
            if not lane.region.is_known:
                overlap = f"its own region is unknown, so {overlap}"
            return WaitsOn.REGION_HELD, overlap
        return WaitsOn.HOST_FULL, "the other lanes leave no room for another worker"


def _outcome(
    target: int, admissible: int, alive: int, spawn: Sequence[PlanRow], blocked: Sequence[Blocked]
) -> tuple[Answer, str]:
    """Return the answer of the plan, and its reason."""
    if target > admissible:
        room = f"{plural(target, 'worker')} wanted, and the lanes have room for {admissible}"
        hint = "add disjoint lanes to dos.toml [lanes], or use a smaller --target"
        return Answer.TARGET_UNREACHABLE, f"{room}; {hint}"
    if alive > target:
        excess = f"{plural(alive - target, 'worker')} above the target of {target}"
        return Answer.OVER_TARGET, f"{excess}; workers are flagged, and none is stopped"
    if alive == target:
        if not target:
            return Answer.AT_TARGET, "no worker is wanted, and none runs"
        return Answer.AT_TARGET, f"{plural(target, 'worker')} wanted, and {target} run"
    missing = target - alive
    if spawn:
        return Answer.FILLING, f"{plural(missing, 'worker')} missing, {len(spawn)} to be started"
    text = f"{plural(missing, 'worker')} missing, and none can be started"
    if blocked:
        text += f": lane {blocked[0].lane}: {blocked[0].reason}"
    return Answer.FILLING, text


def _excess(lanes: Sequence[LaneLiveness], excess: int) -> list[PlanRow]:
    """Flag workers above the target: the last of the roster, and only those that advance."""
    found: list[PlanRow] = []
    for entry in reversed(lanes):
        if len(found) >= excess:
            break
        if entry.liveness is liveness.Answer.ADVANCING and not entry.pending:
            found.append(
                _row(entry, Disposition.FLAG, f"one of {plural(excess, 'worker')} above the target")
            )
    return found


def _describe_holder(entries: Sequence[LaneLiveness]) -> str:
    kept = next(entry for entry in entries if entry.pending or entry.liveness)
    if kept.pending:
        return "is being launched"
    return f"is {str(kept.liveness).lower()}"


def _row(entry: LaneLiveness, disposition: Disposition, reason: str) -> PlanRow:
    why = "" if entry.why is UNSET else f": {entry.why}"
    return PlanRow(lane=entry.lane, disposition=disposition, reason=reason + why)
