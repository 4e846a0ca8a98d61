"""How a worker's effects are performed for real: SQLite or PostgreSQL, git, processes."""

import os
import time
from functools import partial
from pathlib import Path

from msgspec import structs

from dos.agents import prompt, registry
from dos.config.tables import Config
from dos.errors import BadInput
from dos.evidence import holders
from dos.evidence.access.lane import rules
from dos.journal import fold
from dos.journal.events import Event
from dos.journal.states.fleet import Fleet
from dos.journal.store import Store
from dos.records.leases import Lease, Refusal, Request
from dos.records.names import slug
from dos.records.regions import region
from dos.records.units import Unit
from dos.runtime import backlog, effects, landing, measuring, worktrees
from dos.runtime.agent_process import AgentProcess
from dos.runtime.drive import Performers
from dos.runtime.renewing import Keeper
from dos.sources import processes
from dos.sources.git import Git
from dos.sources.workspace import Workspace
from dos.sources.world import open_journal


class WorkerEffects:
    def __init__(self, place: Workspace, config: Config, *, actor: str) -> None:
        self.place = place
        self.config = config
        self.git = Git(place.root)
        self._open = partial(open_journal, place, config.store.url, actor=actor)
        self.store: Store = self._open()
        self._agent = AgentProcess(
            silence_seconds=config.workers.silence_seconds, wall_seconds=config.workers.wall_seconds
        )
        self._keeper: Keeper | None = None

    def performers(self) -> Performers:
        return {
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
            effects.HasLanded: lambda effect: landing.has_landed(self.git, effect.landing),
            effects.Pause: lambda effect: time.sleep(effect.seconds),
        }

    def close(self) -> None:
        if self._keeper:
            self._keeper.stop()
        self.store.close()

    def take_lease(self, effect: effects.TakeLease) -> Lease | Refusal:
        asked = request(
            self.config, effect.lane, run_id=effect.run_id, is_lock=effect.is_lock, start_sha=self._target_commit()
        )
        admit = rules(self.place.root, self.config)
        taken = self.store.acquire(asked, admit)
        if isinstance(taken, Refusal) and self._bury(taken.blocked_by):
            taken = self.store.acquire(asked, admit)
        if isinstance(taken, Lease):
            if not effect.is_lock:
                landing.raise_fence(self.git, taken.lane, taken.fence)
            self._keeper = Keeper(taken, self._open, self._agent.stop)
            self._keeper.start()
        return taken

    def _bury(self, fence: int | None) -> bool:
        """End a lease whose process is dead here and now, instead of waiting until it runs out."""
        for lease in [*self.store.leases(), *self.store.leases(locks=True)]:
            if lease.fence == fence and holders.gone(lease):
                self.store.revoke(lease.fence, version=lease.version, reason="its process is gone")
                return True
        return False

    def release_lease(self, effect: effects.ReleaseLease) -> None:
        if self._keeper:
            self._keeper.stop()
            self._keeper = None
        self.store.release(effect.lease.fence, effect.reason)

    def record(self, effect: effects.Record) -> Event:
        return self.store.record(effect.stream, effect.fact, key=effect.key, fence=effect.fence, expect=effect.expect)

    def survey(self, effect: effects.SurveyBacklog) -> effects.Backlog:
        fleet, _ = fold.current(self.store, Fleet, keep=True)
        units = backlog.read_units(self.place, self.config)
        found = backlog.survey(units, self.config, fleet, effect.lease.lane)
        return structs.replace(found, drain_requested=fleet.drain > effect.lease.fence)

    def prepare_worktree(self, effect: effects.PrepareWorktree) -> effects.Worktree:
        return worktrees.prepare(
            self.git, self.place.state, lane=effect.lane, run_id=effect.run_id, target=self.target()
        )

    def run_agent(self, effect: effects.RunAgent) -> effects.Ended:
        workers = self.config.workers
        adapter = registry.find(workers.agent)
        text = prompt.prompt(
            effect.unit,
            globs=effect.lease.region.globs,
            acceptance=self._acceptance(effect.unit),
            history=effect.history,
        )
        log = self.place.state / "logs" / slug(effect.lease.lane) / f"{effect.run_id}-{effect.iteration}.log"
        return self._agent.run(
            adapter,
            adapter.launch(text, workers.command),
            cwd=Path(effect.worktree.path),
            environment=_environment(effect),
            log=log,
        )

    def measure(self, effect: effects.MeasureWork) -> effects.Measured:
        return measuring.measure(effect.worktree, effect.lease, self._acceptance(effect.unit), self._prefix())

    def save_changes(self, effect: effects.SaveChanges) -> list[effects.Salvage]:
        inside = Git(Path(effect.worktree.path))
        return worktrees.save_changes(inside, self.place.state, run_id=effect.run_id, why="left uncommitted")

    def save_commits(self, effect: effects.SaveCommits) -> list[effects.Salvage]:
        inside = Git(Path(effect.worktree.path))
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
        passed, detail = measuring.accept(inside.tree, self._gate(effect, ready))
        if passed is False:
            return effects.NotLanded(reason=f"the tests fail on top of {ready.branch!r}: {detail}")
        return ready

    def move_branch(self, effect: effects.MoveBranch) -> effects.NotLanded | None:
        return landing.move_branch(self.git, lane=effect.lease.lane, fence=effect.lease.fence, landing=effect.landing)

    def target(self) -> str:
        found = self.config.workers.target_branch or self.git.branch()
        if not found:
            raise BadInput(
                f"{self.place.root} is on no branch, so there is nothing to land on",
                hint="Check a branch out, or name one: dos config set workers.target_branch main",
            )
        return found

    def _prefix(self) -> str:
        """Where dos.toml is below the top of the work tree, as git's paths begin; empty at the top itself."""
        return self.git.run("rev-parse", "--show-prefix").strip()

    def _target_commit(self) -> str:
        return self.git.commit_of(f"refs/heads/{self.target()}") or ""

    def _acceptance(self, unit: Unit) -> str:
        return unit.acceptance or self.config.workers.acceptance

    def _gate(self, effect: effects.PrepareLanding, ready: effects.Landing) -> str:
        """The workspace's tests always; the unit's acceptance again only when its base has changed."""
        moved = ready.old != effect.worktree.base
        commands = [self._acceptance(effect.unit) if moved else "", self.config.workers.test]
        return " && ".join(f"( {command} )" for command in commands if command)


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


def _environment(effect: effects.RunAgent) -> dict[str, str]:
    """The user's environment, what names this lease, and nothing of the fleet's own."""
    private = ("DOS_", "GIT_", "CID_", "DISPATCH_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(private)}
    return kept | {
        "DOS_RUN_ID": effect.run_id,
        "DOS_LANE": effect.lease.lane,
        "DOS_FENCE": str(effect.lease.fence),
        "DOS_UNIT": effect.unit.name,
    }
