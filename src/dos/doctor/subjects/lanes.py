"""The lanes: what is wrong with the taxonomy, and which of them cover nothing."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from dos.config import edit, infer, lint
from dos.config.lint import Kind
from dos.doctor.subjects.finding import Finding, editing, warning
from dos.doctor.subjects.git import repository
from dos.globs import can_match, matches, path_key
from dos.regions import prefix
from dos.text import comparison_key
from dos.world import World

_WILD = re.compile(r"[*?[{\\]")
_WHY = {
    Kind.LANE_WITHOUT_TREE: "A region nobody knows overlaps everything, so the lane is refused.",
    Kind.AUTOPICK_LANE_UNDECLARED: "No worker is ever placed on it.",
    Kind.ALIAS_TARGET_UNDECLARED: "Asking for it by that word is an error.",
    Kind.LANE_REGION_SHADOWED: "A worker on one of them keeps the other one idle.",
    Kind.CONCURRENT_LANES_OVERLAP: "A worker on one of them keeps the other one idle.",
    Kind.REASON_SEE_ALSO_DANGLES: "Whoever follows the reference finds nothing.",
    Kind.POLICY_UNREAD: "What you meant to decide by it is decided otherwise.",
}


def examine(world: World) -> list[Finding]:
    likely = infer.trees_by_name(world.workspace.root)
    found = lint.lint(
        world.config, editing=editing(world), likely=likely, written=world.loaded_config.origins
    )
    return [*map(_as_finding, found), *_empty(world, likely)]


def _as_finding(found: lint.Finding) -> Finding:
    why = _WHY.get(found.kind, "")
    return Finding(
        kind=found.kind, severity=found.severity, what=found.detail, why=why, fix=found.fix
    )


def _empty(world: World, likely: Mapping[str, str]) -> list[Finding]:
    tracked = Tracked(repository(world).tracked)
    editor = editing(world)
    found = []
    for lane in world.config.roster():
        globs = world.config.lanes.trees.get(lane, ())
        if globs and tracked.paths and not tracked.any_in(globs):
            tree = likely.get(comparison_key(lane), "")
            key = ("lanes", "trees", lane)
            what = f"no tracked file is in lane {lane!r}: {', '.join(globs)}"
            why = "The folder is still to be made, or the glob is misspelt."
            fix = edit.put(key, [tree]) if tree and tracked.any_in([tree]) else editor.at(*key)
            found.append(warning("LANE_COVERS_NOTHING", what, why, fix))
    return found


class Tracked:
    """The files of a repository, ordered so that a lane need only be shown those in its own folder."""

    def __init__(self, names: Iterable[str]) -> None:
        """By the names that git gives them."""
        named = (path_key(name) for name in names if can_match(name))
        self.paths = sorted(path for path in named if path is not None)
        # Where a name is spelt oddly, the folder by which regions are compared is another than the one in the path.
        self._odd = [
            path for path in self.paths if not path.isascii() or "./" in path or " /" in path
        ]

    def any_in(self, globs: Iterable[str]) -> bool:
        return any(self._any_in(glob) for glob in globs)

    def _any_in(self, glob: str) -> bool:
        start = prefix(glob)
        for place in range(bisect_left(self.paths, start), len(self.paths)):
            if not self.paths[place].startswith(start):
                break
            if _is_whole_folder(glob) or matches(glob, self.paths[place]):
                return True
        return any(matches(glob, path) for path in self._odd)


def _is_whole_folder(glob: str) -> bool:
    """Then its folder says it all, and no pattern need be compiled."""
    return glob.endswith("/**") and not _WILD.search(glob[:-3])
