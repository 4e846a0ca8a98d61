"""What git holds about a unit: the commits that name it, what each changed, and what is left of that.

Policy and grammar come from the ref that is asked about, declarations from the tree before each commit. Files on disk
are looked at only to say that they differ.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from dos.config.load import load
from dos.config.schema import Config
from dos.errors import BadInput, GitFailed
from dos.git import files, log, message_index
from dos.git.objects import Commit, Objects
from dos.journal.backends.open import embedded_path
from dos.receipts.io import notes
from dos.text import quote
from dos.verify.candidate import CandidateCommit
from dos.verify.footprint import Scope
from dos.verify.io import registry
from dos.verify.io.commit_footprint import FootprintReader
from dos.verify.io.declarations import Declarations
from dos.verify.mentions import names_some_unit
from dos.verify.message import Message
from dos.verify.naming import Naming, Rung, UnitName
from dos.verify.policy import Policy
from dos.verify.shipped import Evidence, Verdict, judge
from dos.world import World

MOST_CANDIDATES = 64  # that are looked into, from the newest; the others only named it again
Units = Sequence[tuple[str, str]]


class Ask(Struct, frozen=True, kw_only=True):
    ref: str = "HEAD"
    since: str = ""  # only by what the ref has since this commit
    merged_into: str = ""
    uses_index: bool = True
    asks_ci: bool = True
    is_vouched: bool = True  # ask others besides git
    require: str = ""  # instead of what [verify] says


def verify(
    world: World,
    units: Units | None,
    ask: Ask = Ask(),
    *,
    progress: Callable[[int], None] | None = None,
) -> list[Verdict]:
    """The verdict on each unit, from one read of history."""
    seen, policy = gather(world, units, ask, progress=progress)
    return [judge(each, policy) for each in seen]


def gather(
    world: World, units: Units | None, ask: Ask, *, progress: Callable[[int], None] | None = None
) -> tuple[list[Evidence], Policy]:
    """What is known of each unit; of every unit that is declared when none is named."""
    if world.workspace.common is None:
        why = f"{world.workspace.root} is not in a git repository"
        return [
            _blank(unit, ask, limits=("no_git",), unreadable=why) for unit in units or ()
        ], Policy()
    with Objects(world.git) as objects:
        if ask.ref == "HEAD" and objects.commit("HEAD") is None and objects.is_unborn():
            return [_blank(unit, ask) for unit in units or ()], Policy()
        look = Verifier(world, objects, ask)
        return look.gather_evidence(look.all_units() if units is None else units, progress)


class Verifier:
    """One look at a history, for any number of units: the answer about one does not depend on the others."""

    def __init__(self, world: World, objects: Objects, ask: Ask) -> None:
        self.world, self.workspace = world, world.workspace
        self.git, self.objects, self.ask = world.git, objects, ask
        self.tip = _commit(objects, ask.ref)
        # A protected branch also keeps the policy, and has to hold the work.
        self.judged_at = _commit(objects, ask.merged_into) if ask.merged_into else self.tip
        self.config = Declarations(objects, self.workspace, Config()).strict_config(
            self.judged_at.tree
        )
        self.declarations = Declarations(objects, self.workspace, self.config)
        self.stamp = self.config.stamp
        self.footprints = FootprintReader(self.git, objects, self.judged_at)
        self.limits = tuple(_limits(world, objects, self.tip))
        self.is_dirty = _is_dirty(self.workspace.root, self.config)

    def all_units(self) -> Units:
        """Every unit that the plans declare at the ref that is judged."""
        return [(unit.plan, unit.id) for unit in self.declarations.units(self.judged_at.tree)]

    @property
    def surroundings(self) -> tuple[object, ...]:
        """What every answer depends on, beside commits and the files that they changed."""
        registered = self._kept_text(self.config.paths.execution_state)
        return (
            self.ask,
            self.declarations.text(self.judged_at.tree, "dos.toml"),
            self.declarations.documents(self.judged_at.tree),
            registered,
            registry.done_rows(registered)
            and self.tip.sha,  # what they point at may come to be part of it
            self._kept_text(self.config.paths.soaks_index),
            self.limits,
            files.shallow_boundary(self.workspace),
            self.is_dirty,
            files.has_replacements(self.workspace),
        )

    def needles(self, unit: tuple[str, str]) -> message_index.Needles:
        """What a message holds that names the unit."""
        name = UnitName(*unit, self.stamp)
        return name.needles() if name.plan and name.phase else []

    def gather_evidence(
        self, units: Units, progress: Callable[[int], None] | None = None
    ) -> tuple[list[Evidence], Policy]:
        names = [UnitName(plan, phase, self.stamp) for plan, phase in units]
        found = message_index.find(
            self.git,
            self.tip.sha,
            [self.needles(unit) for unit in units],
            files.message_index_path(self.workspace)
            if self.ask.uses_index and not self.ask.since
            else None,
            since=self.ask.since,
            bundles=self.stamp.summary_bundle_prefixes,
            progress=progress or (lambda count: None),
        )
        policy = structs.replace(
            self.config.verify, require=self.ask.require or self.config.verify.require
        )
        return [self._evidence(name, shas) for name, shas in zip(names, found, strict=True)], policy

    def _vouched(
        self, name: UnitName, seen: tuple[CandidateCommit, ...]
    ) -> tuple[CandidateCommit, ...]:
        """With what others say of it, where there are others at all."""
        has_journal = embedded_path(self.world.config.store.url, self.workspace.state)
        if not self.ask.is_vouched or (
            (has_journal is not None and not has_journal.exists())
            and not files.has_refs(self.workspace, notes.REF)
            and not (self.config.verify.non_git_oracle or self.config.verify.ci == "require")
        ):
            return seen
        from dos.verify.io import corroborate

        return corroborate.with_witnesses(
            self.world, self.config, f"{name.plan}/{name.phase}", seen, asks_ci=self.ask.asks_ci
        )

    def _evidence(self, name: UnitName, shas: Sequence[str]) -> Evidence:
        named = self._named(name, shas)
        unbacked = "" if self.ask.since else self._registered(name, named)
        merged = {commit.sha for commit, _ in named}
        if self.judged_at is not self.tip:
            merged = log.contained_commits(self.git, self.judged_at.sha, merged)
        seen = self._looked_into(name, named, merged)
        return Evidence(
            plan=name.plan,
            phase=name.phase,
            ref=self.ask.merged_into or self.ask.ref,
            commits=self._vouched(name, seen),
            limits=self.limits,
            soaking=registry.is_soaking(
                self._kept_text(self.config.paths.soaks_index), name.plan, name.phase
            ),
            registry_unbacked=unbacked,
            config_dirty=self.is_dirty,
            replaced=not named and files.has_replacements(self.workspace),
            expected=self.declarations.scope_for(self.judged_at.tree, name).expected,
        )

    def _looked_into(
        self, name: UnitName, named: list[tuple[Commit, Naming]], merged: set[str]
    ) -> tuple[CandidateCommit, ...]:
        """The newest, and on until one of them stands."""
        seen: list[CandidateCommit] = []
        for pair in named:
            if len(seen) >= MOST_CANDIDATES and any(
                each.survival and each.survival.kept for each in seen
            ):
                break
            seen.append(self._seen(name, *pair, is_merged=pair[0].sha in merged))
        return tuple(seen)

    def _named(self, name: UnitName, shas: Sequence[str]) -> list[tuple[Commit, Naming]]:
        """The commits that name the unit, newest first: the index only says where to look."""
        found = {}
        for commit in filter(None, map(self.objects.commit, shas)):
            naming = name.find_in(Message.parse(commit.message))
            if naming is not None:
                found[commit.sha] = commit, naming
        times = {sha: commit.committed_seconds for sha, (commit, _) in found.items()}
        return [found[sha] for sha in log.newest_first(self.git, times)]

    def _registered(self, name: UnitName, named: list[tuple[Commit, Naming]]) -> str:
        """A registry points at commits: one that is part of this history is looked at like any other."""
        file = self.config.paths.execution_state
        rows = [row for row in registry.done_rows(self._kept_text(file)) if _is_about(row, name)]
        for row in rows:
            commit = self.objects.commit(row.commit) if _is_hash(row.commit) else None
            if commit is None or commit.sha not in log.contained_commits(
                self.git, self.tip.sha, [commit.sha]
            ):
                continue
            # A commit that is of another unit is none of this one, whatever a row says.
            if all(each.sha != commit.sha for each, _ in named) and not names_some_unit(
                commit.message
            ):
                named.append((commit, Naming(rung=Rung.REGISTRY, faint=True)))
            return ""
        return f"{file} calls it done, and names no commit of this history" if rows else ""

    def _seen(
        self, name: UnitName, commit: Commit, naming: Naming, *, is_merged: bool
    ) -> CandidateCommit:
        seen = CandidateCommit(
            sha=commit.sha,
            summary=Message.parse(commit.message).subject,
            naming=naming,
            is_merged=is_merged,
        )
        try:
            parent = self.objects.commit(commit.parents[0]) if commit.parents else None
            if commit.parents and parent is None:
                return structs.replace(
                    seen, unreadable="its parent is not here: the history is cut off"
                )
            before = self.declarations.scope_for(parent.tree, name) if parent else Scope()
            now = self.declarations.scope_for(self.judged_at.tree, name)
            if naming.negated and naming.negated in f"{before.title} {now.title}".casefold():
                seen = structs.replace(
                    seen, naming=structs.replace(naming, negated="")
                )  # that is what it is about
            return self.footprints.inspect(seen, commit, parent, before, now)
        except GitFailed as error:  # what cannot be read of one commit says nothing of the others
            return structs.replace(seen, unreadable=error.message)

    def _kept_text(self, path: str) -> str:
        """A file that the ref holds, as it has it; another one from disk."""
        return self.declarations.text(self.judged_at.tree, path) or files.read_small_file(
            self.workspace.root / path
        )


def _blank(
    unit: tuple[str, str], ask: Ask, *, limits: tuple[str, ...] = (), unreadable: str = ""
) -> Evidence:
    return Evidence(plan=unit[0], phase=unit[1], ref=ask.ref, limits=limits, unreadable=unreadable)


def _commit(objects: Objects, ref: str) -> Commit:
    found = objects.commit(ref)
    if found is None:
        raise BadInput(
            f"{quote(ref)} is no commit of this repository",
            hint="`git branch -a` lists what there is.",
        )
    return found


def _is_about(row: registry.Row, name: UnitName) -> bool:
    return (row.plan.casefold(), row.phase.casefold()) == (
        name.plan.casefold(),
        name.phase.casefold(),
    )


def _is_hash(text: str) -> bool:
    return 7 <= len(text) <= 64 and set(text.lower()) <= set("0123456789abcdef")


def _limits(world: World, objects: Objects, tip: Commit) -> list[str]:
    found = []
    if files.is_shallow(world.workspace):
        found.append("shallow")
    start = world.start
    inside = (
        start.relative_to(world.workspace.tree).as_posix()
        if start.is_relative_to(world.workspace.tree)
        else "."
    )
    if inside != "." and objects.entry_at(tip.tree, inside) is None:
        found.append("enclosing_repo")
    return found


def _is_dirty(root: Path, committed: Config) -> bool:
    """Whether dos.toml on disk would judge otherwise."""
    loaded = load(root, lenient=True)
    if loaded.path is None:
        return False
    return bool(loaded.problems) or _judging(loaded.config) != _judging(committed)


def _judging(config: Config) -> tuple[object, ...]:
    return (
        config.stamp,
        config.verify,
        config.units,
        config.paths.plans_glob,
        config.enumerate,
        config.ci,
    )
