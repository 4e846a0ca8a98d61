"""Gather what git holds about a unit: the commits that name it, their changes, what is left.

Policy and grammar come from the ref that is asked about, declarations from the tree before each
commit. Files on disk are read only to report that they differ.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct, structs

from dos.config.load import LoadedConfig, load
from dos.config.schema import Config
from dos.errors import BadInput, GitFailed
from dos.git import files, log, message_index
from dos.git.objects import Commit, Objects
from dos.journal.backends.open import embedded_path
from dos.receipts.io import notes
from dos.text import ascii_lower, quote
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

MOST_CANDIDATES = 64  # that are inspected, from the newest; older ones only if none is left of them
Units = Sequence[tuple[str, str]]
Progress = Callable[[int], None]


class Ask(Struct, frozen=True, kw_only=True):
    """What to verify against: the ref, the branch to be merged into, and which witnesses to ask."""

    ref: str = "HEAD"
    since: str = ""  # count only commits that the ref has since this one
    merged_into: str = ""
    uses_index: bool = True
    asks_ci: bool = True
    is_vouched: bool = True  # ask witnesses besides git
    require: str = ""  # in place of [verify] require
    looks_for_importers: bool = False  # note new modules that nothing imports


def verify(
    world: World, units: Units | None, ask: Ask = Ask(), *, progress: Progress | None = None
) -> list[Verdict]:
    """The verdict on each unit, from one read of history; on every declared one if None.

    Raises BadInput if a ref of `ask` names no commit.
    """
    gathered, policy = gather(world, units, ask, progress=progress)
    return [judge(evidence, policy) for evidence in gathered]


def gather(
    world: World, units: Units | None, ask: Ask, *, progress: Progress | None = None
) -> tuple[list[Evidence], Policy]:
    """The evidence for each unit, or for every declared one if `units` is None; and the policy.

    Raises BadInput if the ref names no commit.
    """
    if world.workspace.common is None:
        why = f"{world.workspace.root} is not in a git repository"
        blanks = [_blank(unit, ask, limits=("no_git",), unreadable=why) for unit in units or ()]
        return blanks, Policy()
    with Objects(world.git) as objects:
        if ask.ref == "HEAD" and objects.commit("HEAD") is None and objects.is_unborn():
            return [_blank(unit, ask) for unit in units or ()], Policy()
        verifier = Verifier(world, objects, ask)
        if units is None:
            units = verifier.all_units()
        return verifier.gather_evidence(units, progress)


class Verifier:
    """One read of a history for any number of units. Each answer is independent of the others.

    Raises BadInput if a ref names no commit, and ConfigInvalid if the committed dos.toml has
    errors: a policy that cannot be read must not be replaced by a weaker default.
    """

    def __init__(self, world: World, objects: Objects, ask: Ask) -> None:
        self.world = world
        self.workspace = world.workspace
        self.git = world.git
        self.objects = objects
        self.ask = ask
        self.tip = _commit(objects, ask.ref)
        # A branch to be merged into also sets the policy, and has to contain the work.
        self.judged_at = self.tip
        if ask.merged_into:
            self.judged_at = _commit(objects, ask.merged_into)
        without_config = Declarations(objects, self.workspace, Config())
        self.config = without_config.strict_config(self.judged_at.tree)
        self.declarations = Declarations(objects, self.workspace, self.config)
        self.stamp = self.config.stamp
        self.footprints = FootprintReader(
            self.git,
            objects,
            self.judged_at,
            self.declarations,
            looks_for_importers=ask.looks_for_importers,
        )
        self.limits = tuple(_limits(world, objects, self.tip))
        on_disk = load(self.workspace.root, lenient=True)
        self.is_dirty = _is_dirty(on_disk, self.config)
        self.is_invalid = bool(on_disk.problems)

    def all_units(self) -> Units:
        """Every unit that the plans declare at the ref that is judged."""
        return [(unit.plan, unit.id) for unit in self.declarations.units(self.judged_at.tree)]

    @property
    def surroundings(self) -> tuple[object, ...]:
        """What every answer depends on besides the commits and the files that they changed."""
        registered = self._committed_or_local_text(self.config.paths.execution_state)
        # What the rows point at may become part of the history, so the tip counts as well.
        registry_tip = registry.done_rows(registered) and self.tip.sha
        return (
            self.ask,
            self.declarations.text(self.judged_at.tree, "dos.toml"),
            self.declarations.documents(self.judged_at.tree),
            registered,
            registry_tip,
            self._committed_or_local_text(self.config.paths.soaks_index),
            self.limits,
            files.shallow_boundary(self.workspace),
            self.is_dirty,
            self.is_invalid,
            files.has_replacements(self.workspace),
        )

    def needles(self, unit: tuple[str, str]) -> message_index.Needles:
        """The sets of words of which a message that names the unit contains one."""
        name = UnitName(*unit, self.stamp)
        if not name.plan or not name.phase:
            return []
        return name.needles()

    def gather_evidence(
        self, units: Units, progress: Progress | None = None
    ) -> tuple[list[Evidence], Policy]:
        """The evidence for each unit, and the policy to judge it by.

        `progress` is called with the number of messages read while the index is built.
        """
        index = None
        if self.ask.uses_index and not self.ask.since:
            index = files.message_index_path(self.workspace)
        found = message_index.find(
            self.git,
            self.tip.sha,
            list(map(self.needles, units)),
            index,
            since=self.ask.since,
            bundles=self.stamp.summary_bundle_prefixes,
            progress=progress or _no_progress,
        )
        require = self.ask.require or self.config.verify.require
        policy = structs.replace(self.config.verify, require=require)
        gathered = []
        for (plan, phase), shas in zip(units, found, strict=True):
            gathered.append(self._evidence(UnitName(plan, phase, self.stamp), shas))
        return gathered, policy

    def _with_witnesses(
        self, name: UnitName, commits: tuple[CandidateCommit, ...]
    ) -> tuple[CandidateCommit, ...]:
        """The commits with what witnesses say, if there can be any: importing them is costly."""
        if not self.ask.is_vouched or not self._has_witnesses():
            return commits
        from dos.verify.io import corroborate

        unit = self.declarations.declared_name(self.judged_at.tree, name)
        return corroborate.with_witnesses(
            self.world, self.config, unit, commits, asks_ci=self.ask.asks_ci
        )

    def _has_witnesses(self) -> bool:
        """Whether there is a journal, a receipt in git's notes, or a CI to ask."""
        journal = embedded_path(self.world.config.store.url, self.workspace.state)
        if journal is None or journal.exists():
            return True
        if files.has_refs(self.workspace, notes.REF):
            return True
        return self.config.verify.asks_ci

    def _evidence(self, name: UnitName, shas: Sequence[str]) -> Evidence:
        """The evidence for one unit, from the commits that the index found."""
        naming = self._commits_naming(name, shas)
        unbacked = ""
        if not self.ask.since:
            unbacked = self._add_registered(name, naming)
        merged = {commit.sha for commit, _ in naming}
        if self.judged_at is not self.tip:
            merged = log.contained_commits(self.git, self.judged_at.sha, merged)
        commits = self._inspect_candidates(name, naming, merged)
        soaks = self._committed_or_local_text(self.config.paths.soaks_index)
        return Evidence(
            plan=name.plan,
            phase=name.phase,
            ref=self.ask.merged_into or self.ask.ref,
            commits=self._with_witnesses(name, commits),
            limits=self.limits,
            soaking=registry.is_soaking(soaks, name.plan, name.phase),
            registry_unbacked=unbacked,
            config_dirty=self.is_dirty,
            config_invalid=self.is_invalid,
            replaced=not naming and files.has_replacements(self.workspace),
            expected=self.declarations.scope_for(self.judged_at.tree, name).expected,
            is_declared=bool(commits) or self._is_declared(name),
        )

    def _is_declared(self, name: UnitName) -> bool:
        """Whether the judged ref declares the unit; True where its units are not in documents."""
        if self.config.plans.source not in ("documents", "markdown"):
            return True
        return self.declarations.declares(self.judged_at.tree, name)

    def _inspect_candidates(
        self, name: UnitName, naming: list[tuple[Commit, Naming]], merged: set[str]
    ) -> tuple[CandidateCommit, ...]:
        """Inspect the newest commits, and older ones until one is found that is still there."""
        inspected: list[CandidateCommit] = []
        is_some_left = False
        for commit, how in naming:
            if len(inspected) >= MOST_CANDIDATES and is_some_left:
                break
            candidate = self._inspect(name, commit, how, is_merged=commit.sha in merged)
            inspected.append(candidate)
            if candidate.survival and candidate.survival.kept:
                is_some_left = True
        return tuple(inspected)

    def _commits_naming(self, name: UnitName, shas: Sequence[str]) -> list[tuple[Commit, Naming]]:
        """The commits that name the unit, newest first. The index only says where to look."""
        found = {}
        is_declared = bool(shas) and self._is_declared(name)
        for commit in filter(None, map(self.objects.commit, shas)):
            naming = name.find_in(Message.parse(commit.message), is_declared=is_declared)
            if naming is not None:
                found[commit.sha] = commit, naming
        times = {sha: commit.committed_seconds for sha, (commit, _) in found.items()}
        return [found[sha] for sha in log.newest_first(self.git, times)]

    def _add_registered(self, name: UnitName, naming: list[tuple[Commit, Naming]]) -> str:
        """Add the commit that a registry names for the unit, to be inspected like any other.

        Returns what is wrong if the registry calls the unit done and names no commit of this
        history; else "".
        """
        file = self.config.paths.execution_state
        done = registry.done_rows(self._committed_or_local_text(file))
        rows = [row for row in done if _is_about(row, name)]
        for row in rows:
            commit = self.objects.commit(row.commit) if _is_hash(row.commit) else None
            if commit is None or commit.sha not in log.contained_commits(
                self.git, self.tip.sha, [commit.sha]
            ):
                continue
            is_new = all(other.sha != commit.sha for other, _ in naming)
            # A commit that names another unit is not this unit's, whatever the row says.
            if is_new and not names_some_unit(commit.message):
                naming.append((commit, Naming(rung=Rung.REGISTRY, faint=True)))
            return ""
        if rows:
            return f"{file} calls it done, and names no commit of this history"
        return ""

    def _inspect(
        self, name: UnitName, commit: Commit, naming: Naming, *, is_merged: bool
    ) -> CandidateCommit:
        """One commit as a candidate, with its footprint if that can be read."""
        candidate = CandidateCommit(
            sha=commit.sha,
            summary=Message.parse(commit.message).subject,
            naming=naming,
            is_merged=is_merged,
        )
        try:
            return self._with_footprint(name, commit, candidate)
        except GitFailed as error:  # an unreadable commit must not hide the others
            return structs.replace(candidate, unreadable=error.message)

    def _with_footprint(
        self, name: UnitName, commit: Commit, candidate: CandidateCommit
    ) -> CandidateCommit:
        """The candidate with what it changed and what is left. Raises GitFailed."""
        parent = self.objects.commit(commit.parents[0]) if commit.parents else None
        if commit.parents and parent is None:
            why = "its parent is missing: this clone is shallow"
            return structs.replace(candidate, unreadable=why)
        before = Scope()  # a first commit has no tree before it
        if parent:
            before = self.declarations.scope_for(parent.tree, name)
        now = self.declarations.scope_for(self.judged_at.tree, name)
        negated = candidate.naming.negated
        if negated and negated in f"{before.title} {now.title}".casefold():
            # The word is part of the unit's title: that is what the unit is about.
            naming = structs.replace(candidate.naming, negated="")
            candidate = structs.replace(candidate, naming=naming)
        return self.footprints.inspect(candidate, commit, parent, before, now)

    def _committed_or_local_text(self, path: str) -> str:
        """A file as the ref has it; the one on disk if the ref has none."""
        committed = self.declarations.text(self.judged_at.tree, path)
        return committed or files.read_small_file(self.workspace.root / path)


def _no_progress(_count: int) -> None:
    """Ignore progress."""
    return


def _blank(
    unit: tuple[str, str], ask: Ask, *, limits: tuple[str, ...] = (), unreadable: str = ""
) -> Evidence:
    """The evidence about a unit where there is no history to read."""
    plan, phase = unit
    return Evidence(plan=plan, phase=phase, ref=ask.ref, limits=limits, unreadable=unreadable)


def _commit(objects: Objects, ref: str) -> Commit:
    """The commit that a ref names. Raises BadInput if it names none."""
    commit = objects.commit(ref)
    if commit is None:
        raise BadInput(
            f"{quote(ref)} is no commit of this repository",
            hint="`git branch -a` lists the branches.",
        )
    return commit


def _is_about(row: registry.RegistryRow, name: UnitName) -> bool:
    """Whether a registry's row is about the unit, in any case."""
    is_same_plan = ascii_lower(row.plan) == ascii_lower(name.plan)
    return is_same_plan and ascii_lower(row.phase) == ascii_lower(name.phase)


def _is_hash(text: str) -> bool:
    """Whether a text can be the hash of a commit: rows may contain anything."""
    return 7 <= len(text) <= 64 and set(text.lower()) <= set("0123456789abcdef")


def _limits(world: World, objects: Objects, tip: Commit) -> list[str]:
    """What limits every answer: a shallow clone, or a folder that the repository does not track."""
    limits = []
    if files.is_shallow(world.workspace):
        limits.append("shallow")
    tree = world.workspace.tree
    if world.start.is_relative_to(tree):
        inside = world.start.relative_to(tree).as_posix()
        if inside != "." and objects.entry_at(tip.tree, inside) is None:
            limits.append("enclosing_repo")
    return limits


def _is_dirty(on_disk: LoadedConfig, committed: Config) -> bool:
    """Whether dos.toml on disk would judge differently from the committed one.

    A table with errors counts with its defaults, as in every lenient load.
    """
    if on_disk.path is None:
        return False
    return _judging_settings(on_disk.config) != _judging_settings(committed)


def _judging_settings(config: Config) -> tuple[object, ...]:
    """The settings that can change a verdict."""
    return (
        config.stamp,
        config.verify,
        config.units,
        config.paths.plans_glob,
        config.enumerate,
        config.ci,
    )
