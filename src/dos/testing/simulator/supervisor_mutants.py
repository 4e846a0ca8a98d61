"""Planted bugs of supervisors, and of how the fleet obeys the answers of people.

Each function changes what a supervisor observes, what an effect does or how an event is folded, for
one simulation. Its docstring says what the broken product does.
"""

from contextlib import ExitStack
from typing import TYPE_CHECKING
from unittest.mock import patch

from msgspec import structs

from dos.approval.io.texts import ApprovedTexts, ConfirmedChanges
from dos.backlog.attempts import Attempts
from dos.backlog.io import target
from dos.backlog.pickable import MOST_DEATHS
from dos.baseline import gate
from dos.config.load import FILE_NAME
from dos.fleet.observation import Observation
from dos.fleet.state.entries import Incidents
from dos.fleet.state.fleet import FleetState, UnitState
from dos.fleet.tick import RevokeLease
from dos.journal import streams
from dos.journal.events.envelope import Event
from dos.journal.events.fleet import FleetStarted
from dos.journal.events.limits import UnitCleared
from dos.lease import Lease, Request
from dos.questions.question import Choice, ClearLane, Consequence
from dos.questions.state import Decisions
from dos.testing.simulator.world.process import Host, Process

if TYPE_CHECKING:
    from dos.testing.simulator.simulation import Simulation

SPIN_MS = 60_000


def reap_reads_again(simulation: "Simulation", _patches: ExitStack) -> None:
    """A supervisor revokes the lane's lease as it is now, not the one that it judged dead."""
    fleets, site = simulation.supervisors, simulation.site
    revoke = fleets.revoke

    def revoked(process: Process, effect: RevokeLease) -> bool:
        now = [lease for lease in site.reader.leases() if lease.lane == effect.lease.lane]
        return revoke(process, structs.replace(effect, lease=now[0]) if now else effect)

    fleets.revoke = revoked  # type: ignore[method-assign]


def no_pending(simulation: "Simulation", patches: ExitStack) -> None:
    """A lane is started again at once, although its last worker may still be starting."""
    supervisors = simulation.supervisors
    supervisors.starting_lanes = lambda _host, _ms: {}  # type: ignore[method-assign, assignment]
    patches.enter_context(patch.object(Observation, "backoff_ends_ms", lambda _seen, _lane: 0))


def no_intensity(_simulation: "Simulation", patches: ExitStack) -> None:
    """A lane whose workers keep dying is started without end."""
    patches.enter_context(patch.object(Observation, "why_failing", lambda _seen, _lane: ""))
    patches.enter_context(patch.object(Observation, "backoff_ends_ms", lambda _seen, _lane: 0))


def spinning_is_dead(simulation: "Simulation", _patches: ExitStack) -> None:
    """A worker that lands nothing for a while is taken for dead."""
    fleets, site = simulation.supervisors, simulation.site
    gone = fleets.has_exited

    def holder_gone(lease: Lease, host: Host) -> bool:
        run = site.fleet.runs.get(lease.run_id)
        spins = (
            run is not None
            and not run.landed
            and site.scheduler.clock.wall_ms() - run.begun_ms > SPIN_MS
        )
        return spins or gone(lease, host)

    fleets.has_exited = holder_gone  # type: ignore[method-assign]


def names_are_machines(simulation: "Simulation", _patches: ExitStack) -> None:
    """A pid is looked up here although it is of another machine of the same name."""
    site = simulation.site
    is_gone = site.has_exited

    def gone(lease: Request, host: Host) -> bool:
        holder = site.holder(lease)
        elsewhere = holder is not None and holder.host is not host
        return elsewhere or is_gone(lease, host)

    site.has_exited = gone  # type: ignore[method-assign]


def one_fleet_stream(_simulation: "Simulation", patches: ExitStack) -> None:
    """All supervisors write to one stream, so that the newest lease fences the others out."""
    patches.enter_context(patch.object(streams, "system", lambda _system: streams.FLEET))


def red_target_ignored(simulation: "Simulation", _patches: ExitStack) -> None:
    """Workers are started although the tests fail on the untouched target branch."""
    fleets = simulation.supervisors
    plan = fleets.baseline_plan

    def planned(process: Process) -> gate.Plan:
        found = plan(process)
        ignored = found.step is gate.Step.WAIT
        return gate.Plan(step=gate.Step.CLEAR) if ignored else found

    fleets.baseline_plan = planned  # type: ignore[method-assign]


def one_too_many(simulation: "Simulation", _patches: ExitStack) -> None:
    """The fleet is kept at one worker more than its target."""
    site = simulation.site
    start = site.start_supervisor

    def started(host: Host, *, by_person: bool = True) -> Process:
        wanted = site.workspace
        site.workspace = structs.replace(wanted, target=wanted.target + 1)
        try:
            return start(host, by_person=by_person)
        finally:
            site.workspace = wanted

    site.start_supervisor = started  # type: ignore[method-assign]


def start_clears_cooldowns(_simulation: "Simulation", patches: ExitStack) -> None:
    """Starting the fleet ends the cooldown of every unit."""
    apply = Attempts.apply

    def applied(self: Attempts, event: Event) -> None:
        apply(self, event)
        if event.kind == FleetStarted.kind:
            for tries in self.units.values():
                tries.newest_ms = {}

    patches.enter_context(patch.object(Attempts, "apply", applied))


def retry_without_effect(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person's retry is recorded, and the cooldown of the unit stays."""
    consequences = Choice.consequences

    def without_units(self: Choice, *, by_person: bool) -> list[Consequence]:  # noqa: ARG001
        return consequences(self, by_person=False)

    patches.enter_context(patch.object(Choice, "consequences", without_units))


def lane_not_cleared(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person's retry clears the units, and their lane stays disabled."""
    consequences = Choice.consequences

    def without_lane(self: Choice, *, by_person: bool) -> list[Consequence]:
        return [
            each
            for each in consequences(self, by_person=by_person)
            if not isinstance(each, ClearLane)
        ]

    patches.enter_context(patch.object(Choice, "consequences", without_lane))


def answer_not_looked_at(simulation: "Simulation", _patches: ExitStack) -> None:
    """A supervisor keeps the survey that it made before a person answered."""
    site = simulation.site
    apply = site.apply

    def applied(event: Event) -> None:
        before = site.offer_event_count
        apply(event)
        if event.actor == site.store.actor:
            site.offer_event_count = before

    site.apply = applied  # type: ignore[method-assign]


def undone_stays_undone(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person wants a reverted unit done again, and no worker is offered it."""
    as_shown = target.apply_shown_units

    def without_answers(
        fleet: FleetState,
        shown: target.ShownUnits,
        answers: Decisions,  # noqa: ARG001
    ) -> FleetState:
        return as_shown(fleet, shown, Decisions())

    patches.enter_context(patch.object(target, "apply_shown_units", without_answers))


def kept_commit_disputed(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person keeps what an agent committed to the branch, and the unit is still open."""
    patches.enter_context(patch.object(Incidents, "answer", lambda _incidents, _fact: None))


def deaths_not_forgotten(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person retries a unit that runs died at, and the deaths still count."""
    clear = FleetState._clear_unit

    def cleared(self: FleetState, fact: UnitCleared, event: Event) -> None:
        before = self.units.get(fact.unit, UnitState())
        deaths, cleared_ms = before.deaths, before.cleared_ms
        clear(self, fact, event)
        if deaths >= MOST_DEATHS:
            unit = self.units[fact.unit]
            unit.deaths, unit.cleared_ms = deaths, cleared_ms

    patches.enter_context(patch.object(FleetState, "_clear_unit", cleared))


def used_plan_ignored(_simulation: "Simulation", patches: ExitStack) -> None:
    """A person wants the plan on disk used, and the fleet works by the text before it."""
    used = ApprovedTexts._confirmed_changes

    def without_plans(self: ApprovedTexts, answers: Decisions) -> ConfirmedChanges:
        return frozenset(each for each in used(self, answers) if each[0] == FILE_NAME)

    patches.enter_context(patch.object(ApprovedTexts, "_confirmed_changes", without_plans))


def settings_of_the_start(simulation: "Simulation", _patches: ExitStack) -> None:
    """Workers get the settings of their supervisor's start, whatever was answered since."""
    fleets = simulation.supervisors
    settings = fleets.settings
    first: dict[int, str | None] = {}  # by supervisor

    def of_the_start(process: Process) -> str | None:
        return first.setdefault(process.pid, settings(process))

    fleets.settings = of_the_start  # type: ignore[method-assign]
