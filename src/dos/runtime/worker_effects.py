"""How a worker's effects are performed for real: SQLite or PostgreSQL, git, processes."""

import os
import time
from functools import partial
from pathlib import Path

from msgspec import structs

from dos.agents import prompt, registry
from dos.config.tables import Config
from dos.errors import BadInput, Conflict, Fenced
from dos.evidence import holders
from dos.evidence.access.lane import rules
from dos.journal import fold
from dos.journal.events import DrainRequested, Event
from dos.journal.states.fleet import Fleet
from dos.journal.store import Store
from dos.records.leases import Lease, Refusal, Request
from dos.records.receipts import Source
from dos.records.regions import region
from dos.records.units import Unit
from dos.runtime import backlog, effects, landing, leftovers, logs, measuring, renewing, running, worktrees
from dos.runtime.drive import Patience, Performers
from dos.runtime.on_target import OnTarget
from dos.runtime.receipts import landings
from dos.runtime.renewing import Keeper
from dos.runtime.running import Limits
from dos.sources import processes
from dos.sources.git import Git
from dos.sources.workspace import Workspace
from dos.sources.world import open_journal

PRIVATE = ("DOS_", "GIT_", "CID_", "DISPATCH_")
IDENTITY = ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "GIT_SSH_COMMAND")


class WorkerEffects:
    def __init__(self, place: Workspace, config: Config, *, actor: str, target_branch: str = "") -> None:
        check_settings(config)
        self.place = place
        self.config = config
        self.git = Git(place.root)
        self._target_branch = target_branch or config.workers.target_branch
        self._open = partial(open_journal, place, config.store.url, actor=actor)
        self.store: Store = self._open()
        self.patience = Patience(config.leases.ttl_seconds, prove=self._prove, pause=self._pause)
        self._keeper: Keeper | None = None
        self._held: Lease | None = None  # the lane's
        self._on_target = OnTarget(place)
        self._surveyed = 0  # the newest event that a survey has seen

    def performers(self) -> Performers:
        return self.patience.over(
            {
                effects.TakeLease: self.take_lease,
                effects.ReleaseLease: self.release_lease,
                effects.Record: self.record,
                effects.SurveyBacklog: self.survey,
                effects.PrepareWorktree: self.prepare_worktree,
                effects.RunAgent: self.run_agent,
                effects.MeasureWork: self.measure,
                effects.SaveChanges: self.save_changes,
                effects.SaveCommits: self.save_commits,
                effects.PrepareLanding: self.prepare_landing,
                effects.MoveBranch: self.move_branch,
                effects.IssueReceipt: self.issue_receipt,
                effects.HasLanded: lambda effect: landing.has_landed(self.git, effect.landing),
                effects.Pause: lambda effect: self._pause(effect.seconds),
                effects.BackOff: self.back_off,
            }
        )

    def close(self) -> None:
        if self._held:  # we were broken off: nothing that we started may go on without us
            leftovers.end(str(self.place.root), self._held)
        if self._keeper:
            self._keeper.stop()
        self.store.close()

    def take_lease(self, effect: effects.TakeLease) -> Lease | Refusal:
        asked = request(
            self.config, effect.lane, run_id=effect.run_id, is_lock=effect.is_lock, start_sha=self._target_commit()
        )
        asked_at, before = renewing.now(), self.store.leases()
        taken = self._granted(asked) or self._acquire(asked)
        if isinstance(taken, Lease):
            self._keeper = Keeper(taken, self._open, asked_at=asked_at)
            self._keeper.start()
            if not effect.is_lock:
                self._held = taken
                leftovers.end_worker(self.place.state, [lease for lease in before if lease.lane == taken.lane], taken)
                leftovers.end(str(self.place.root), taken)
                landing.raise_fence(self.git, taken.lane, taken.fence)
                logs.prune(self.place.state, taken, self.config.retention.limit("runs_keep_last"))
        return taken

    def _granted(self, asked: Request) -> Lease | None:
        """What was granted to this very process already, when the answer was lost on its way."""
        same = ("lane", "host", "pid", "pid_started", "run_id")
        for lease in self.store.leases(locks=asked.is_lock):
            if all(getattr(lease, name) == getattr(asked, name) for name in same):
                return next(iter(self.store.renew([lease.fence]).kept), None)
        return None

    def _acquire(self, asked: Request) -> Lease | Refusal:
        admit = rules(self.place.root, self.config)
        taken = self.store.acquire(asked, admit)
        if isinstance(taken, Refusal) and self._bury(taken.blocked_by):
            taken = self.store.acquire(asked, admit)
        return taken

    def _bury(self, fence: int | None) -> bool:
        """End a lease whose process is dead here and now, instead of waiting until it runs out."""
        for lease in [*self.store.leases(), *self.store.leases(locks=True)]:
            if lease.fence == fence and holders.gone(lease):
                try:
                    self.store.revoke(lease.fence, version=lease.version, reason="its process is gone")
                except Conflict:
                    pass  # another was quicker
                return True
        return False

    def release_lease(self, effect: effects.ReleaseLease) -> None:
        if self._keeper:
            self._keeper.stop()
        self._keeper = self._held = None
        try:
            self.store.release(effect.lease.fence, effect.reason)
        except Fenced:
            pass  # it is not ours any more, and that is what was wanted

    def record(self, effect: effects.Record) -> Event:
        return self.store.record(effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect)

    def survey(self, effect: effects.SurveyBacklog) -> effects.Backlog:
        fleet, self._surveyed, live = fold.with_leases(self.store, Fleet, keep=True)
        units = backlog.read_units(self.place, self.config)
        fleet = self._on_target.known(fleet, units, self.target())
        others = {lease.run_id for lease in live if lease.fence != effect.lease.fence} - {""}
        found = backlog.survey(
            units, self.config, fleet, effect.lease.lane, others, run_id=effect.lease.run_id, now_ms=self.store.now_ms()
        )
        starts = fleet.starts.get(effect.lease.lane)
        own = starts is not None and starts.run_id == effect.lease.run_id
        born = starts.intended if starts and own else effect.lease.fence
        return structs.replace(found, drain_requested=fleet.drain > born)

    def prepare_worktree(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        made = worktrees.prepare(
            self.git, self.place.state, lane=effect.lane, run_id=effect.run_id, target=self.target()
        )
        if not made.ready:
            setup = self._accept(Path(made.path), command=self.config.workers.setup, lease=effect.lease)
            if setup.passed is False:
                self._prove(True)
                worktrees.clear(Git(Path(made.path)), made.base)  # what it left is nobody's work
                raise BadInput(
                    f"the setup command failed in {made.path}: {setup.detail}", hint="[workers] setup in dos.toml"
                )
            worktrees.mark_ready(Git(Path(made.path)))
        return made

    def run_agent(self, effect: effects.RunAgent) -> effects.Ended:
        workers = self.config.workers
        adapter = registry.find(workers.agent)
        text = prompt.prompt(
            effect.unit,
            globs=effect.lease.region.globs,
            acceptance=self._acceptance(effect.unit),
            history=effect.history,
        )
        log = logs.of_agent(self.place.state, effect)
        launch = adapter.launch(text, workers.command)
        environment = self._environment(effect.lease) | {"DOS_RUN_ID": effect.run_id, "DOS_UNIT": effect.unit.name}
        limits = Limits(wall_seconds=workers.wall_seconds, silence_seconds=workers.silence_seconds)
        ran = running.run(
            launch.argv,
            cwd=Path(effect.worktree.path),
            environment=environment,
            limits=limits,
            feed=launch.stdin,
            log=log,
            stopped=self._is_lost,
        )
        leftovers.end(str(self.place.root), effect.lease)
        end = adapter.outcome(ran.lines, ran.exit_code, hung=ran.timed_out)
        kind = "killed" if ran.stopped else end.kind
        return effects.Ended(outcome=kind, exit_code=ran.exit_code, claim=end.claim, seconds=ran.seconds)

    def measure(self, effect: effects.MeasureWork) -> effects.Measured:
        judged = partial(self._accept, command=self._acceptance(effect.unit), lease=effect.lease)
        return measuring.measure(effect.worktree, effect.lease, judged, self._prefix())

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        inside = Git(Path(effect.worktree.path))
        return worktrees.save_changes(
            inside, self.place.state, run_id=effect.run_id, why="left uncommitted", base=effect.worktree.base
        )

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        inside = Git(Path(effect.worktree.path))
        worktrees.clear(inside, "HEAD")  # what acceptance and tests left is nobody's work
        landed = inside.commit_of(f"refs/heads/{effect.worktree.target}") or effect.worktree.base
        return worktrees.save_commits(inside, run_id=effect.run_id, why="did not land", base=landed)

    def prepare_landing(self, effect: effects.PrepareLanding) -> effects.Landing | effects.NotLanded:
        ready = landing.prepare(effect.unit.name, effect.worktree, effect.head)
        if isinstance(ready, effects.NotLanded):
            return ready
        # On what will stand on the branch: another unit may have landed beneath this one.
        inside = Git(Path(effect.worktree.path))
        if strays := measuring.strays(inside, ready.old, ready.new, effect.lease, self._prefix()):
            return effects.NotLanded(reason=f"on top of {ready.branch!r} it changes {strays[0]}, outside of the lane")
        if alone := worktrees.unpublished_submodule(inside, ready.old, ready.new):
            return effects.NotLanded(reason=f"the commit of the submodule {alone} is in no remote of it; push it first")
        tested = self._accept(inside.tree, command=self._gate(effect, ready), lease=effect.lease)
        if tested.passed is False:
            return effects.NotLanded(reason=f"the tests fail on top of {ready.branch!r}: {tested.detail}")
        accepted = effect.run if ready.old == effect.worktree.base else None  # else it was run again with the tests
        drafted = landings.draft(
            inside,
            _landed(ready),
            lane=effect.lease.region,
            region_root=self._prefix(),
            runs=[run for run in (accepted, tested.run) if run],
            declared=self._declared(effect.unit),
        )
        return structs.replace(ready, receipt=drafted)

    def issue_receipt(self, effect: effects.IssueReceipt) -> landings.Issued:
        return landings.issue(self.git, self.place, _landed(effect.landing), effect.landing.receipt)

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return landing.move_branch(self.git, lane=effect.lease.lane, fence=effect.lease.fence, landing=effect.landing)

    def back_off(self, effect: effects.BackOff) -> None:
        """A drain ends it, also one that was asked for just before it began."""
        deadline, after = time.monotonic() + effect.seconds, self._surveyed
        while (left := deadline - time.monotonic()) > 0 and not self._is_lost():
            for event in self.store.events(after):
                if event.kind == DrainRequested.kind:
                    return
                after = event.pos
            self.store.wait(after, min(left, 1.0))

    def target(self) -> str:
        """Decided once: a branch that the user checks out meanwhile is not a new target."""
        found = self._target_branch or self.git.branch()
        if not found:
            raise BadInput(
                f"{self.place.root} is on no branch, so there is nothing to land on",
                hint="Check a branch out, or name one: dos config set workers.target_branch main",
            )
        if not self.git.commit_of(f"refs/heads/{found}"):
            raise BadInput(
                f"the target branch {found!r} has no commit",
                hint=f"Commit something first: git -C {self.git.tree} commit",
            )
        self._target_branch = found
        return found

    def _prove(self, doubtful: bool) -> None:
        if self._keeper:
            self._keeper.check(self.store, doubtful=doubtful)

    def _is_lost(self) -> bool:
        return self._keeper is not None and self._keeper.is_lost()

    def _pause(self, seconds: float) -> None:
        if self._keeper:
            self._keeper.lost.wait(seconds)
        else:
            time.sleep(seconds)

    def _accept(self, tree: Path, *, command: str, lease: Lease) -> measuring.Accepted:
        environment, seconds = self._environment(lease), self.config.workers.wall_seconds
        answer = measuring.accept(tree, command, environment, seconds, self._is_lost)
        leftovers.end(str(self.place.root), lease)
        return answer

    def _environment(self, lease: Lease) -> dict[str, str]:
        """The user's environment, what names this lease, and nothing of the fleet's own or of a git around us."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(PRIVATE) or name in IDENTITY}
        return kept | leftovers.marks(str(self.place.root), lease)

    def _prefix(self) -> str:
        """Where dos.toml is below the top of the work tree, as git's paths begin; empty at the top itself."""
        return self.git.run("rev-parse", "--show-prefix").strip()

    def _target_commit(self) -> str:
        return self.git.commit_of(f"refs/heads/{self.target()}") or ""

    def _acceptance(self, unit: Unit) -> str:
        return unit.acceptance or self.config.workers.acceptance

    def _declared(self, unit: Unit) -> landings.Declared:
        scripts = tuple(filter(None, (self._acceptance(unit), self.config.workers.test)))
        by_unit = Source.BOTH if self.config.workers.test else Source.UNIT
        return landings.Declared(scripts=scripts, source=by_unit if unit.acceptance else Source.WORKSPACE)

    def _gate(self, effect: effects.PrepareLanding, ready: effects.Landing) -> str:
        """The workspace's tests always; the unit's acceptance again only when its base has changed."""
        moved = ready.old != effect.worktree.base
        commands = [self._acceptance(effect.unit) if moved else "", self.config.workers.test]
        return landings.together([command for command in commands if command])


def _landed(landing: effects.Landing) -> landings.Landed:
    return landings.Landed(unit=landing.unit, branch=landing.branch, base=landing.old, commit=landing.new)


def check_settings(config: Config) -> None:
    for key, only in (("isolation", "worktree"), ("landing", "merge")):
        if (found := getattr(config.workers, key)) != only:
            raise BadInput(
                f"[workers] {key} = {found!r} is not to be had in this version, only {only!r}",
                hint=f"dos config unset workers.{key}",
            )


def request(config: Config, lane: str, *, run_id: str, is_lock: bool = False, start_sha: str = "") -> Request:
    """What a process that renews by itself asks for."""
    me = processes.identify(os.getpid())
    name = lane if is_lock else config.canonical_lane(lane)
    if name is None:
        raise BadInput(
            f"there is no lane {lane!r}; the lanes are {', '.join(config.known_lanes())}",
            hint="`dos man lane` lists them; [lanes] in dos.toml declares them.",
        )
    return Request(
        lane=name,
        holder=f"{processes.host()}:{os.getpid()}",
        host=processes.host(),
        ttl_ms=int(config.leases.ttl_seconds * 1000),
        region=region([]) if is_lock else config.lane_region(name) or region([]),
        kind="lock" if is_lock else "cluster",
        exclusive=not is_lock and config.is_exclusive(name),
        is_lock=is_lock,
        run_id=run_id,
        pid=os.getpid(),
        pid_started=me.started if me else None,
        start_sha=start_sha,
    )
