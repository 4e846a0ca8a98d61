"""The file dos.toml: is it there, can it be used, does all of it mean something?"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from dos.config import fix_commands, infer, lint
from dos.config.fix_commands import EditCommands
from dos.config.lint import Kind
from dos.config.load import Problem
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.doctor.subjects.git import repository
from dos.globs import can_match, matches, path_key
from dos.regions import prefix
from dos.text import comparison_key
from dos.world import World

OVERLAP_POLICIES = ("prefix",)
LARGEST_STATE_FILE_BYTES = 200_000


def examine(world: World) -> list[Finding]:
    loaded = world.loaded_config
    found = [_invalid(problem, edit_commands(world)) for problem in loaded.problems]
    if loaded.path is None:
        found.append(
            note(
                "CONFIG_MISSING",
                f"{world.workspace.config} is not there: every setting has its default",
                "There is one lane for the whole tree, and no agent to start.",
                "dos init",
            )
        )
    for key, text in loaded.without_effect.items():
        fix = fix_commands.unset_command([str(part) for part in key])
        found.append(note("CONFIG_WITHOUT_EFFECT", text, "It can be taken out.", fix))
    return [*found, *_overlap_policy(world), *_state_file(world)]


def _invalid(problem: Problem, editor: EditCommands) -> Finding:
    why = f"Verbs that admit or act refuse until it is right. {problem.hint}".rstrip()
    return error(lint.Kind.CONFIG_INVALID, str(problem), why, editor.for_problem(problem))


def _overlap_policy(world: World) -> list[Finding]:
    name = world.config.overlap.policy
    if name in OVERLAP_POLICIES:
        return []
    return [
        error(
            "OVERLAP_POLICY_UNKNOWN",
            f"[overlap] policy is {name!r}, and there is none of that name",
            f"The policies are: {', '.join(OVERLAP_POLICIES)}.",
            fix_commands.unset_command(("overlap", "policy")),
        )
    ]


def _state_file(world: World) -> list[Finding]:
    path = world.workspace.root / world.config.paths.execution_state
    size = path.stat().st_size if path.is_file() else 0
    if size <= LARGEST_STATE_FILE_BYTES:
        return []
    return [
        warning(
            "STATE_FILE_LARGE",
            f"{path} is {size:,} bytes",
            f"A run registry above {LARGEST_STATE_FILE_BYTES:,} bytes holds mostly what is long over.",
            fix_commands.edit_command(path),
        )
    ]


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


def examine_lanes(world: World) -> list[Finding]:
    likely = infer.trees_by_name(world.workspace.root)
    found = lint.lint(
        world.config,
        commands=edit_commands(world),
        folder_trees=likely,
        set_keys=world.loaded_config.origins,
    )
    return [*map(_from_lint, found), *_lanes_without_files(world, likely)]


def _from_lint(found: lint.Finding) -> Finding:
    why = _WHY.get(found.kind, "")
    return Finding(
        kind=found.kind, severity=found.severity, what=found.detail, why=why, fix=found.fix
    )


def _lanes_without_files(world: World, likely: Mapping[str, str]) -> list[Finding]:
    tracked = TrackedFiles(repository(world).tracked)
    editor = edit_commands(world)
    found = []
    for lane in world.config.roster():
        globs = world.config.lanes.trees.get(lane, ())
        if globs and tracked.paths and not tracked.has_match(globs):
            tree = likely.get(comparison_key(lane), "")
            key = ("lanes", "trees", lane)
            what = f"no tracked file is in lane {lane!r}: {', '.join(globs)}"
            why = "The folder is still to be made, or the glob is misspelt."
            fix = (
                fix_commands.set_command(key, [tree])
                if tree and tracked.has_match([tree])
                else editor.for_key(*key)
            )
            found.append(warning("LANE_COVERS_NOTHING", what, why, fix))
    return found


class TrackedFiles:
    """The files of a repository, ordered so that a lane need only be shown those in its own folder."""

    def __init__(self, names: Iterable[str]) -> None:
        """By the names that git gives them."""
        named = (path_key(name) for name in names if can_match(name))
        self.paths = sorted(path for path in named if path is not None)
        # Where a name is spelt oddly, the folder by which regions are compared is another than the one in the path.
        self._odd = [
            path for path in self.paths if not path.isascii() or "./" in path or " /" in path
        ]

    def has_match(self, globs: Iterable[str]) -> bool:
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
