"""Performs the effects of a supervisor with the real journal, git and processes.

Everything a worker can do is inherited from `WorkerEffects`. The simulator performs the same
effects in memory.
"""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Protocol

from dos import run_ids
from dos.agents.homes.variables import private_variables, public_variables
from dos.agents.io import logs, orphans
from dos.approval.io.documents import SettingsText
from dos.backlog.io.target import TargetState
from dos.baseline import gate
from dos.baseline.gate import Baselines
from dos.baseline.io.check import Baseline, CheckRequest
from dos.config.load import LoadedConfig, parse
from dos.config.schema import Config
from dos.errors import Conflict, GitFailed
from dos.fleet import effects
from dos.fleet.effect import Performers, performs
from dos.fleet.io.drive import warn
from dos.fleet.io.observer import FleetObserver, Sources
from dos.fleet.io.worker_effects import WorkerEffects
from dos.fleet.observation import Observation
from dos.fleet.observe import snapshot
from dos.fleet.state.fleet import FleetState
from dos.fleet.state.live import LiveState
from dos.fleet.tick import (
    CheckBaseline,
    ExpireQuestion,
    FleetSnapshot,
    MintRun,
    ObserveFleet,
    RevokeLease,
    SpawnWorker,
    Warn,
)
from dos.journal import streams
from dos.journal.events.fleet import RunStopped
from dos.journal.events.lanes import LeaseRevoked
from dos.journal.events.limits import BaselineChecked, BaselineStarted
from dos.journal.events.reader import select
from dos.landing.lane.retired import remove_settled
from dos.lease import Lease
from dos.loop import decide
from dos.loop.types import WorkerStop
from dos.machine import process
from dos.machine.process import Identity
from dos.questions.state import Decisions, expiry_entries
from dos.units.unit import Unit
from dos.workspace import Workspace

# The exit code of `dos worker` ("journal-away") when it could not record why it stops.
JOURNAL_AWAY = 4
SHORTEST_TICK_SECONDS = 0.5
HISTORY_SHARE = 0.03  # of the time, for reading history: a worker reads it before it claims a unit
LIVENESS_SECONDS = 60.0  # between two reads of the workers' progress from git


class Executor(Protocol):
    """Starts worker processes.

    A start is neither durable nor done exactly once; the records around it are.
    """

    def launch(
        self, words: Sequence[str], *, cwd: Path, log: Path, stdin_text: str = ""
    ) -> Identity:
        """Start `dos` with these arguments, and return the process."""
        ...

    def reap_children(self) -> dict[int, int]:
        """Return the exit code of each child that has ended since the last call, by pid."""
        ...


class LocalExecutor:
    """Starts workers as processes on this host."""

    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []

    def launch(
        self, words: Sequence[str], *, cwd: Path, log: Path, stdin_text: str = ""
    ) -> Identity:
        """Start a process in its own session.

        It outlives the supervisor, and Ctrl-C on the supervisor does not reach it. A worker is
        handed the user's secrets on its standard input: every process of the user, an agent too,
        can read the environment that another one was started with.
        """
        handed = b""
        if words[0] == "worker":
            words = [*words, "--secrets-from-stdin"]
            # Not by msgspec, which refuses what is not UTF-8.
            handed = json.dumps(private_variables(os.environ)).encode() + b"\n"
        # An unnamed file: no other process can write to it, and unlike a pipe it never blocks.
        with log.open("wb") as output, TemporaryFile() as text:
            text.write(handed + stdin_text.encode())
            text.seek(0)
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "dos", *words],
                cwd=cwd,
                env=process.child_environment(public_variables(os.environ), cwd),
                stdin=text,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children.append(child)
        return process.identify(child.pid) or Identity(child.pid, 0.0)

    def reap_children(self) -> dict[int, int]:
        """Return the exit codes of ended children, which would stay zombies otherwise."""
        ended: dict[int, int] = {}
        running = []
        for child in self._children:
            code = child.poll()
            if code is None:
                running.append(child)
            else:
                ended[child.pid] = code
        self._children = running
        return ended


class SupervisorEffects(WorkerEffects):
    """A supervisor performs what a worker performs, and starts workers.

    It keeps what one tick needs of the one before: the children that it started, and the settings
    that people have approved.
    """

    STATES = (*WorkerEffects.STATES, LiveState)

    def __init__(
        self, workspace: Workspace, config: Config, *, actor: str, executor: Executor | None = None
    ) -> None:
        # A supervisor acts only with the journal, so that waiting for it does no harm.
        super().__init__(workspace, config, actor=actor, outlasts_outages=True)
        self._executor = executor or LocalExecutor()
        is_watched = config.workers.isolation != "shared"
        self._on_target = TargetState(workspace, config, share=HISTORY_SHARE, is_watched=is_watched)
        self._started: dict[int, tuple[str, str]] = {}  # pid -> the lane and the run
        self._unrecorded_stops: list[tuple[str, str]] = []  # workers that lost the journal
        self.settings = SettingsText.for_checkout(
            workspace, self.git, self._target_commit, journal=config.store.url
        )
        self._warned_trouble = ""
        self._removed_parts: set[str] = set()  # of units that landed
        self._baseline_settings: str | None = None  # the text that set the baseline's commands
        sources = Sources(
            workspace=workspace,
            config=config,
            store=self.store,
            watch=self.watch,
            plan_texts=self.plan_texts,
            settings=self.settings,
            on_target=self._on_target,
            target=self._landing_on,
            branch=self.target,
            commit=self._target_commit,
        )
        self.observer = FleetObserver(sources, self.baseline, liveness_seconds=LIVENESS_SECONDS)

    def performers(self) -> Performers:
        """Return the table of a worker, with the effects of a supervisor added."""
        rows = (
            performs(ObserveFleet, self.observe),
            performs(SpawnWorker, self.spawn),
            performs(RevokeLease, self.revoke),
            performs(ExpireQuestion, self.expire_question),
            performs(CheckBaseline, self.check_baseline),
            performs(Warn, self.warn),
            performs(MintRun, self.mint),
            performs(effects.Pause, self.pause),
        )
        return {**super().performers(), **self.store_retry.wrap(dict(rows))}

    def approve(self, loaded: LoadedConfig, *, by: str) -> None:
        """Approve the settings that were read and the plans on disk, for a person's start.

        Who types `dos up` has seen them. What changes later, perhaps by an agent, is asked about.
        """
        self.settings.approve(self.store, loaded, by=by)
        self.plan_texts.approve(self.store, by=by)

    def observe(self, effect: ObserveFleet) -> FleetSnapshot:
        """Observe the fleet, after stops were recorded that workers could not record.

        The first time, what workers of a killed supervisor left is removed: nobody else may have
        noticed that they died.
        """
        if effect.is_first:
            self._remove_leftovers()
        self._record_stops()
        observation = self.observer.observe(on_answers=self._apply_answers)
        self._remove_landed_parts(observation)
        begun: BaselineStarted | None = None
        if observation.baseline.step is gate.Step.CHECK:
            begun = self._baseline_started()
        return snapshot(
            observation,
            supervisor=effect.lease,
            incidents=self._on_target.incidents,
            first=effect.is_first,
            begun=begun,
        )

    def _apply_answers(self, answers: Decisions) -> None:
        """Use the settings and plans that people have approved since the last tick."""
        self._update_settings(answers)
        self.plan_texts.keep_confirmed(self.store, answers)

    def _update_settings(self, answers: Decisions) -> None:
        """Apply approved changes of the settings, and warn once of those that are not."""
        text = self.settings.update(self.store, answers)
        if text is not None and text != self._baseline_settings:
            # Workers start with these settings, so the baseline is checked by their commands.
            config = parse(text, self.workspace.config).config
            self.baseline = Baseline(self.workspace, config, self.git, self.checks)
            self.observer.baseline = self.baseline
            self._baseline_settings = text
        trouble = self.settings.trouble
        if trouble and trouble != self._warned_trouble:
            warn(f"{trouble}; workers keep the settings that were approved")
        self._warned_trouble = trouble

    def _baseline_started(self) -> BaselineStarted:
        """Return the fact that the test of the target branch is about to run on this host."""
        return BaselineStarted(
            host=process.host(),
            branch=self.target(),
            commit=self._target_commit(),
            command=self.baseline.test,
        )

    def check_baseline(self, effect: CheckBaseline) -> BaselineChecked | None:
        """Check the baseline; None when a drain or the loss of the lease ended the check."""
        acceptance: dict[str, str] = {}
        for unit in self._unfinished_units():
            command = self.checks.acceptance(unit)
            if command:
                acceptance[unit.name] = command

        def is_stopped() -> bool:
            return self._is_lost() or self._is_drained(effect.lease)

        request = CheckRequest(
            commit=self._target_commit(),
            branch=self.target(),
            lease=effect.lease,
            acceptance=acceptance,
            failures=self.watch.state(Baselines).failures.get(process.host(), 0),
        )
        return self.baseline.check(request, stopped=is_stopped)

    def _unfinished_units(self) -> list[Unit]:
        """Return the declared units that have not landed by the journal."""
        states = self.watch.state(FleetState).units
        landed = {name for name, unit in states.items() if unit.landed}
        return [unit for unit in self.units() if unit.name not in landed]

    def _is_drained(self, lease: Lease) -> bool:
        """Whether a drain was requested by now."""
        self.watch.refresh()
        return self.watch.state(FleetState).stop_requests(lease).drain

    def spawn(self, effect: SpawnWorker) -> process.Identity | None:
        """Start a worker; None when there is no room for its log or its process."""
        words = [
            "worker",
            "--workspace",
            str(self.workspace.root),
            # One word each, because a name may begin with a dash.
            f"--lane={effect.lane}",
            f"--run-id={effect.run_id}",
            f"--target-branch={self.target()}",
        ]
        self.watch.refresh()
        # The settings are passed on stdin: an agent may have edited the file on disk.
        settings = self.settings.effective_text(self.store, self.watch.state(Decisions))
        if settings is not None:
            words.append("--settings-from-stdin")
        try:
            log = logs.worker_log(self.workspace.state, effect.lane, effect.run_id)
            started = self._executor.launch(
                words, cwd=self.workspace.root, log=log, stdin_text=settings or ""
            )
        except OSError as error:
            warn(f"no worker could be started on {effect.lane}: {error}")
            return None
        self._started[started.pid] = (effect.lane, effect.run_id)
        return started

    def warn(self, effect: Warn) -> None:
        """Print the warning on stderr."""
        warn(effect.text)

    def expire_question(self, effect: ExpireQuestion) -> None:
        """Close the question, unless a person has answered it meanwhile."""
        entries = expiry_entries(effect.question, effect.choice, effect.reason)
        try:
            self.store.append_all(entries)
        except Conflict:
            pass  # a person has answered it meanwhile

    def revoke(self, effect: RevokeLease) -> bool:
        """Revoke the lease, and end the processes that its agent left behind.

        False when the holder renewed it since it was judged dead, so that nothing was done.
        """
        lease = effect.lease
        try:
            self.store.revoke(lease.fence, version=lease.version, reason=effect.reason)
        except Conflict:
            if not self._has_revoked(lease):
                return False
        orphans.end_processes(str(self.workspace.root), lease)
        self.checks.remove_abandoned()
        return True

    def _remove_leftovers(self) -> None:
        """End processes and remove temporary folders of leases that have ended."""
        newest = self.store.last()
        leases = [*self.store.leases(), *self.store.leases(locks=True)]
        orphans.end_unleased_processes(str(self.workspace.root), leases, newest=newest)
        self.checks.remove_abandoned()

    def _remove_landed_parts(self, observation: Observation) -> None:
        """Remove the folders of parts of lanes whose units have landed, once nobody has them."""
        new = observation.landed_parts - self._removed_parts
        # What cannot be removed is left to `dos doctor --fix`.
        self._removed_parts = observation.landed_parts
        if not new:
            return
        try:
            remove_settled(self.workspace, self.git, new)
        except (GitFailed, OSError) as error:
            warn(f"not all folders of units that landed could be removed: {error}")

    def _has_revoked(self, lease: Lease) -> bool:
        """Whether this supervisor revoked the lease before, and the confirmation was lost."""
        stream = streams.lease(lease.lane, is_lock=lease.is_lock)
        following = self.store.load(stream, after=lease.version, limit=1)
        return any(event.actor == self.store.actor for event, _ in select(following, LeaseRevoked))

    def mint(self, effect: MintRun) -> str:
        """Generate a run id from the clock and random bits."""
        now_ms = time.time_ns() // 1_000_000
        return run_ids.mint(now_ms, secrets.randbits(run_ids.ENTROPY_BITS), effect.process).run_id

    def pause(self, effect: effects.Pause) -> None:
        """Wait until the journal moves or the time is over, then reap the children that ended.

        Never shorter than `SHORTEST_TICK_SECONDS`: a busy fleet moves the journal all the time.
        """
        began = time.monotonic()
        self.store.wait(self.watch.pos, effect.seconds)  # returns at once for unread events
        shortest = min(effect.seconds, SHORTEST_TICK_SECONDS)
        remaining = shortest - (time.monotonic() - began)
        if remaining > 0:
            self._pause(remaining)
        for pid, code in self._executor.reap_children().items():
            lane, run_id = self._started.pop(pid, ("", ""))
            if code == JOURNAL_AWAY and run_id:
                self._unrecorded_stops.append((lane, run_id))

    def _record_stops(self) -> None:
        """Record the stops of workers that could not reach the journal.

        An outage of the journal is no death of a worker, and does not count against its lane.
        """
        while self._unrecorded_stops:
            lane, run_id = self._unrecorded_stops[0]
            why = WorkerStop.JOURNAL_AWAY
            fact = RunStopped(
                run_id=run_id,
                lane=lane,
                stop_reason=why,
                needs=decide.needs(why),
                reason="its worker could not reach the journal",
            )
            self.store.record(streams.run(run_id), fact, key=str(why))
            del self._unrecorded_stops[0]
