"""Reads each event of a simulation once and checks it against the invariants.

The checker keeps state of its own, beside the product's folds: a promise that was checked by the
fold that might break it would prove nothing. It is called after every write, so that the first
event that breaks a promise ends the simulation.
"""

from collections import Counter, deque
from collections.abc import Callable
from typing import assert_never

from dos.baseline import gate
from dos.choices import ChoiceName
from dos.fleet.worker.dispatch import REPLAN as REPLAN
from dos.journal import lease_state, streams
from dos.journal.events import fleet, limits, runs
from dos.journal.events.envelope import Event
from dos.limits import budget
from dos.limits.accounts import Account, LaneDay
from dos.loop import record
from dos.loop.types import OutcomeKind, StopReason, WorkerStop
from dos.questions.resources import BudgetSpent
from dos.questions.state import decode_question
from dos.testing.simulator.lease_checker import LeaseChecker
from dos.testing.simulator.supervisor_effects import SupervisorEffects
from dos.testing.simulator.world import faults, invariants
from dos.testing.simulator.world.invariants import InvariantBroken
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.watched_events import (
    Checked,
    OfQuestions,
    OfRuns,
    OfStarts,
    checked,
)

# Every reason for which a run may stop.
REASONS = {*StopReason, *WorkerStop}
LEAST_USD = 0.001  # sums of floats are not exact
SHOWN = 14  # events that are shown before the one that broke a promise


class InvariantChecker(LeaseChecker):
    """Reads each event once and raises InvariantBroken at the first that breaks a promise.

    Events of leases and starts are left to LeaseChecker, answers of people to AnswerChecker; here
    are the envelope of every event, runs, landings, money and questions.
    """

    def __init__(self, site: Site, fleets: SupervisorEffects) -> None:
        super().__init__(site, fleets)
        self.last = 0  # position of the last event that was checked
        self.event_count = 0
        self.newest: deque[Event] = deque(maxlen=SHOWN)
        self.landed_at = 0  # position of the newest landing
        self.intended: set[str] = set()  # commits that the journal said would land
        self.on_question: Callable[[str], None] = lambda _question: None
        self._versions: dict[str, int] = {}
        self._attempts: dict[str, tuple[int, int]] = {}  # run -> its newest iteration and attempt
        self._landed: dict[str, str] = {}
        self._witnessed: set[str] = set()  # commits of which a receipt says that they are
        self._spent: Counter[tuple[str, str]] = Counter()  # dollars by scope and subject
        self._budget_questions: dict[str, BudgetSpent] = {}
        self._raised: set[str] = set()
        self._answered: set[str] = set()
        # run -> the question about its host that was open when it began
        self._held: dict[str, str] = {}
        # run -> agents that it started after its host was upgraded
        self._after_upgrade: Counter[str] = Counter()

    def check_new_events(self) -> None:
        """Check everything that was recorded since the last call, and fold it into the site."""
        for event in self.site.reader.tail(self.last):
            self.newest.append(event)
            self._check_envelope(event)
            fact = checked.decode(event)
            self._check(event, fact)
            cooling: set[str] = set()
            if isinstance(fact, fleet.FleetStarted):
                cooling = self._units_on_cooldown()
            self.site.apply(event)
            if cooling:
                self._check_cooldowns(event, cooling)
        repository = self.site.repository
        for invariant, noted in (
            (invariants.GIT_FENCE, repository.stale),
            (invariants.OWN_WORK, repository.foreign),
            (invariants.WHOLE, repository.half_taken),
            (invariants.SAVED_ONCE, repository.saved_twice),
        ):
            if noted:
                raise InvariantBroken(invariant, noted[0])

    def _check_cooldowns(self, event: Event, before: set[str]) -> None:
        """Raise if units came off their cooldown because the fleet was started."""
        cleared = before - self._units_on_cooldown()
        if cleared:
            raise InvariantBroken(invariants.COOLDOWN, f"event {event.pos} cleared {min(cleared)}")

    def _check(self, event: Event, fact: Checked | None) -> None:
        """Check what the event says by its kind; kinds that no promise is about are None."""
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
        """Return the units on cooldown now, as a supervisor sees them."""
        site = self.site
        now_ms = site.scheduler.clock.wall_ms()
        units = site.units_on(site.hosts[0])
        on_cooldown: set[str] = set()
        for lane in site.workspace.config.roster():
            backlog = self.fleets.workers.backlog(units, site.fleet, lane, now_ms)
            on_cooldown.update(rest.unit_id for rest in backlog.on_cooldown)
        return on_cooldown

    # Every event

    def _check_envelope(self, event: Event) -> None:
        """Check position and version, and that a write under a fence came from a live lease."""
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
        # Events of people about a run may come late; its own events may not.
        if event.fence is not None and streams.run.subject(event.stream) in self.stopped:
            raise InvariantBroken(
                invariants.STOPPED, f"event {event.pos} ({event.kind}) of {event.stream}"
            )

    # Runs and units

    def _check_run(self, event: Event, fact: OfRuns) -> None:
        """Check an event of a run; a new kind among them is an error of mypy."""
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
            case runs.ReceiptIssued(receipt=receipt):
                if receipt and receipt["tells_apart"]:
                    self._witnessed.add(fact.commit)
            case never:
                assert_never(never)

    def _committed(self, event: Event, fact: fleet.IterationCommitted) -> None:
        """Check a decided iteration: in order, no limit counted as a failure, and it replays."""
        this = (fact.iteration, fact.attempt)
        if this <= self._attempts.get(fact.run_id, (0, 0)):
            raise InvariantBroken(
                invariants.ONCE,
                f"event {event.pos}: iteration {this[0]}.{this[1]} of {fact.run_id} again",
            )
        self._attempts[fact.run_id] = this
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
        """Remember a run that begins while its host's failed baseline waits for a person."""
        if not self.site.workspace.is_checked:
            return
        question = self._open_question_about(self.site.host_of(fact.run_id))
        if question:
            self._held[fact.run_id] = question

    def _open_question_about(self, host: str) -> str:
        """Return the id of the open question about the host's baseline; "" for none."""
        for question in gate.check_questions(self.site.decisions):
            if question.subject.host == host and not question.choice:
                return question.id
        return ""

    def _check_version(self, event: Event, fact: fleet.AgentStarted) -> None:
        """Raise if a run starts a second agent after another version was started on its host.

        One agent may have been starting when the supervisor of the other version began.
        """
        leases = [lease for lease in self.site.live_leases() if lease.run_id == fact.run_id]
        if not leases or not self.site.fleet.stop_requests(leases[0]).superseded_by:
            return
        self._after_upgrade[fact.run_id] += 1
        if self._after_upgrade[fact.run_id] > 1:
            raise InvariantBroken(
                invariants.UPGRADE,
                f"event {event.pos}: {fact.run_id} starts agents beside a newer version",
            )

    def _agent_started(self, event: Event, fact: fleet.AgentStarted) -> None:
        """Check that the agent may start: by its version, its host's baseline and its budget."""
        self._check_version(event, fact)
        held = self._held.get(fact.run_id)
        if held and held in self.site.decisions.open:
            raise InvariantBroken(
                invariants.BASELINE, f"event {event.pos} starts an agent while {held} is open"
            )
        for scope, subject in (("run", fact.run_id), ("lane", self._charged_lane(fact.lane))):
            limit = getattr(self.site.workspace.config.budgets, scope).usd
            spent = self._spent[scope, subject]
            if limit is not None and spent >= limit:
                raise InvariantBroken(
                    invariants.MONEY,
                    f"event {event.pos}: {scope} {subject} has used {spent:g} of {limit:g}",
                )

    def _agent_ended(self, event: Event, fact: fleet.AgentEnded) -> None:
        """Add up what the agent cost, and check the shared budget of its day.

        The shared budget is a promise only where an agent has a limit for one start: without one,
        nobody can know what a start will cost.
        """
        self._spent["run", fact.run_id] += fact.cost_usd or 0  # type: ignore[assignment]
        self._spent["lane", self._charged_lane(fact.lane)] += fact.cost_usd or 0  # type: ignore[assignment]
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

    def _charged_lane(self, lane: str) -> str:
        """Return the lane whose budget an agent uses."""
        return self.site.workspace.config.lanes.whole_of(lane) or lane

    def _landing_intended(self, event: Event, fact: fleet.LandingIntended) -> None:
        """Remember the commit, and check that its run did not land before its turn."""
        self.intended.add(fact.new)
        self._check_turn(event, fact.run_id)

    def _check_turn(self, event: Event, run_id: str) -> None:
        """Raise if a worker whose work was proven earlier is still waiting to land.

        A process that sleeps or is cut off may be overtaken, so those worlds are not checked.
        """
        swarm = self.site.fault_plan
        if faults.PAUSE in swarm.rates or faults.PARTITION in swarm.moments:
            return
        for ticket in self.site.landing_queue.tickets_ahead(run_id):
            lease = self.leases.live.get(ticket.fence)
            if lease is None:
                continue
            holder = self.site.holder(lease)
            if holder is not None and holder.alive:
                ahead = f"whose work was proven at {ticket.position}"
                raise InvariantBroken(
                    invariants.TURNS,
                    f"event {event.pos} lands {run_id} before {holder.run_id}, {ahead}",
                )

    def _unit_landed(self, event: Event, fact: fleet.UnitLanded) -> None:
        """Check that git holds what the journal says: the unit, once, in an announced commit."""
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
                invariants.INTENT, f"event {event.pos}: {fact.commit} was not recorded as intended"
            )
        self._landed[fact.unit] = fact.commit
        self.landed_at = event.pos
        if not fact.unit.startswith(f"{REPLAN}/"):
            self._check_acceptance(event, fact)

    def _check_acceptance(self, event: Event, fact: fleet.UnitLanded) -> None:
        """Check what the acceptance command says on the landed commit, and on the one below it."""
        site = self.site
        if not site.passes(fact.unit, fact.commit):
            raise InvariantBroken(
                invariants.ACCEPTED, f"event {event.pos}: {fact.unit} fails on {fact.commit}"
            )
        counts_as_red = site.lane_faults.needs_red or fact.commit in self._witnessed
        if counts_as_red and site.passes(fact.unit, fact.base):
            raise InvariantBroken(
                invariants.WITNESSED, f"event {event.pos}: {fact.unit} passed on {fact.base}"
            )

    def _run_stopped(self, event: Event, fact: fleet.RunStopped) -> None:
        """Check that the run stops once, for a reason from the table, with what it needs.

        A run that stopped for a reason no longer counts as a start that died.
        """
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
        """Check an event about a question to people."""
        match fact:
            case limits.DecisionRaised():
                self._decision_raised(fact)
            case limits.DecisionAnswered():
                self._decision_answered(event, fact)
            case never:
                assert_never(never)

    def _decision_raised(self, fact: limits.DecisionRaised) -> None:
        """Show a new question to the simulated people, once."""
        if fact.id not in self._raised:
            self._raised.add(fact.id)
            self.on_question(fact.id)
            question = decode_question(fact)
            if isinstance(question, BudgetSpent):
                self._budget_questions[fact.id] = question

    def _decision_answered(self, event: Event, fact: limits.DecisionAnswered) -> None:
        """Check that the question was open, and follow a person's answer until it takes effect.

        A raised budget lowers what counts as spent by the same amount.
        """
        if fact.id not in self._raised or fact.id in self._answered:
            raise InvariantBroken(invariants.ONE_ANSWER, f"event {event.pos}: decision {fact.id}")
        self._answered.add(fact.id)
        answered = self.site.decisions.open[fact.id]
        if event.actor == self.site.store.actor:
            choice = answered.question.choice(fact.choice)
            if choice:
                self.answers.record_answer(event, answered, choice)
        question = self._budget_questions.get(fact.id)
        if question and fact.choice == ChoiceName.RAISE:
            account = question.account
            self._spent[account.scope, _spender(account)] -= question.by  # type: ignore[assignment]


def _spender(account: Account) -> str:
    """Return the lane, whatever the day; of other accounts, the run or the day."""
    if isinstance(account, LaneDay):
        return account.lane
    return account.owner
