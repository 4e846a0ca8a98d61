"""Events from outside the fleet at random moments: network cuts, deaths, and what people do.

Every act counts its fault by name, so that a batch can tell which ones never happened. Acts that
need an answer from the fleet make sure that a supervisor runs, because an idle fleet ends.
"""

from collections.abc import Callable
from typing import Any

from dos import run_ids
from dos.choices import ChoiceName
from dos.errors import Conflict
from dos.fleet.supervisor import SupervisorExit
from dos.journal import streams
from dos.journal.events.envelope import Fact
from dos.journal.events.fleet import DrainRequested, RunStopped
from dos.journal.events.limits import HaltRequested, PauseEnded, PauseRequested
from dos.journal.events.runs import HaltProposed
from dos.lanes.parts import lane_of
from dos.lease import Lease
from dos.questions import state
from dos.questions.catalog import Added, AnyQuestion
from dos.questions.documents import TextChanged
from dos.questions.resources import BaselineFailed
from dos.questions.state import Decisions, OpenQuestion
from dos.reasons.table import Needs
from dos.testing.simulator.world import faults
from dos.testing.simulator.world.process import Host, Process
from dos.testing.simulator.world.site import Site
from dos.testing.simulator.world.workspace import UNUSABLE, edited_plan, edited_settings

IDLE = (SupervisorExit.IDLE, SupervisorExit.WORK_LEFT)
LONGEST_SKEW_MS = 10 * 60_000
# Only in worlds with more questions to people:
REVERTS = 2  # reverted landings
EDITS = 2  # edits of plans and settings
BY_SYSTEM = 0.5  # share of the supervisors that the system restarts, not a person
LOOKS = 4  # how often a person reads `dos decisions`
# A supervisor that has decided to end has ended after this long, even if it was paused.
LEAVES_WITHIN_MS = 300_000


class OutsideEvents:
    """Starts the fleet, disturbs it, and answers its questions.

    Random numbers for acts that exist only in worlds with more questions come from a second source,
    `site.question_random`, so that they change nothing in the other worlds.
    """

    def __init__(self, site: Site) -> None:
        self.site = site
        self.scheduler = site.scheduler
        self.random = site.random
        self._acts: dict[str, Callable[[Any], None]] = {
            faults.PARTITION: self.cut_off,
            faults.SUPERVISOR_DEATH: self.kill_supervisor,
            faults.BRANCH_MOVED: self.move_branch,
            faults.DRAIN: self.drain,
            faults.HOLD: self.pause,
            faults.REAP: self.reap_dead,
            faults.SECOND_START: self.second_supervisor,
            faults.HALT: self.halt,
            faults.BY_HAND: self.start_worker,
        }

    def begin(self) -> None:
        """Start a supervisor on each host and schedule the events of this seed."""
        for host in self.site.hosts:
            if self.site.fault_plan.happens(faults.SKEW):
                self.scheduler.counts[faults.SKEW] += 1
                host.wrong_by_ms = self.random.randint(-LONGEST_SKEW_MS, LONGEST_SKEW_MS)
            self.site.start_supervisor(host)
        for name in self.site.fault_plan.moments:
            most = 2 if name == faults.DRAIN else 4
            for _ in range(self.random.randint(1, most)):
                # Most of what can be disturbed happens early.
                moment = self.random.random() ** 2 * self.scheduler.calm_at
                self.scheduler.schedule(moment, self._acts[name])

        asking = self.site.question_random
        if asking:
            once = [self.propose_halt, self.add_question, self.stop_by_hand]
            for act in [*once, *REVERTS * [self.revert], *EDITS * [self.edit]]:
                self.scheduler.schedule(asking.random() ** 2 * self.scheduler.calm_at, act)
            for look in range(1, LOOKS + 1):
                self.scheduler.schedule(look * self.scheduler.calm_at / LOOKS, self.read_questions)

    def on_pause(self, length_ms: int) -> None:
        """Let a person reap leases just before a paused process wakes, when it looks dead."""
        if faults.REAP in self.site.fault_plan.moments and self.random.random() < 0.5:
            self.scheduler.schedule(length_ms - self.random.randint(500, 10_000), self.reap_dead)

    def on_end(self, process: Process, answer: Any) -> None:
        """Schedule the restart of a supervisor that did not end by itself."""
        if not process.is_supervisor:
            return
        if process.host.supervisor is not process:
            return  # a second supervisor of its host
        process.host.supervisor = None
        ended_by = answer.exit if answer else None
        if ended_by in IDLE:
            return
        if ended_by is SupervisorExit.DRAINED and self.random.random() < 0.3:
            return
        self.scheduler.active += 1
        self.scheduler.schedule(self.random.randint(2_000, 90_000), self._return, process.host)

    def _return(self, host: Host) -> None:
        """Start the host's supervisor again, unless another one was started meanwhile."""
        self.scheduler.active -= 1
        if host.supervisor is None:
            self.site.start_supervisor(host, by_person=not self.site.draws_question(BY_SYSTEM))

    def cut_off(self, _: object) -> None:
        """Cut a host off from the store and the repository, for up to 90 seconds."""
        self.scheduler.counts[faults.PARTITION] += 1
        host = self.random.choice(self.site.hosts)
        host.away_until = self.scheduler.now + self.random.randint(1_000, 90_000)

    def kill_supervisor(self, _: object) -> None:
        """Kill the supervisor of a host, if it has one; its workers live on."""
        host = self.random.choice(self.site.hosts)
        if host.supervisor is not None:
            self.scheduler.counts[faults.SUPERVISOR_DEATH] += 1
            self.scheduler.kill(host.supervisor)

    def second_supervisor(self, _: object) -> None:
        """Run `dos up` on a host that has a supervisor already."""
        self.scheduler.counts[faults.SECOND_START] += 1
        host = self.random.choice(self.site.hosts)
        running = host.supervisor
        self.site.start_supervisor(host)
        host.supervisor = running or host.supervisor

    def start_worker(self, _: object) -> None:
        """Run `dos worker` by hand, on lanes without units if there are any.

        Supervisors start no worker there, so that only these test a worker that replans at once.
        """
        self.scheduler.counts[faults.BY_HAND] += 1
        roster = self.site.workspace.config.roster()
        lanes_of_all = self.site.workspace.config.lanes
        planned = {lane_of(lanes_of_all, unit) for unit in self.site.units}
        lanes = [lane for lane in roster if lane not in planned]
        if not lanes:
            lanes = [self.random.choice(roster)]
        for lane in lanes:
            now_ms = self.scheduler.clock.wall_ms()
            made = run_ids.mint(now_ms, self.random.getrandbits(run_ids.ENTROPY_BITS), "by-hand")
            self.site.start_worker(self.random.choice(self.site.hosts), lane, made.run_id, 500)

    def move_branch(self, _: object) -> None:
        """Push a commit of another person, and half of the time a second one soon after."""
        self.scheduler.counts[faults.BRANCH_MOVED] += 1
        self.site.repository.move_by_another()
        if self.random.random() < 0.5:
            self.scheduler.schedule(self.random.randint(1, 20_000), self.move_branch_again)

    def move_branch_again(self, _: object) -> None:
        """Push the second commit."""
        self.site.repository.move_by_another()

    def revert(self, _: object) -> None:
        """Revert a landed unit, and make sure that a supervisor notices."""
        landed = list(self.site.repository.landed)
        if landed and self.site.question_random:
            self.scheduler.counts[faults.REVERTED] += 1
            self.site.repository.revert(self.site.question_random.choice(landed))
            self._ensure_supervisor()

    def edit(self, _: object) -> None:
        """Edit a plan or the dos.toml of one host; some edits are committed."""
        asking = self.site.question_random
        assert asking
        host = asking.choice(self.site.hosts)
        texts = self.site.texts[host.name]
        if asking.random() < 0.6:
            self.scheduler.counts[faults.PLAN_EDITED] += 1
            document, text = texts.plan, edited_plan(texts.plan.on_disk, asking)
        else:
            self.scheduler.counts[faults.SETTINGS_EDITED] += 1
            document, text = texts.dos_toml, edited_settings(asking)
        document.write(text)
        if asking.random() < 0.2 and text != UNUSABLE:
            self.site.repository.commit_document(document.name, text)
        self._ensure_supervisor(host)

    def drain(self, _: object) -> None:
        """Run `dos down`: workers finish their unit, and no more are started."""
        self.scheduler.counts[faults.DRAIN] += 1
        self.site.store.record(streams.FLEET, DrainRequested(reason="a person said so"))
        self.scheduler.on_write()

    def pause(self, _: object) -> None:
        """Pause a lane or the whole fleet, for up to two minutes."""
        self.scheduler.counts[faults.HOLD] += 1
        lane = self.random.choice(["", *self.site.workspace.config.roster()])
        self.site.store.record(streams.FLEET, PauseRequested(lane=lane, by="person"))
        self.scheduler.on_write()
        self.scheduler.schedule(self.random.randint(5_000, 120_000), self._end_pause, lane)

    def _end_pause(self, lane: str) -> None:
        """End the pause, and make sure that a supervisor acts on it."""
        self.site.store.record(streams.FLEET, PauseEnded(lane=lane, by="person"))
        self.scheduler.on_write()
        self._ensure_supervisor()

    def halt(self, _: object) -> None:
        """Halt a run, and its agent with it."""
        live = self.site.live_leases()
        if live:
            self.scheduler.counts[faults.HALT] += 1
            lease = self.random.choice(live)
            self.site.store.record(
                streams.run(lease.run_id), HaltRequested(run_id=lease.run_id, by="person")
            )
            self.scheduler.on_write()
            holder = self.site.holder(lease)
            if holder:
                self.scheduler.schedule(1_000, self.on_halt, holder)

    def on_halt(self, process: Process) -> None:
        """Called when a worker sees that its run was halted."""

    def propose_halt(self, _: object) -> None:
        """Propose that a run, or a process outside the fleet, should stop."""
        lease = next(iter(self.site.live_leases()), None)
        proposed = HaltProposed(handle="pid 4711", reason="it looks idle")
        if lease:
            proposed = HaltProposed(
                handle=lease.run_id, run_id=lease.run_id, lane=lease.lane, reason="it looks idle"
            )
        self._record_cause(
            faults.HALT_PROPOSED, streams.run(proposed.run_id or "by-hand"), proposed
        )

    def add_question(self, _: object) -> None:
        """Add a question about a lane by hand, as `dos decisions add` does."""
        lane = self.site.workspace.config.roster()[0]
        added = Added.ask(
            "DESIGN", lane, "Which of the two?", "", answered=self.site.decisions.answered
        )
        entry = state.raise_entry(added)
        self._record_cause(faults.QUESTION_ADDED, entry.stream, entry.body)

    def stop_by_hand(self, _: object) -> None:
        """Record that a loop run by a person stopped and needs an operator."""
        stopped = RunStopped(
            run_id="by-hand",
            lane="",
            stop_reason="blocked",
            needs=Needs.OPERATOR,
            reason="no unit",
            by_hand=True,
        )
        self._record_cause(faults.STOPPED_BY_HAND, streams.run(stopped.run_id), stopped)

    def _record_cause(self, name: str, stream: str, fact: Fact) -> None:
        """Record an event that opens a question, and let a person read it.

        Such a question is open because of its cause and has no event of its own.
        """
        self.scheduler.counts[name] += 1
        before = set(self.site.decisions.open)
        self.site.store.record(stream, fact)
        self.scheduler.on_write()
        for decision in self.site.decisions.open.keys() - before:
            if not self.site.decisions.open[decision].version:
                self.read_question(decision)

    def read_question(self, decision: str) -> None:
        """Schedule answers: half of the questions get one, 30 % two at once, 20 % none."""
        drawn = self.random.random()
        if drawn < 0.2:
            answers = 0
        elif drawn < 0.7:
            answers = 1
        else:
            answers = 2
        for _ in range(answers):
            self.scheduler.schedule(self.random.randint(2_000, 60_000), self._consider, decision)

    def list_questions(self) -> Decisions:
        """Return what `dos decisions` lists."""
        return self.site.decisions

    def read_questions(self, _: object) -> None:
        """Read `dos decisions`: questions without an event are only found this way."""
        for asked in self.list_questions().open.values():
            if not asked.version and asked.raised.choices:
                self.read_question(asked.raised.id)

    def _consider(self, decision: str) -> None:
        """Choose an answer, and give it a little later."""
        asked = self.site.decisions.open.get(decision) or self.list_questions().open.get(decision)
        if asked is not None:
            choices = [choice.name for choice in asked.raised.choices]
            # "Wait until tomorrow" is only chosen in worlds with more questions.
            if self.site.question_random is None:
                choices = [name for name in choices if name != ChoiceName.WAIT]
            if choices:  # a question that its plan settled meanwhile has none
                choice = self.random.choice(choices)
                self.scheduler.schedule(
                    self.random.randint(1, 30_000), self._answer, (asked, choice)
                )

    def _answer(self, answer: tuple[OpenQuestion, str]) -> None:
        """Give the answer, unless another person was quicker."""
        asked, choice = answer
        try:
            self.site.store.append_all(state.answer_entries(asked, choice, by="person"))
            self.scheduler.counts[faults.answer_name(type(asked.question), choice)] += 1
            self._fix_baseline(asked, choice)
        except Conflict:
            self.scheduler.counts[faults.ANSWER_RACE] += 1
        self.scheduler.on_write()
        self._ensure_supervisor(self._checkout_of(asked.question))

    def _checkout_of(self, question: AnyQuestion) -> Host | None:
        """Return the host of the text that the question is about; None if it is about no text."""
        if not isinstance(question, TextChanged):
            return None
        for host in self.site.hosts:
            if self.site.texts[host.name].where == question.where:
                return host
        return None

    def _fix_baseline(self, asked: OpenQuestion, choice: str) -> None:
        """Fix the host before most retries of its baseline check."""
        question = asked.question
        is_retry = isinstance(question, BaselineFailed) and choice == ChoiceName.RETRY
        if is_retry and self.random.random() < 0.7:
            assert isinstance(question, BaselineFailed)
            self.site.host_faults[question.host] = ""

    def _ensure_supervisor(self, on: Host | None = None) -> None:
        """Start a supervisor if none runs, on this host if one is given.

        It is checked again after a while: a supervisor that runs now may be about to end.
        """
        self._start_where_none_runs(on)
        self.scheduler.active += 1
        self.scheduler.schedule(LEAVES_WITHIN_MS, self._ensure_supervisor_later, on)

    def _ensure_supervisor_later(self, on: Host | None) -> None:
        """Look again for a supervisor, once those that were about to end have ended."""
        self.scheduler.active -= 1
        self._start_where_none_runs(on)

    def _start_where_none_runs(self, on: Host | None) -> None:
        """Start a supervisor if the host, or every host, has none."""
        hosts = [on] if on else self.site.hosts
        if all(host.supervisor is None for host in hosts):
            self.site.start_supervisor(on or self.random.choice(self.site.hosts))

    def reap_dead(self, _: object) -> None:
        """Reap leases by hand: find the ones that look dead, and revoke them a little later."""
        self.scheduler.counts[faults.REAP] += 1
        host = self.random.choice(self.site.hosts)
        for lease in self.site.store.leases():
            if self.site.store.lapsed(lease) or self.site.has_exited(lease, host):
                self.scheduler.schedule(self.random.randint(1, 20_000), self._reap, lease)

    def _reap(self, lease: Lease) -> None:
        """Revoke the lease as it was judged; a lease that was renewed since is refused."""
        try:
            self.site.store.revoke(lease.fence, version=lease.version, reason="reaped by hand")
        except Conflict:
            self.scheduler.counts[faults.REAP_REFUSED] += 1
        self.scheduler.on_write()
