"""A lane's repository: made and reset for each unit, and its work taken over.

Each lane has a repository of its own instead of a worktree. Whatever its agent does to it, dos's
git never opens it: `program` runs inside it, and what it sends passes the hand-over before it is
in the user's repository. Four refs there tell about a lane:

- `refs/dos/base/LANE`: the commit that the lane is at, so that git keeps its objects;
- `refs/dos/work/LANE`: the head that was taken over, until it has landed or was saved;
- `refs/dos/settled/LANE`: the same head from then on, until the lane is reset;
- `refs/dos/progress/LANE`: the newest commit that was seen while its agent works.

A lane with neither of the middle two may have work that nobody has saved.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import structs

from dos.errors import GitFailed, GitUnanswered
from dos.fleet.effects import Salvage
from dos.git.repository import Writer
from dos.handover.io.receive import Received, receive
from dos.handover.limits import Limits
from dos.handover.refusal import Refused, Rule
from dos.hooks.install import lane_hooks
from dos.landing.lane import large_files, salvage_writer, upgrade
from dos.landing.lane.claims import (
    SNAPSHOTS,
    WHY,
    AsideFolder,
    Claims,
    parse_claims,
)
from dos.landing.lane.files import repository_files
from dos.landing.lane.inside import Answer, LaneFailed, LaneGit, LaneShell
from dos.landing.lane.marks import LaneMarks
from dos.machine.filesystem import is_real_folder
from dos.sandbox.walls import Walls
from dos.text import printable_path, slug
from dos.workspace import Workspace

BASE_REFS = "refs/dos/base/"
WORK_REFS = "refs/dos/work/"
SETTLED_REFS = "refs/dos/settled/"
PROGRESS_REFS = "refs/dos/progress/"
EARLIER = "left by an earlier run"
RESET_SECONDS = 600.0
TAKE_OVER_SECONDS = 300.0
TAKE_OVER_TRIES = 3  # of a hand-over in which a git may have died
PEEK_SECONDS = 60.0


class HandOverRefused(GitFailed):
    """What a lane sent was not taken over; the message says why, for its agent."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.reason)
        # A git that died looks like one that could not read what was sent, or send it.
        self.may_pass = refused.rule in (Rule.PACK, Rule.SENDER)


def no_walls(_folder: Path) -> Walls | None:
    """The `walls` of programs that may touch whatever their user can."""
    return None


class LaneRepository:
    """One lane's repository, as one worker uses it."""

    def __init__(
        self,
        workspace: Workspace,
        git: Writer,
        lane: str,
        *,
        branch: str,
        environment: Mapping[str, str],
        identity: Mapping[str, str],
        walls: Callable[[Path], Walls | None] = no_walls,
    ) -> None:
        """`branch` is where work lands, `environment` the lane's, `identity` who commits there.

        `walls` say what its programs may touch, by the lane's folder.
        """
        name = slug(lane)
        self._branch = branch
        self.git = git
        self.folder = workspace.worktrees / name
        self.shell = LaneShell(self.folder, environment, walls(self.folder))
        self.inside = LaneGit(self.shell, self.folder)
        self.work_ref = f"{WORK_REFS}{name}"
        self._workspace = workspace
        self._identity = identity
        self._settled_ref = f"{SETTLED_REFS}{name}"
        self._base_ref = f"{BASE_REFS}{name}"
        self._progress_ref = f"{PROGRESS_REFS}{name}"
        self._marks = LaneMarks(workspace.worktrees.with_name("lanes"), name)
        # A file that its git may write and its agents may not; without it a reset reads all files.
        self.kept_index = ""

    # Making and resetting

    def prepare(self, base: str, *, run_id: str) -> list[Salvage]:
        """Bring the lane to a commit, and return what was saved of earlier runs.

        Its ignored files stay. The ref of its base moves first, so that no clean-up of the user's
        can remove what the lane needs. Raises GitFailed where the lane cannot be made.
        """
        is_settled = self._is_settled
        salvaged: list[Salvage] = []
        if not is_settled:
            salvaged = self._save_earlier(base, run_id)
        self._set_ref(self._base_ref, base)
        try:
            self._reset(base, fresh=not is_settled or self._is_distrusted)
        except LaneFailed as error:
            salvaged += self.set_aside(run_id, f"could not be cleaned: {error.message}")
            self._reset(base, fresh=True)
        for ref in (self.work_ref, self._settled_ref, self._progress_ref):
            self._set_ref(ref, None)
        self._mark_distrusted(False)
        return salvaged

    def clear(self, commit: str) -> None:
        """Bring the files back to a commit; what was written since is nobody's work."""
        self._reset(commit, fresh=False)

    def _reset(self, base: str, *, fresh: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        files = self._files(base)
        for name, text in lane_hooks(self._workspace).items():
            files[f"hooks/{name}"] = text.decode("utf-8", "surrogateescape")
        digest = "" if fresh else self._marks.index_digest
        order = {"commit": base, "files": files, "kept": self.kept_index, "index": digest}
        answer = self.shell.order("reset", order, RESET_SECONDS)
        self._marks.set_index_digest(str(answer.get("index", "")))

    def _files(self, commit: str) -> dict[str, str]:
        assert self._workspace.common
        return repository_files(
            self.git, self._workspace.common, commit, self._identity, branch=self._branch
        )

    def _save_earlier(self, base: str, run_id: str) -> list[Salvage]:
        """Save the work of a run that ended without doing so, and that of earlier versions."""
        saved = self._save_delivered(base, run_id)
        if self.delivered_head() is None or self._worktree_directory:
            saved += self._take_over_earlier(base, run_id)
            saved += self._save_delivered(base, run_id)
        return [structs.replace(work, earlier=True) for work in saved]

    def _save_delivered(self, base: str, run_id: str) -> list[Salvage]:
        head = self.delivered_head()
        return salvage_writer.save_head(self.git, head, run_id=run_id, why=EARLIER, base=base)

    def _take_over_earlier(self, base: str, run_id: str) -> list[Salvage]:
        # Of a worktree of earlier versions: its commits are in the user's repository.
        head = self._worktree_head()
        began_at = self.git.commit_of(self._base_ref) or self._common_base(head, base)
        saved = salvage_writer.save_head(self.git, head, run_id=run_id, why=EARLIER, base=base)
        try:
            self._upgrade(head or base)
            if not self._is_repository:
                raise LaneFailed("it has no repository of its own")
            saved += self.take_over(began_at, run_id=run_id, why=EARLIER)
        except (LaneFailed, HandOverRefused) as error:
            seen = self.git.commit_of(self._progress_ref)
            saved += salvage_writer.save_head(self.git, seen, run_id=run_id, why=EARLIER, base=base)
            saved += self.set_aside(run_id, f"{EARLIER}: {error.message}")
        return saved

    def _common_base(self, head: str | None, base: str) -> str:
        """Return the newest commit that a head and a base share; the base where they share none."""
        if head is None:
            return base
        return self.git.attempt("merge-base", head, base).stdout.split("\n")[0] or base

    def _worktree_head(self) -> str | None:
        return upgrade.worktree_head(self.git, self.folder)

    def _upgrade(self, head: str) -> None:
        """Make a repository of a worktree; one with submodules is left as it is."""
        directory = self._worktree_directory
        if directory and not (directory / "modules").exists():
            upgrade.convert(self.folder, directory, self._files(head))

    @property
    def _worktree_directory(self) -> Path | None:
        common = self._workspace.common
        assert common
        return upgrade.worktree_directory(self.folder, common)

    @property
    def _is_settled(self) -> bool:
        """Whether nothing is left to save. The ref tells only about a lane's repository: whoever
        went back to an earlier version for a while has a worktree in its place, with other work."""
        return self._is_repository and self.git.object_of(self._settled_ref) is not None

    @property
    def _is_repository(self) -> bool:
        """Whether the folder and its `.git` are folders: a link could lead to files of others."""
        repository = self.folder / ".git"
        return is_real_folder(self.folder) and is_real_folder(repository)

    def set_aside(self, run_id: str, why: str) -> list[Salvage]:
        """Move the whole folder to the saved work; the next reset makes another."""
        self._marks.clear_ready()
        if not os.path.lexists(self.folder):
            return []
        state = self._workspace.state
        if not is_real_folder(self.folder):
            # A link is moved as a link: what it leads to is not the lane's.
            parent, name = self.folder.parent, self.folder.name
            return [salvage_writer.move_aside(parent, name, state, run_id, why)]
        return salvage_writer.save_folder(self.folder, state, run_id, why)

    # The setup

    def mark_ready(self) -> list[str]:
        """Record that the setup has run, and return the files it made that git would commit."""
        claims = self.shell.order("mark", {}, RESET_SECONDS)
        made = [path for path in claims.get("made", ()) if isinstance(path, str)]
        self._marks.set_ready(made)
        return [path for path in made if not path.endswith("/")]

    @property
    def is_ready(self) -> bool:
        """Whether the setup has run and what it made is here: an agent may have committed it."""
        made = self._marks.paths_of_setup()
        return made is not None and all(os.path.lexists(self.folder / path) for path in made)

    # Taking over

    def delivered_head(self) -> str | None:
        """Return the head that was taken over; None: nothing was, since the lane was reset."""
        return self.git.commit_of(self.work_ref)

    def deliver(self, commit: str) -> None:
        """Let a commit that dos made of the lane's work be its head."""
        self._set_ref(self.work_ref, commit)

    def settle(self, *, landed: bool) -> None:
        """Record that the delivered head has landed or was saved: nothing is left to save.

        A lane whose work did not land is made anew for the next unit, all but its ignored files.
        """
        if not landed:
            self._mark_distrusted(True)
        self._set_ref(self._settled_ref, self.delivered_head())
        self._set_ref(self.work_ref, None)

    @property
    def _is_distrusted(self) -> bool:
        return self._marks.is_distrusted

    def _mark_distrusted(self, is_distrusted: bool) -> None:
        self._marks.set_distrusted(is_distrusted)

    def take_over(self, base: str, *, run_id: str, why: str) -> list[Salvage]:
        """Take over all commits, and everything uncommitted as saved work; return the latter.

        `delivered_head` is the lane's head afterwards. Raises HandOverRefused or LaneFailed where
        nothing was taken over: then the folder holds all of it.
        """
        for tries_left in reversed(range(TAKE_OVER_TRIES)):
            try:
                return self._take_over(base, run_id, why)
            except HandOverRefused as error:
                if not error.may_pass or not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    def _take_over(self, base: str, run_id: str, why: str) -> list[Salvage]:
        order = {"base": base, "message": f"Salvaged by dos: {why}"}
        with self.shell.answer("collect", order, TAKE_OVER_SECONDS) as answer:
            claims = self._claims(answer)
            with self._received(answer, claims, base):
                self._take_over_large_files(claims, base)
                saved = self._save(claims, run_id, why)
                for folder in claims.aside:
                    saved.append(self._save_aside(folder, run_id, why))
                if claims.problem:
                    saved += self.set_aside(run_id, f"{why}: {claims.problem}")
                # Last: from now on nothing of the lane is looked for again.
                self._set_ref(self.work_ref, claims.head or base)
        return saved

    def _take_over_large_files(self, claims: Claims, base: str) -> None:
        common = self._workspace.common
        assert common
        refused = large_files.take_over(
            self.git, self.shell, common, base=base, commits=claims.commits, limits=Limits()
        )
        if refused:
            raise HandOverRefused(refused)

    def take_over_progress(self, base: str, *, with_files: bool) -> Claims:
        """Take over the commits of an agent that is at work.

        `with_files` also asks for a digest of what is not committed, which costs a look at every
        file.
        """
        known = self.git.object_of(self._progress_ref) or base
        order = {"base": base, "known": known, "status": with_files}
        with self.shell.answer("peek", order, PEEK_SECONDS) as answer:
            claims = self._claims(answer)
            with self._received(answer, claims, base, known):
                if claims.head and claims.head != known:
                    self._set_ref(self._progress_ref, claims.head)
        return claims

    @contextmanager
    def _received(
        self, answer: Answer, claims: Claims, base: str, known: str = ""
    ) -> Iterator[None]:
        """Have the lane's commits in the user's repository; the block writes refs to keep them.

        `known` is one that was taken over before. Whether they may land is judged later: what did
        not descend from the base is saved too.
        """
        if not claims.has_pack:
            if answer.exit_status() != 0:
                raise LaneFailed(f"the repository of {self.folder} failed after it had answered")
            for commit in claims.commits:
                if commit != known and not self.git.is_ancestor(commit, base):
                    raise LaneFailed(f"{self.folder} names {commit}, and did not send it")
            yield
            return
        received = self._receive(answer, claims, base)
        if isinstance(received, Refused):
            if received.rule is Rule.UNCHECKED:
                raise GitUnanswered(received.reason)
            raise HandOverRefused(received)
        with received:
            received.move_in()
            yield

    def _receive(self, answer: Answer, claims: Claims, base: str) -> Received | Refused:
        return receive(
            self.git,
            answer.pack,
            head=None,
            saved=claims.commits,
            base=base,
            limits=Limits(),
            exit_status=answer.exit_status,
        )

    def _save(self, claims: Claims, run_id: str, why: str) -> list[Salvage]:
        salvaged = []
        for saved in claims.saved:
            reason = f"{why}: {WHY[saved.kind]}"
            work: Salvage | None = None
            if saved.kind in SNAPSHOTS:
                work = salvage_writer.save_snapshot(
                    self.git, run_id, saved.commit, reason, is_earlier=why == EARLIER
                )
            elif not salvage_writer.is_saved(self.git, saved.commit):
                work = salvage_writer.save_to_ref(self.git, run_id, saved.commit, reason)
            if work:
                salvaged.append(structs.replace(work, onto=saved.onto))
        return salvaged

    def _save_aside(self, folder: AsideFolder, run_id: str, why: str) -> Salvage:
        state = self._workspace.state
        reason = f"{why}: {WHY[folder.kind]}"
        try:
            return salvage_writer.move_aside(self.folder, folder.path, state, run_id, reason)
        except OSError as error:
            shown = printable_path(folder.path)
            raise LaneFailed(f"{shown} cannot be moved: {error.strerror}") from error

    def _set_ref(self, ref: str, commit: str | None) -> None:
        """Move a ref of the lane, or remove it; raises GitUnanswered."""
        old = self.git.object_of(ref)
        if old == commit:
            return
        refused = self.git.swap_ref(ref, commit, old)
        if refused:
            raise GitUnanswered(f"{ref} could not be moved: {refused}")

    def _claims(self, answer: Answer) -> Claims:
        """Return the lane's claims. Raises LaneFailed for anything that is not of their form."""
        try:
            return parse_claims(answer.claims, self.folder)
        except (KeyError, TypeError, ValueError) as error:
            raise LaneFailed(f"{self.folder} answered what cannot be read: {error}") from error
