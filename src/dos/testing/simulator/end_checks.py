"""What is looked at when a simulation has come to rest."""

from collections.abc import Sequence
from zlib import crc32

from dos.baseline.gate import Step
from dos.fleet import effects, observe
from dos.fleet import waits as waits_of
from dos.fleet.observation import Observation
from dos.fleet.state.fleet import FleetState
from dos.journal import fold, prune
from dos.journal.lease_state import Leases
from dos.questions.catalog import AnyQuestion
from dos.questions.documents import TextChanged
from dos.testing.simulator import invariants
from dos.testing.simulator.invariant_checker import Watch
from dos.testing.simulator.invariants import Broken
from dos.testing.simulator.supervisor_effects import FleetPerformers
from dos.testing.simulator.world.clock import BEGIN_MS
from dos.testing.simulator.world.site import Site

LATER_MS = 30 * prune.DAY_MS


def check(site: Site, watch: Watch, fleets: FleetPerformers, *, thorough: bool) -> None:
    _check_repository(site, watch)
    _check_liveness(site, watch, fleets)
    if watch.seen != len(site.reader.tail(0)):
        raise Broken(invariants.POSITIONS, f"{watch.seen} events were seen")
    if thorough:
        _check_retention(site)


def digest(site: Site) -> str:
    """Of everything that was written and landed: the same for the same seed, wherever it runs."""
    seen = 0
    for event in site.store.events():
        row = (
            event.stream,
            event.ver,
            event.kind,
            event.raw,
            event.fence,
            event.key,
            event.at_ms,
            event.actor,
        )
        seen = crc32(repr(row).encode(), seen)
    return f"{crc32(repr((site.repository.target, site.repository.salvaged)).encode(), seen):08x}"


def _check_repository(site: Site, watch: Watch) -> None:
    repository = site.repository
    if repository.doubled:
        raise Broken(invariants.ONCE, f"git holds {repository.doubled[0]} twice")
    for unit, commit in repository.landed.items():
        if commit not in watch.intended:
            raise Broken(
                invariants.INTENT,
                f"{unit} is on the branch in {commit}, which was never written as intended",
            )
    missing = set(range(1, repository.edits + 1)) - repository.reachable_edits()
    if missing:
        raise Broken(invariants.KEPT, f"edit {min(missing)} is nowhere any more")


def _check_liveness(site: Site, watch: Watch, fleets: FleetPerformers) -> None:
    machine = site.machine
    running = [process for process in machine.processes.values() if process.alive]
    # Told to wait until tomorrow is an end for today; its supervisors stay with it.
    is_parked = any(_waits_for_long(process.effect, machine.ends_at) for process in running)
    # Only the host of a worker that died at its start can say that nobody is on the way any more.
    views = [fleets.seen(host) for host in site.hosts]
    seen = views[0]
    waits = is_parked or any(
        _waits_for_tomorrow(view, machine.ends_at) for view in (views if site.texts else [seen])
    )
    if running and not waits:
        which = running[0]
        doing = type(which.effect).__name__
        raise Broken(
            invariants.LIVENESS,
            f"{which.lane} ({which.run_id or 'supervisor'}) still runs, at {doing}",
        )
    if watch.landed_at > watch.fleet_ended_at:
        return  # who had slept over its lease woke when the fleet had ended: the next start goes on from there
    # Of a host whose tests fail a person was told; who starts the fleet again may do it there.
    unmended = any(fleets.baseline_of(host).step is Step.WAIT for host in site.hosts)
    for lane in site.setting.config.roster():
        asked = any(observe.waits_for_a_person(view, lane) for view in views)
        # Where texts differ, what one host alone could offer is for its own fleet to do.
        is_open = (
            all(view.backlogs[lane].open for view in views)
            if site.texts
            else seen.backlogs[lane].open
        )
        if is_open and not (site.fleet.drain or waits or unmended or asked):
            raise Broken(
                invariants.LIVENESS, f"lane {lane} has work to offer, and nobody works on it"
            )
    for question in [] if site.fleet.drain else _unasked(views if site.texts else [seen]):
        raise Broken(invariants.LIVENESS, f"nobody was asked: {question.text}")


def _unasked(views: Sequence[Observation]) -> list[AnyQuestion]:
    """What every host would ask; about the texts of a checkout, its own."""
    asked = [{question.id: question for question in observe.questions(view)} for view in views]
    everywhere = [
        question for name, question in asked[0].items() if all(name in each for each in asked)
    ]
    texts = [
        question
        for each in asked
        for question in each.values()
        if isinstance(question, TextChanged)
    ]
    return [*everywhere, *texts]


def _waits_for_long(effect: object, ends_at: int) -> bool:
    return isinstance(effect, effects.Park) and (effect.until_ms or 0) > BEGIN_MS + ends_at


def _waits_for_tomorrow(seen: Observation, ends_at: int) -> bool:
    """A lane waits for a time that is not over by the end."""
    waiting = (each.until for lane in waits_of.own_waits(seen).lanes.values() for each in lane)
    return any(until.timestamp() * 1000 > BEGIN_MS + ends_at for until in waiting if until)


def _check_retention(site: Site) -> None:
    happened = list(site.store.events())
    gone = prune.superseded(
        happened, older_than_ms=0, now_ms=site.machine.clock.wall_ms() + LATER_MS
    )
    removed = {event.pos for event in gone}
    kept = [event for event in happened if event.pos not in removed]
    for kind in (FleetState, Leases):
        if fold.fold(kind(), kept) != fold.fold(kind(), happened):
            raise Broken(invariants.RETENTION, f"{kind.name} without {len(gone)} events is another")
