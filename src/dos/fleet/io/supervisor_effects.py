"""How a supervisor's effects are performed for real."""

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
from dos.agents.io import logs, orphans
from dos.approval.io.settings import SettingsText
from dos.backlog.io.target import TargetState
from dos.baseline import gate
from dos.baseline.gate import Baselines
from dos.baseline.io.check import Baseline
from dos.config.load import LoadedConfig, parse
from dos.config.schema import Config
from dos.errors import Conflict
from dos.fleet import effects
from dos.fleet import observe as observing
from dos.fleet.effect import Performers, performs
from dos.fleet.io.drive import warn
from dos.fleet.io.observer import FleetObserver, Sources
from dos.fleet.io.worker_effects import WorkerEffects
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
from dos.lease import Lease
from dos.loop import decide
from dos.loop.types import WorkerStop
from dos.machine import process
from dos.machine.process import Identity
from dos.questions import state as asked
from dos.questions.state import Decisions
from dos.units.unit import Unit
from dos.workspace import Workspace

# What `dos worker` exits with ("journal-away") when it could not reach the journal, and so could not say why it stops.
JOURNAL_AWAY = 4


class Executor(Protocol):
    """Starting is neither durable nor done exactly once; what is written around it is."""

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path, given: str = "") -> Identity:
        """`given` is what it reads from its standard input."""
        ...

    def reap_children(self) -> dict[int, int]:
        """Forget those that have ended; the exit code of each, by its pid."""
        ...


class LocalExecutor:
    def __init__(self) -> None:
        self._children: list[subprocess.Popen[bytes]] = []

    def launch(self, words: Sequence[str], *, cwd: Path, log: Path, given: str = "") -> Identity:
        """A session of its own: it outlives the supervisor, and Ctrl-C on the supervisor does not reach it."""
        # A file without a name: nobody can write to it, and unlike a pipe it takes all of it at once.
        with log.open("wb") as output, TemporaryFile() as text:
            text.write(given.encode())
            text.seek(0)
            child = subprocess.Popen(
                [sys.executable, "-P", "-m", "dos", *words],
                cwd=cwd,
                env=process.child_environment(os.environ, cwd),
                stdin=text,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._children.append(child)
        return process.identify(child.pid) or Identity(child.pid, 0.0)

    def reap_children(self) -> dict[int, int]:
        ended = {
            child.pid: child.returncode for child in self._children if child.poll() is not None
        }
        self._children = [child for child in self._children if child.pid not in ended]
        return ended


SHORTEST_TICK_SECONDS = 0.5
LOOKING_SHARE = 0.03  # of the time, at history: a worker looks for itself before it takes a unit on
LIVENESS_SECONDS = 60.0  # git is asked for it


class SupervisorEffects(WorkerEffects):
    """A supervisor can do what a worker can, and start workers."""

    STATES = (*WorkerEffects.STATES, LiveState)

    def __init__(
        self, workspace: Workspace, config: Config, *, actor: str, executor: Executor | None = None
    ) -> None:
        # Nothing is done without the journal, and whatever is done is checked by it: so there is no harm in waiting.
        super().__init__(workspace, config, actor=actor, outlasts_outages=True)
        self._executor = executor or LocalExecutor()
        self._on_target = TargetState(
            workspace, config, share=LOOKING_SHARE, is_watched=config.workers.isolation != "shared"
        )
        self._started: dict[int, tuple[str, str]] = {}  # by pid: the lane and the run
        self._turned_away: list[tuple[str, str]] = []  # of those, who found the journal away
        self.settings = SettingsText.for_checkout(
            workspace, self.git, self._target_commit, journal=config.store.url
        )
        self._settings_trouble = ""  # that was warned of
        self._checked_by: str | None = (
            None  # the text of the settings by which the target is checked
        )
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
        """A person starts the fleet: by the settings that were read, and the plans that are on disk now."""
        self.settings.approve(self.store, loaded, by=by)
        self.plan_texts.approve(self.store, by=by)

    def observe(self, effect: ObserveFleet) -> FleetSnapshot:
        self._note_turned_away()
        seen = self.observer.observe(on_answers=self._heed_answers)
        return observing.snapshot(
            seen,
            supervisor=effect.lease,
            incidents=self._on_target.incidents,
            first=effect.is_first,
            begun=self._check_to_begin() if seen.baseline.step is gate.Step.CHECK else None,
        )

    def _heed_answers(self, answers: Decisions) -> None:
        self._compare_settings(answers)
        self.plan_texts.keep_confirmed(self.store, answers)

    def _compare_settings(self, answers: Decisions) -> None:
        text = self.settings.update(self.store, answers)
        if text is not None and text != self._checked_by:
            # Workers are started by it: so the target is checked by its setup and test, and not by those of the start.
            self.baseline = Baseline(
                self.workspace, parse(text, self.workspace.config).config, self.git, self.checks
            )
            self.observer.baseline = self.baseline
            self._checked_by = text
        trouble = self.settings.trouble
        if trouble and trouble != self._settings_trouble:
            warn(f"{trouble}; workers keep the settings that were approved")
        self._settings_trouble = trouble

    def _check_to_begin(self) -> BaselineStarted:
        branch, command = self.target(), self.baseline.test
        return BaselineStarted(
            host=process.host(), branch=branch, commit=self._target_commit(), command=command
        )

    def check_baseline(self, effect: CheckBaseline) -> BaselineChecked | None:
        """Ended by a drain, and by the loss of the lease."""
        units = {unit.name: self.checks.acceptance(unit) for unit in self._unfinished_units()}
        return self.baseline.check(
            self._target_commit(),
            self.target(),
            effect.lease,
            stopped=lambda: self._is_lost() or self._is_drained(effect.lease),
            acceptance={name: command for name, command in units.items() if command},
            failures=self.watch.state(Baselines).failures.get(process.host(), 0),
        )

    def _unfinished_units(self) -> list[Unit]:
        landed = {name for name, unit in self.watch.state(FleetState).units.items() if unit.landed}
        return [unit for unit in self.units() if unit.name not in landed]

    def _is_drained(self, lease: Lease) -> bool:
        self.watch.refresh()
        return self.watch.state(FleetState).stop_requests(lease).drain

    def spawn(self, effect: SpawnWorker) -> process.Identity | None:
        words = [
            *("worker", "--workspace", str(self.workspace.root)),
            # As one word each: a name may begin with a dash.
            *(
                f"--lane={effect.lane}",
                f"--run-id={effect.run_id}",
                f"--target-branch={self.target()}",
            ),
        ]
        # Handed over, and not read from the disk, where an agent may have written.
        self.watch.refresh()
        settings = self.settings.effective_text(self.store, self.watch.state(Decisions))
        words += [] if settings is None else ["--settings-from-stdin"]
        try:
            log = logs.worker_log(self.workspace.state, effect.lane, effect.run_id)
            started = self._executor.launch(
                words, cwd=self.workspace.root, log=log, given=settings or ""
            )
            self._started[started.pid] = effect.lane, effect.run_id
            return started
        except OSError as error:  # no room for a log, or for a process: perhaps in a while
            warn(f"no worker could be started on {effect.lane}: {error}")
            return None

    def warn(self, effect: Warn) -> None:
        warn(effect.text)

    def expire_question(self, effect: ExpireQuestion) -> None:
        try:
            self.store.append_all(
                asked.expiry_entries(effect.question, effect.choice, effect.reason)
            )
        except Conflict:
            pass  # somebody has answered it

    def revoke(self, effect: RevokeLease) -> bool:
        try:
            self.store.revoke(
                effect.lease.fence, version=effect.lease.version, reason=effect.reason
            )
        except Conflict:
            if not self._revoked(effect):
                return False
        orphans.end_processes(
            str(self.workspace.root), effect.lease
        )  # what its agent started has nobody else to end it
        return True

    def _revoked(self, effect: RevokeLease) -> bool:
        """It was this supervisor that did it, and the answer was lost on its way."""
        stream = streams.lease(effect.lease.lane, is_lock=effect.lease.is_lock)
        following = self.store.load(stream, after=effect.lease.version, limit=1)
        return any(event.actor == self.store.actor for event, _ in select(following, LeaseRevoked))

    def mint(self, effect: MintRun) -> str:
        now_ms = time.time_ns() // 1_000_000
        return run_ids.mint(now_ms, secrets.randbits(run_ids.ENTROPY_BITS), effect.process).run_id

    def pause(self, effect: effects.Pause) -> None:
        """Wait for the journal to move or for the time to pass; and take in the children that ended.

        A fleet that is busy moves it all the time, and need not be looked at each time.
        """
        began = time.monotonic()
        self.store.wait(self.watch.pos, effect.seconds)  # also what was written since the look
        if (left := min(effect.seconds, SHORTEST_TICK_SECONDS) - (time.monotonic() - began)) > 0:
            self._pause(left)
        for pid, code in self._executor.reap_children().items():
            lane, run_id = self._started.pop(pid, ("", ""))
            if code == JOURNAL_AWAY and run_id:
                self._turned_away.append((lane, run_id))

    def _note_turned_away(self) -> None:
        """What workers could not say themselves: that the journal was away is no death, and counts against no lane."""
        while self._turned_away:
            lane, run_id = self._turned_away[0]
            why = WorkerStop.JOURNAL_AWAY
            detail = "its worker could not reach the journal"
            fact = RunStopped(
                run_id=run_id, lane=lane, stop_reason=why, needs=decide.needs(why), reason=detail
            )
            self.store.record(streams.run(run_id), fact, key=str(why))
            del self._turned_away[0]
