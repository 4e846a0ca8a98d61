"""Whoever watches the journal of a simulation: reads each event once, and holds it against the invariants."""

from collections import Counter, deque
from collections.abc import Callable
from typing import Any, assert_never

from dos import regions
from dos.baseline import gate
from dos.baseline.gate import Check, is_accepted
from dos.choices import ChoiceName
from dos.fleet.population.reconcile import START_SECONDS
from dos.fleet.supervisor import SupervisorExit
from dos.fleet.worker.dispatch import REPLAN as REPLAN
from dos.journal import lease_state, streams
from dos.journal.events import fleet, lanes, limits
from dos.journal.events.envelope import Event
from dos.journal.lease_state import Leases
from dos.lease import Lease
from dos.limits import budget
from dos.limits.accounts import Account, LaneDay
from dos.loop import record
from dos.loop.types import OutcomeKind, StopReason, WorkerStop
from dos.questions import state as decisions
from dos.questions.resources import BudgetSpent
from dos.testing.simulator import invariants
from dos.testing.simulator.answers import AnswerChecker
from dos.testing.simulator.invariants import InvariantBroken
from dos.testing.simulator.supervisor_effects import SupervisorEffects
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import Process
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.watched_events import (
    Checked,
    OfQuestions,
    OfRuns,
    OfStarts,
    checked,
)

REASONS = {*StopReason, *WorkerStop}
LEAST_USD = 0.001  # sums of floats are not exact
SHOWN = 14  # events before the one that broke something


class Start:
    """A lane's newest start."""

    __slots__ = ("at_ms", "run_id", "settled", "system")

    def __init__(self, run_id: str, system: str, at_ms: int) -> None:
        self.run_id, self.system, self.at_ms, self.settled = run_id, system, at_ms, False


class InvariantChecker:
    def __init__(self, site: Site, fleets: SupervisorEffects) -> None:
        self.site = site
        self.fleets = fleets
        self.leases = Leases()
        self.last = 0
        self.event_count = 0
        self.newest: deque[Event] = deque(maxlen=SHOWN)
        self.stopped: dict[str, str] = {}  # run -> why
        self._versions: dict[str, int] = {}
        self._fence = 0
        self._tries: dict[str, tuple[int, int]] = {}  # run -> its newest iteration and attempt
        self._landed: dict[str, str] = {}
        self.landed_at = self.fleet_ended_at = 0  # the positions of the newest
        self.intended: set[str] = set()
        self._recent: dict[
            str, dict[str, int]
        ] = {}  # lane -> its starts that did not end with a word
        self._starts: dict[str, Start] = {}
        self._spent: Counter[tuple[str, str]] = Counter()  # scope and subject, in dollars
        self._budget_asked: dict[str, BudgetSpent] = {}
        self._raised: set[str] = set()
        self.on_question: Callable[[str], None] = lambda decision: None
        self._answered: set[str] = set()
        self.answers = AnswerChecker(site, fleets)
        self._held: dict[
            str, str
        ] = {}  # run -> the question about its host that was open when it began
        self._after_upgrade: Counter[str] = Counter()  # run -> agents that it started

    def check_new_events(self) -> None:
        """At everything that was written since the last look."""
        for event in self.site.reader.tail(self.last):
            self.newest.append(event)
            self._check_envelope(event)
            fact = checked.decode(event)
            self._check(event, fact)
            cooling = self._units_on_cooldown() if isinstance(fact, fleet.FleetStarted) else set()
            self.site.apply(event)
            if cooling and (cleared := cooling - self._units_on_cooldown()):
                raise InvariantBroken(
                    invariants.COOLDOWN, f"event {event.pos} cleared {min(cleared)}"
                )
        stale = self.site.repository.stale
        if stale:
            raise InvariantBroken(invariants.GIT_FENCE, stale[0])

    def _check(self, event: Event, fact: Checked | None) -> None:
        if fact is None:
            return
        if isinstance(fact, lease_state.Handled):
            self._lease_event(event, fact)
        elif isinstance(fact, OfStarts):
            self._check_start(event, fact)
        elif isinstance(fact, OfRuns):
            self._check_run(event, fact)
        else:
            self._check_question(event, fact)

    def _units_on_cooldown(self) -> set[str]:
        """The units on cooldown now, as a supervisor sees them."""
        site, now_ms = self.site, self.site.scheduler.clock.wall_ms()
        units = site.units_on(site.hosts[0])
        roster = site.workspace.config.roster()
        backlogs = [self.fleets.workers.backlog(units, site.fleet, lane, now_ms) for lane in roster]
        return {rest.unit_id for backlog in backlogs for rest in backlog.on_cooldown}

    # Every event

    def _check_envelope(self, event: Event) -> None:
        if event.pos <= self.last:
            raise InvariantBroken(
                invariants.POSITIONS, f"event {event.pos} comes after {self.last}"
            )
        if event.ver != self._versions.get(event.stream, 0) + 1:
            raise InvariantBroken(
                invariants.POSITIONS, f"event {event.pos} is version {event.ver} of {event.stream}"
            )
        self._versions[event.stream] = event.ver
        self.last = event.pos
        self.event_count += 1
        if event.fence is not None and event.fence not in self.leases.live:
            raise InvariantBroken(
                invariants.NO_ZOMBIE,
                f"event {event.pos} ({event.kind}) has fence {event.fence}, which ended",
            )
        # What people say of a run may come late; what it says itself may not.
        if event.fence is not None and streams.run.subject(event.stream) in self.stopped:
            raise InvariantBroken(
                invariants.STOPPED, f"event {event.pos} ({event.kind}) of {event.stream}"
            )

    # Leases

    def _lease_event(self, event: Event, fact: lease_state.Handled) -> None:
        match fact:
            case lanes.LeaseGranted():
                self._granted(event, fact)
            case lanes.LeaseRenewed():
                self._live_lease(event, fact.lease)
            case lanes.LeaseReleased():
                self._live_lease(event, fact.lease)
            case lanes.LeaseExpired():
                self._expired(event, fact)
            case lanes.LeaseRevoked():
                self._revoked(event, fact)
            case lanes.LeaseAdopted():
                self._live_lease(event, fact.previous)
            case never:
                assert_never(never)
        self.leases.apply(event)
        # A transaction may end a lease and grant another: it is compared when its last event is here.
        if event.pos != self.site.reader.last():
            return
        table = {lease.fence: lease for lease in self.site.reader.leases()}
        if table != self.leases.live:
            raise InvariantBroken(
                invariants.TABLE,
                f"after event {event.pos}: {sorted(table)} and {sorted(self.leases.live)}",
            )

    def _granted(self, event: Event, fact: lanes.LeaseGranted) -> None:
        asked = fact.asked
        if event.pos <= self._fence:
            raise InvariantBroken(invariants.FENCES, f"fence {event.pos} comes after {self._fence}")
        self._fence = event.pos
        same_kind = 1
        for lease in self.leases.live.values():
            if lease.is_lock != asked.is_lock:
                continue
            same_kind += lease.kind == asked.kind
            overlap = not asked.is_lock and regions.conflict(
                asked.region, asked.mode, lease.region, lease.mode
            )
            if lease.lane == asked.lane or overlap:
                raise InvariantBroken(
                    invariants.DISJOINT,
                    f"{asked.lane} is granted beside {lease.lane} ({lease.fence})",
                )
        cap = self.site.workspace.budgets.get(asked.kind)
        if cap and same_kind > cap:
            raise InvariantBroken(
                invariants.BUDGET, f"{same_kind} leases of kind {asked.kind}, where {cap} may be"
            )
        if (start := self._starts.get(asked.lane)) and start.run_id == asked.run_id:
            start.settled = True

    def _live_lease(self, event: Event, fence: int) -> Lease:
        lease = self.leases.live.get(fence)
        if lease is None:
            raise InvariantBroken(
                invariants.CURRENT,
                f"event {event.pos} ({event.kind}) is of lease {fence}, which ended",
            )
        return lease

    def _expired(self, event: Event, fact: lanes.LeaseExpired) -> None:
        lease = self._live_lease(event, fact.lease)
        left_ms = lease.expires_ms - self.site.scheduler.now
        if left_ms > 0:
            early = f"{left_ms / 1000:g} s too early"
            raise InvariantBroken(
                invariants.STORE_TIME, f"lease {lease.fence} of {lease.lane} expired {early}"
            )

    def _revoked(self, event: Event, fact: lanes.LeaseRevoked) -> None:
        lease = self._live_lease(event, fact.lease)
        holder = self.site.holder(lease)
        if lease.expires_ms > self.site.scheduler.now and holder is not None and holder.alive:
            beat = (self.site.scheduler.clock.wall_ms() - lease.beat_ms) / 1000
            raise InvariantBroken(
                invariants.DEAD_ONLY,
                f"lease {lease.fence} of {lease.lane} was revoked, {beat:g} s after a beat",
            )

    def process_ended(self, process: Process, answer: Any) -> None:
        """`answer` is a SupervisorResult, a Stop, or None for one that was killed."""
        why = getattr(answer, "exit", None) or getattr(answer, "reason", None)
        if why not in (SupervisorExit.LOST, WorkerStop.LEASE_LOST):
            return
        for lease in self.site.reader.leases():
            # Its lane's, not what it holds besides to groom the plans: that stands until somebody needs the place.
            is_its_own = lease.pid == process.pid and lease.lane == process.lane
            if is_its_own and (lease.is_lock or lease.expires_ms > self.site.scheduler.now):
                raise InvariantBroken(
                    invariants.HOLDS,
                    f"{process.lane} ended as lost and holds lease {lease.fence}: {answer}",
                )

    # Starts

    def _check_start(self, event: Event, fact: OfStarts) -> None:
        match fact:
            case fleet.SpawnIntended():
                self._spawn_intended(event, fact)
            case fleet.WorkerReaped():
                if start := self._starts.get(fact.lane):
                    start.settled = True
            case fleet.FleetStarted():
                self._recent.clear()  # a person's word: the lanes are tried again
            case limits.PauseEnded() | limits.LaneCleared():
                self._recent.pop(fact.lane, None)
            case fleet.FleetStopped():
                self.fleet_ended_at = event.pos
            case fleet.LaneFailed():
                self.site.scheduler.counts[faults.GIVEN_UP] += 1
            case never:
                assert_never(never)

    def _spawn_intended(self, event: Event, fact: fleet.SpawnIntended) -> None:
        self.answers.record_start(event, fact.lane)
        now = event.at_ms
        self._check_pending(event, fact)
        self._check_target(event, fact.system)
        recent = self._recent.setdefault(fact.lane, {})
        recent[fact.run_id] = now
        policy = self.site.workspace.config.supervise
        within = sum(now - at < policy.restart_period_seconds * 1000 for at in recent.values())
        if within > policy.restart_intensity:
            raise InvariantBroken(
                invariants.INTENSITY, f"{within} starts of lane {fact.lane} within the period"
            )
        self._starts[fact.lane] = Start(fact.run_id, fact.system, now)
        seen, started = self.fleets.population.get(fact.system, (0, 0))
        self.fleets.population[fact.system] = seen, started + 1
        if seen + started + 1 > self.site.workspace.target:
            more = f"{seen} seen and {started + 1} started"
            raise InvariantBroken(
                invariants.POPULATION,
                f"{fact.system}: {more}, where {self.site.workspace.target} are wanted",
            )

    def _check_target(self, event: Event, host: str) -> None:
        """The last check of a host's surroundings lets workers be started there, or a person does."""
        site = self.site
        if not site.workspace.is_checked:
            return
        newest = max(
            (each for each in site.baselines.checks if each.host == host), key=_at, default=None
        )
        asked = [each for each in gate.check_questions(site.decisions) if each.subject.host == host]
        if newest is None or not (newest.is_good or is_accepted(newest, asked)):
            found = newest.fault if newest else "unchecked"
            raise InvariantBroken(
                invariants.BASELINE,
                f"event {event.pos} starts a worker on {host}, which is {found}",
            )

    def _check_pending(self, event: Event, fact: fleet.SpawnIntended) -> None:
        start = self._starts.get(fact.lane)
        if start is None or start.settled or start.run_id in self.stopped:
            return
        # Only its own host can say that it is not there; for the others it may be on its way.
        gone = start.system == fact.system and not self.site.is_running(start.run_id)
        if not gone and event.at_ms - start.at_ms < START_SECONDS * 1000:
            age = (event.at_ms - start.at_ms) / 1000
            raise InvariantBroken(
                invariants.PENDING, f"lane {fact.lane} was started {age:g} s ago, as {start.run_id}"
            )

    # Runs and units

    def _check_run(self, event: Event, fact: OfRuns) -> None:
        match fact:
            case fleet.RunBegun():
                self._run_begun(fact)
            case fleet.AgentStarted():
                self._agent_started(event, fact)
            case fleet.AgentEnded():
                self._agent_ended(event, fact)
            case fleet.IterationCommitted():
                self._committed(event, fact)
            case fleet.LandingIntended():
                self._landing_intended(event, fact)
            case fleet.UnitLanded():
                self._unit_landed(event, fact)
            case fleet.RunStopped():
                self._run_stopped(event, fact)
            case never:
                assert_never(never)

    def _committed(self, event: Event, fact: fleet.IterationCommitted) -> None:
        this = (fact.iteration, fact.attempt)
        if this <= self._tries.get(fact.run_id, (0, 0)):
            raise InvariantBroken(
                invariants.ONCE,
                f"event {event.pos}: iteration {this[0]}.{this[1]} of {fact.run_id} again",
            )
        self._tries[fact.run_id] = this
        if fact.outcome == OutcomeKind.RATE_LIMITED and fact.state and fact.decision:
            before, after = fact.state, fact.decision["next_state"]
            if after["consecutive_unclear"] > before["consecutive_unclear"]:
                raise InvariantBroken(
                    invariants.LIMITS, f"event {event.pos} counts a limit as a failure"
                )
        replay = record.replay(record.read_decisions([event]))
        if replay.difference:
            raise InvariantBroken(
                invariants.REPLAY, f"event {event.pos}: now {replay.difference.replayed.action}"
            )

    def _run_begun(self, fact: fleet.RunBegun) -> None:
        if self.site.workspace.is_checked and (
            asked := self._open_about(self.site.host_of(fact.run_id))
        ):
            self._held[fact.run_id] = asked

    def _open_about(self, host: str) -> str:
        """The open question about a host's surroundings; empty: there is none."""
        mine = (
            each
            for each in gate.check_questions(self.site.decisions)
            if each.subject.host == host and not each.choice
        )
        return next((each.id for each in mine), "")

    def _check_version(self, event: Event, fact: fleet.AgentStarted) -> None:
        """One agent may have been on its way when the other version was started."""
        lease = next((each for each in self.site.live_leases() if each.run_id == fact.run_id), None)
        if lease is None or not self.site.fleet.stop_requests(lease).superseded_by:
            return
        self._after_upgrade[fact.run_id] += 1
        if self._after_upgrade[fact.run_id] > 1:
            raise InvariantBroken(
                invariants.UPGRADE,
                f"event {event.pos}: {fact.run_id} goes on beside a newer version",
            )

    def _agent_started(self, event: Event, fact: fleet.AgentStarted) -> None:
        self._check_version(event, fact)
        held = self._held.get(fact.run_id)
        if held and held in self.site.decisions.open:
            raise InvariantBroken(
                invariants.BASELINE, f"event {event.pos} starts an agent while {held} is open"
            )
        for scope, subject in (("run", fact.run_id), ("lane", fact.lane)):
            limit = getattr(self.site.workspace.config.budgets, scope).usd
            spent = self._spent[scope, subject]
            if limit is not None and spent >= limit:
                raise InvariantBroken(
                    invariants.MONEY,
                    f"event {event.pos}: {scope} {subject} has used {spent:g} of {limit:g}",
                )

    def _agent_ended(self, event: Event, fact: fleet.AgentEnded) -> None:
        self._spent["run", fact.run_id] += fact.cost_usd or 0  # type: ignore[assignment]
        self._spent["lane", fact.lane] += fact.cost_usd or 0  # type: ignore[assignment]
        day = ("day", budget.day_of(event.at_ms))
        self._spent[day] += fact.cost_usd or 0  # type: ignore[assignment]
        setting = self.site.workspace
        limit = setting.config.budgets.day.usd
        if (
            limit is not None
            and setting.agents[0].max_usd is not None
            and self._spent[day] > limit + LEAST_USD
        ):
            raise InvariantBroken(
                invariants.OVERDRAWN,
                f"event {event.pos}: {self._spent[day]:g} of {limit:g} dollars",
            )

    def _landing_intended(self, event: Event, fact: fleet.LandingIntended) -> None:
        self.intended.add(fact.new)
        self._check_turn(event, fact.run_id)

    def _check_turn(self, event: Event, run_id: str) -> None:
        """Who sleeps or is cut off may be passed, and come back."""
        swarm = self.site.fault_plan
        if faults.PAUSE in swarm.rates or faults.PARTITION in swarm.moments:
            return
        for ticket in self.site.landing_queue.tickets_ahead(run_id):
            lease = self.leases.live.get(ticket.fence)
            holder = self.site.holder(lease) if lease else None
            if holder is not None and holder.alive:
                ahead = f"whose work was proven at {ticket.position}"
                raise InvariantBroken(
                    invariants.TURNS,
                    f"event {event.pos} lands {run_id} before {holder.run_id}, {ahead}",
                )

    def _unit_landed(self, event: Event, fact: fleet.UnitLanded) -> None:
        repository = self.site.repository
        if (
            fact.commit not in repository.on_target
            or fact.unit not in repository.commits[fact.commit].units
        ):
            raise InvariantBroken(
                invariants.NO_LIE,
                f"event {event.pos}: {fact.unit} is not in {fact.commit} on the branch",
            )
        is_there = fact.unit in self._landed and self._landed[fact.unit] not in repository.reverted
        if is_there and not fact.unit.startswith(f"{REPLAN}/"):
            raise InvariantBroken(invariants.ONCE, f"event {event.pos}: {fact.unit} landed again")
        if fact.commit not in self.intended:
            raise InvariantBroken(
                invariants.INTENT, f"event {event.pos}: {fact.commit} was never written as intended"
            )
        self._landed[fact.unit] = fact.commit
        self.landed_at = event.pos

    def _run_stopped(self, event: Event, fact: fleet.RunStopped) -> None:
        if fact.stop_reason not in REASONS or not fact.needs:
            raise InvariantBroken(
                invariants.TYPED,
                f"event {event.pos}: {fact.run_id} stopped for {fact.stop_reason!r}",
            )
        if fact.run_id in self.stopped:
            raise InvariantBroken(
                invariants.TYPED, f"event {event.pos}: {fact.run_id} stopped twice"
            )
        self.stopped[fact.run_id] = fact.stop_reason
        self._recent.get(fact.lane, {}).pop(fact.run_id, None)

    # Questions

    def _check_question(self, event: Event, fact: OfQuestions) -> None:
        match fact:
            case limits.DecisionRaised():
                self._decision_raised(fact)
            case limits.DecisionAnswered():
                self._decision_answered(event, fact)
            case never:
                assert_never(never)

    def _decision_raised(self, fact: limits.DecisionRaised) -> None:
        if fact.id not in self._raised:
            self._raised.add(fact.id)
            self.on_question(fact.id)
            question = decisions.decode_question(fact)
            if isinstance(question, BudgetSpent):
                self._budget_asked[fact.id] = question

    def _decision_answered(self, event: Event, fact: limits.DecisionAnswered) -> None:
        if fact.id not in self._raised or fact.id in self._answered:
            raise InvariantBroken(invariants.ONE_ANSWER, f"event {event.pos}: decision {fact.id}")
        self._answered.add(fact.id)
        answered = self.site.decisions.open[fact.id]
        if event.actor == self.site.store.actor and (
            taken := answered.question.choice(fact.choice)
        ):
            self.answers.record_answer(event, answered, taken)
        if fact.choice == ChoiceName.RAISE and (asked := self._budget_asked.get(fact.id)):
            self._spent[asked.account.scope, _spender(asked.account)] -= asked.by  # type: ignore[assignment]


def _at(check: Check) -> int:
    return check.at_ms


def _spender(account: Account) -> str:
    """The lane, whatever the day; of other accounts the run or the day."""
    return account.lane if isinstance(account, LaneDay) else account.owner
