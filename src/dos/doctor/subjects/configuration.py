"""dos.toml: it exists, loads, and every setting and lane in it has an effect.

`dos lint` has the same findings on lanes; here they come with what follows from each.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping

from dos.config import fix_commands, lint
from dos.config.fix_commands import EditCommands
from dos.config.layout.lanes import trees_by_name
from dos.config.lint import Kind
from dos.config.load import Problem
from dos.doctor.subjects.finding import Finding, edit_commands, error, note, warning
from dos.doctor.subjects.git import repository
from dos.globs import can_match, matches, path_key
from dos.regions import prefix
from dos.text import comparison_key
from dos.world import World

LARGEST_STATE_FILE_BYTES = 200_000


def examine(world: World) -> list[Finding]:
    """Return what is wrong with the file itself."""
    loaded = world.loaded_config
    found = [_invalid(problem, edit_commands(world)) for problem in loaded.problems]
    if loaded.path is None:
        found.append(
            note(
                "CONFIG_MISSING",
                f"{world.workspace.config} does not exist; all settings have their defaults",
                "There is one lane for the whole tree, and no agent is configured.",
                "dos init",
            )
        )
    for key, text in loaded.without_effect.items():
        fix = fix_commands.unset_command([str(part) for part in key])
        found.append(note("CONFIG_WITHOUT_EFFECT", text, "It can be removed.", fix))
    return [*found, *_state_file(world)]


def _invalid(problem: Problem, editor: EditCommands) -> Finding:
    """The error for a problem that keeps a table from loading."""
    why = f"Verbs that start or change something refuse until it is fixed. {problem.hint}".rstrip()
    return error(lint.Kind.CONFIG_INVALID, str(problem), why, editor.for_problem(problem))


def _state_file(world: World) -> list[Finding]:
    """A warning when the run registry of dos-kernel has grown too large to be read quickly."""
    path = world.workspace.root / world.config.paths.execution_state
    size = 0
    if path.is_file():
        size = path.stat().st_size
    if size <= LARGEST_STATE_FILE_BYTES:
        return []
    return [
        warning(
            "STATE_FILE_LARGE",
            f"{path} is {size:,} bytes",
            f"It is a run registry of dos-kernel. Above {LARGEST_STATE_FILE_BYTES:,} bytes it is"
            " slow to read, and most of its runs have ended: delete those.",
            fix_commands.edit_command(path),
        )
    ]


_WILD = re.compile(r"[*?[{\\]")
# What follows from each finding of the linter.
_WHY = {
    Kind.LANE_WITHOUT_TREE: "A lane without a tree overlaps every other lane, so it is refused.",
    Kind.AUTOPICK_LANE_UNDECLARED: "No worker is ever started on it.",
    Kind.ALIAS_TARGET_UNDECLARED: "Asking for the lane by this alias is an error.",
    Kind.LANE_REGION_SHADOWED: "While a worker is on one of them, the other stays idle.",
    Kind.CONCURRENT_LANES_OVERLAP: "While a worker is on one of them, the other stays idle.",
    Kind.REASON_SEE_ALSO_DANGLES: "The reference leads nowhere.",
    Kind.TRIGGER_UNKNOWN: "The transition is automatic, and never happens.",
    Kind.OVERLAP_RATIO_CAPPED: "A larger share would let two workers write the same files.",
    Kind.POLICY_UNREAD: "The setting has no effect.",
    Kind.LAYOUT_UNUSED: "Only dos-kernel needs it.",
}


def examine_lanes(world: World) -> list[Finding]:
    """Return what the linter finds, and the lanes that cover no file."""
    folder_trees = trees_by_name(world.workspace.root)
    lint_findings = lint.lint(
        world.config,
        commands=edit_commands(world),
        folder_trees=folder_trees,
        set_keys=world.loaded_config.origins,
    )
    return [*map(_from_lint, lint_findings), *_lanes_without_files(world, folder_trees)]


def _from_lint(finding: lint.Finding) -> Finding:
    """A finding of the linter as one of the doctor, with what follows from it."""
    return Finding(
        kind=finding.kind,
        severity=finding.severity,
        what=finding.detail,
        why=_WHY.get(finding.kind, ""),
        fix=finding.fix,
    )


def _lanes_without_files(world: World, folder_trees: Mapping[str, str]) -> list[Finding]:
    """The lanes whose globs match no tracked file.

    The fix sets the folder that has the lane's name if there is one, else opens the setting.
    """
    tracked = TrackedFiles(repository(world).tracked)
    editor = edit_commands(world)
    found = []
    for lane in world.config.roster():
        globs = world.config.lanes.trees.get(lane, ())
        if not globs or not tracked.paths or tracked.has_match(globs):
            continue
        tree = folder_trees.get(comparison_key(lane), "")
        key = ("lanes", "trees", lane)
        what = f"no tracked file is in lane {lane!r}: {', '.join(globs)}"
        why = "The folder does not exist yet, or the glob is misspelled."
        if tree and tracked.has_match([tree]):
            fix = fix_commands.set_command(key, [tree])
        else:
            fix = editor.for_key(*key)
        found.append(warning("LANE_COVERS_NOTHING", what, why, fix))
    return found


class TrackedFiles:
    """The files of a repository, sorted so that a glob is compared with its own folder only.

    A large repository has hundreds of thousands of files, and each lane has several globs.
    """

    def __init__(self, names: Iterable[str]) -> None:
        """Take the names as git lists them."""
        self.paths: list[str] = []
        # Of such names the folder that regions compare differs from the folder in the path.
        self._odd: list[str] = []
        for name in names:
            path = path_key(name) if can_match(name) else None
            if path is None:
                continue
            self.paths.append(path)
            if not path.isascii() or "./" in path or " /" in path:
                self._odd.append(path)
        self.paths.sort()

    def has_match(self, globs: Iterable[str]) -> bool:
        """Whether any file matches any of the globs."""
        return any(self._matches_glob(glob) for glob in globs)

    def _matches_glob(self, glob: str) -> bool:
        """Whether any file matches the glob. Only the files below its folder are compared."""
        folder = prefix(glob)
        for number in range(bisect_left(self.paths, folder), len(self.paths)):
            path = self.paths[number]
            if not path.startswith(folder):
                break
            if _is_whole_folder(glob) or matches(glob, path):
                return True
        return any(matches(glob, path) for path in self._odd)


def _is_whole_folder(glob: str) -> bool:
    """Whether the glob means a whole folder, so that no pattern has to be compiled."""
    return glob.endswith("/**") and not _WILD.search(glob[:-3])
