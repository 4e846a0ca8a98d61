"""The check of a pack in quarantine: sizes, history, and every entry that differs from the base."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

from msgspec import Struct

from dos.handover import judge
from dos.handover.io.bounded_git import BoundedGit
from dos.handover.io.object_reader import ObjectReader, Size, missing
from dos.handover.names import GITMODULES
from dos.handover.objects import (
    INDEX_HEADER_BYTES,
    Commit,
    Id,
    index_count,
    parse_commit,
    parse_folder,
    split_names,
)
from dos.handover.refusal import Refused, Rule, show_path
from dos.handover.submodules import judge_settings, settings_of
from dos.handover.walk import Walk

LARGEST_GITMODULES = 1_000_000
MOST_VERSIONS = 20  # of .gitmodules in one hand-over: each costs a process


class Checked(Struct, frozen=True, kw_only=True):
    """A pack that passed."""

    head: str | None
    commits: tuple[str, ...]  # parents first
    object_count: int
    pack: str


class Check:
    """One check. Use it in a `with`: it keeps a git process."""

    def __init__(self, git: BoundedGit, index: Path, base: str) -> None:
        self._git = git
        self._limits = git.limits
        self._index = index
        self._base = bytes.fromhex(base)
        self._reader = ObjectReader(git)
        self._sizes: dict[Id, Size] = {}  # of everything in the pack
        self._commits: dict[Id, Commit] = {}  # that the base does not have, as far as known

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._reader.__exit__(*error)

    def run(self, head: str | None, saved: Sequence[str], pack: str) -> Checked | Refused:
        """Return what was checked, or the first rule that it breaks. Raises GitEnded."""
        names = self._read_names()
        if isinstance(names, Refused):
            return names
        wanted = [bytes.fromhex(sha) for sha in (head, *saved) if sha is not None]
        refusal = self._read_sizes(names) or self._read_history(wanted)
        if refusal:
            return refusal
        if head is not None and not self._descends(bytes.fromhex(head)):
            return Refused(
                rule=Rule.ANCESTRY,
                reason=f"{head} does not contain the commit that the lane was based on,"
                f" {self._base.hex()}; commit on top of that one and keep its history",
            )
        refusal = self._compare(names)
        if refusal:
            return refusal
        return Checked(
            head=head,
            commits=tuple(sha.hex() for sha in self._parents_first(wanted)),
            object_count=len(names),
            pack=pack,
        )

    def _read_names(self) -> list[Id] | Refused:
        """Read which objects the pack has, if they are not too many."""
        with self._index.open("rb") as file:
            count = index_count(file.read(INDEX_HEADER_BYTES))
            if count > self._limits.objects:
                return _over("objects", count, self._limits.objects)
            return split_names(file.read(count * len(self._base)), len(self._base))

    def _read_sizes(self, names: list[Id]) -> Refused | None:
        """Read the size of every object of the pack, and judge each and their sum."""
        limits = self._limits
        total = 0
        structure = 0
        for sha, size in zip(names, self._reader.sizes(names), strict=True):
            if size is None:
                raise missing(sha, "object")
            most = limits.object_bytes
            total += size.size_bytes
            if size.kind != "blob":
                most = limits.structure_bytes
                structure += size.size_bytes
            if size.size_bytes > most:
                return _over(f"bytes in {size.kind} {sha.hex()}", size.size_bytes, most)
            self._sizes[sha] = size
        if total > limits.total_bytes:
            return _over("bytes in all objects", total, limits.total_bytes)
        if structure > limits.total_structure_bytes:
            return _over("bytes in all folders", structure, limits.total_structure_bytes)
        return None

    # The history

    def _read_history(self, wanted: list[Id]) -> Refused | None:
        """Read all commits that the base does not have; judge their number and their parents."""
        sent = [sha for sha, size in self._sizes.items() if size.kind == "commit"]
        if len(sent) > self._limits.commits:
            return _over("commits", len(sent), self._limits.commits)
        self._read_commits(sent)
        for sha, commit in self._commits.items():
            if len(commit.parents) > self._limits.parents:
                return _over(f"parents of {sha.hex()}", len(commit.parents), self._limits.parents)
        unknown = {sha for sha in self._reachable(wanted) if sha not in self._commits}
        unknown.discard(self._base)
        refusal = None
        if unknown:
            refusal = self._read_known_history(unknown)
        # What no wanted commit contains is surplus.
        reached = self._reachable(wanted)
        self._commits = {sha: self._commits[sha] for sha in self._commits if sha in reached}
        return refusal

    def _read_known_history(self, heads: Iterable[Id]) -> Refused | None:
        """Read commits that were not sent and are not in the base, but in the repository.

        Git walks them, and dies where the history has a hole.
        """
        names = sorted(sha.hex() for sha in heads)
        for sha, size in zip(
            names, self._reader.sizes([bytes.fromhex(n) for n in names]), strict=True
        ):
            if size is None or size.kind != "commit":
                raise missing(bytes.fromhex(sha), "commit")
        most = self._limits.commits - len(self._commits)
        words = ("--max-count", str(most + 1), *names, f"^{self._base.hex()}")
        ended = self._git.run("rev-list", *words)
        if ended.code != 0:
            return self._git.refusal("rev-list", ended.code, ended.errors, Rule.INCOMPLETE)
        older = [bytes.fromhex(name) for name in ended.output.decode().split()]
        if len(older) > most:
            return _over("commits", len(older), self._limits.commits)
        self._read_commits(older)
        return None

    def _read_commits(self, ids: Sequence[Id]) -> None:
        for sha, content in zip(ids, self._reader.contents(ids, "commit"), strict=True):
            self._commits[sha] = parse_commit(content)

    def _reachable(self, heads: Iterable[Id]) -> set[Id]:
        """Return the heads and all commits below them, as far as they are known."""
        waiting = list(heads)
        reached: set[Id] = set()
        while waiting:
            sha = waiting.pop()
            if sha not in reached:
                reached.add(sha)
                commit = self._commits.get(sha)
                if commit:
                    waiting += commit.parents
        return reached

    def _descends(self, head: Id) -> bool:
        """Whether a commit is the base or contains it.

        A commit between the two is not in the base, so all of them are known.
        """
        return self._base in self._reachable([head])

    def _parents_first(self, heads: Iterable[Id]) -> list[Id]:
        """Return the commits that the base does not have, each after its parents."""
        ordered: dict[Id, None] = {}
        waiting = list(heads)
        while waiting:
            sha = waiting[-1]
            commit = self._commits.get(sha)
            above: list[Id] = []
            if commit and sha not in ordered:
                above = [
                    parent
                    for parent in commit.parents
                    if parent in self._commits and parent not in ordered
                ]
            if above:
                waiting += above
                continue
            waiting.pop()
            if commit:
                ordered[sha] = None
        return list(ordered)

    # The content

    def _compare(self, names: list[Id]) -> Refused | None:
        """Compare the tree of each new commit with the base, then judge what was collected."""
        base_tree = self._tree_of_base()
        walk = Walk(self._folders, self._limits, len(self._base))
        trees = [commit.tree for commit in self._commits.values()]
        refusal = walk.compare(trees, base_tree)
        if refusal:
            return refusal
        self._require_files(walk.files)
        return (
            self._judge_links(walk.links)
            or self._judge_gitmodules(walk.gitmodules, base_tree)
            or self._judge_surplus(names, walk)
        )

    def _tree_of_base(self) -> Id:
        content = next(self._reader.contents([self._base], "commit"))
        return parse_commit(content).tree

    def _folders(self, ids: Sequence[Id]) -> Iterator[bytes]:
        return self._reader.contents(ids, "tree")

    def _require_files(self, files: Iterable[Id]) -> None:
        """Raise MissingObject unless each file is in the pack or in the repository."""
        known = []
        for sha in files:
            sent = self._sizes.get(sha)
            if sent is None:
                known.append(sha)
            elif sent.kind != "blob":
                raise missing(sha, "blob")
        for sha, size in zip(known, self._reader.sizes(known), strict=True):
            if size is None or size.kind != "blob":
                raise missing(sha, "blob")

    def _judge_links(self, links: dict[Id, list[bytes]]) -> Refused | None:
        targets = list(links)
        for sha, size in zip(targets, self._reader.sizes(targets), strict=True):
            if size is None or size.size_bytes > self._limits.link_bytes:
                shown = show_path(links[sha][0])
                return Refused(
                    rule=Rule.LINK,
                    reason=f"{shown} is a symbolic link with a target of more than"
                    f" {self._limits.link_bytes:,} bytes",
                )
        for sha, target in zip(targets, self._reader.contents(targets, "blob"), strict=True):
            for path in links[sha]:
                refusal = judge.judge_link(path, target)
                if refusal:
                    return refusal
        return None

    def _judge_gitmodules(self, versions: set[Id], base_tree: Id) -> Refused | None:
        """Judge each new version of `.gitmodules`, as git itself reads it."""
        if not versions:
            return None
        if len(versions) > MOST_VERSIONS:
            return _over("versions of .gitmodules", len(versions), MOST_VERSIONS)
        top = parse_folder(next(self._reader.contents([base_tree], "tree")), len(self._base))
        _, before = top.get(GITMODULES, (b"", None))
        base: dict[str, tuple[str, ...]] = {}
        if before is not None:
            listing = self._list_settings(before)
            if not isinstance(listing, Refused):  # else git cannot read it, and neither counts
                base = settings_of(listing)
        for version in versions:
            listing = self._list_settings(version)
            if isinstance(listing, Refused):
                return listing
            refusal = judge_settings(settings_of(listing), base)
            if refusal:
                return refusal
        return None

    def _list_settings(self, sha: Id) -> bytes | Refused:
        size = next(self._reader.sizes([sha]))
        if size is None or size.size_bytes > LARGEST_GITMODULES:
            return Refused(rule=Rule.SUBMODULE, reason=".gitmodules is too large")
        ended = self._git.run("config", "--blob", sha.hex(), "--null", "--list")
        if ended.code != 0:
            return self._git.refusal("config", ended.code, ended.errors, Rule.SUBMODULE)
        return ended.output

    def _judge_surplus(self, names: list[Id], walk: Walk) -> Refused | None:
        """Judge objects that no commit needs: nobody looked at them, and git would walk them.

        A thin pack was completed with objects that the repository has.
        """
        surplus = [
            sha
            for sha in names
            if sha not in walk.files and sha not in walk.folders and sha not in self._commits
        ]
        if not surplus:
            return None
        with ObjectReader(self._git, quarantine=False) as repository:
            for sha, size in zip(surplus, repository.sizes(surplus), strict=True):
                if size is None:
                    kind = self._sizes[sha].kind
                    return Refused(
                        rule=Rule.SURPLUS,
                        reason=f"{kind} {sha.hex()} was sent, and none of the commits needs it",
                    )
        return None


def _over(what: str, number: int, most: int) -> Refused:
    return Refused(
        rule=Rule.LIMIT, reason=f"{number:,} {what} were sent; at most {most:,} are taken"
    )
