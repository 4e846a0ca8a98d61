"""The first `dos.toml` of a repository: lanes from its folders, and the text that `dos init` writes."""

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from dos import regions, text
from dos.config.schema import Paths
from dos.config.toml_text import key_text, toml_string, value_text
from dos.errors import NameInvalid, RegionInvalid
from dos.fields import LONGEST_LANE_NAME
from dos.lanes.policy import Lanes

EVERYTHING = "**/*"
NOISE = frozenset(
    (
        *(".git", ".dos", ".idea", ".vscode", ".env", ".venv", ".eggs", ".tox"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"),
        *("build", "dist", "env", "htmlcov", "node_modules", "site-packages", "target", "venv"),
    )
)


def infer_lanes_from_directory(root: Path, cap: int = 12) -> Lanes:
    """One concurrent lane for each folder at the top, and one exclusive lane for the whole tree."""
    trees: dict[str, list[str]] = {}
    lane_of: dict[str, str] = {}
    for name in _folders(root):
        glob = f"{name}/**"
        prefix = _prefix(name, glob)
        # Two spellings of one folder are one lane: on another machine they are one place.
        if prefix in lane_of:
            trees[lane_of[prefix]].append(glob)
        elif prefix and len(trees) < cap:
            lane_of[prefix] = name
            trees[name] = [glob]
    if not trees:
        return Lanes(exclusive=("main",), trees={"main": (EVERYTHING,)})
    taken = {text.comparison_key(name) for name in trees}
    whole = next(
        name
        for name in ("global", *(f"global-{n}" for n in range(2, cap + 3)))
        if name not in taken
    )
    listed = tuple(trees)
    return Lanes(
        concurrent=listed,
        exclusive=(whole,),
        autopick=listed,
        trees={name: tuple(globs) for name, globs in trees.items()} | {whole: (EVERYTHING,)},
    )


def trees_by_name(root: Path) -> dict[str, str]:
    """The tree that a lane would have which is named after a folder at the top, by the folder's folded name."""
    globs = {name: f"{name}/**" for name in _folders(root)}
    return {text.comparison_key(name): glob for name, glob in globs.items() if _prefix(name, glob)}


def _folders(root: Path) -> list[str]:
    try:
        with os.scandir(root) as entries:
            # To git a linked folder is a file: nothing can be changed under it.
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:  # a root that cannot be listed has no folders to offer
        return []
    return sorted(name for name in found if not name.startswith(".") and name not in NOISE)


def is_usable_lane_name(name: str) -> bool:
    """It can be the name of a lane, and stands for itself in a glob."""
    return bool(_prefix(name, name))


def _prefix(name: str, glob: str) -> str:
    """The region of a folder; empty when its name cannot be a lane or would read as a pattern."""
    try:
        text.validated_name(name, "lane name", longest=LONGEST_LANE_NAME)
        return regions.prefix(glob) if name == name.strip() and "\\" not in name else ""
    except (NameInvalid, RegionInvalid):
        return ""


def scaffold(
    root: Path,
    *,
    lanes: Lanes | None = None,
    target: int = 1,
    agent: str = "",
    command: Sequence[str] = (),
    setup: str = "",
    acceptance: str = "",
    test: str = "",
    plans_glob: str = Paths().plans_glob,
) -> str:
    """The text of a new `dos.toml`."""
    taxonomy = infer_lanes_from_directory(root) if lanes is None else lanes
    workers: dict[str, str | list[str]] = {
        "agent": agent,
        "command": list(command),
        "setup": setup,
        "acceptance": acceptance,
        "test": test,
    }
    return "\n".join(
        [
            "# The configuration of dos. `dos config show --origin` lists every key, `dos lint` checks this file.",
            "",
            "# Lanes: parts of the tree that one worker may change at a time. Exclusive lanes run alone.",
            *_lane_lines(taxonomy),
            "",
            "# How many workers `dos up` keeps alive.",
            "[supervise]",
            f"target = {target}",
            "",
            "# What a worker starts, and what its work has to pass before it lands.",
            "[workers]",
            *_worker_lines(workers),
            "",
            "# Where the plan documents are.",
            "[paths]",
            f"plans_glob = {toml_string(plans_glob)}",
            "",
            "# How a commit subject names the unit that it ships.",
            "[stamp]",
            'style = "grep"',
            "# trailer_stamp = true          # also read `(PLAN UNIT)` at the end of a subject",
            '# bookkeeping_prefixes = ["chore:"]  # subjects that never ship anything',
            "",
        ]
    )


def _lane_lines(lanes: Lanes) -> list[str]:
    lines = [
        "[lanes]",
        f"concurrent = {value_text(lanes.concurrent)}",
        f"exclusive = {value_text(lanes.exclusive)}",
        f"autopick = {value_text(lanes.autopick)}",
        "",
        "[lanes.trees]",
        *(f"{key_text((name,))} = {value_text(globs)}" for name, globs in lanes.trees.items()),
    ]
    if lanes.aliases:
        lines += [
            "",
            "[lanes.aliases]",
            *(f"{key_text((word,))} = {toml_string(to)}" for word, to in lanes.aliases.items()),
        ]
    return lines


_WORKER_NOTES = {
    "agent": '"command" for any program, or the name of a built-in one',
    "command": "what the agents `command` and `scripted` start: program and arguments",
    "setup": "run once in every new work tree",
    "acceptance": "has to exit 0 on the finished work of a unit, unless its plan says otherwise",
    "test": "has to exit 0 on the result before it lands",
}


def _worker_lines(values: Mapping[str, str | list[str]]) -> list[str]:
    """A key that nothing was found for is there as a comment, to be filled in."""
    return [
        f"{'' if value else '# '}{name} = {value_text(value)}  # {_WORKER_NOTES[name]}"
        for name, value in values.items()
    ]


AGENT_PROGRAMS = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}


def agent_programs() -> dict[str, str]:
    """The agent programs on the path: program name -> where it is."""
    found = {program: shutil.which(program) for program in AGENT_PROGRAMS}
    return {program: where for program, where in found.items() if where}


def plans_glob(root: Path) -> str | None:
    """Where plan documents lie already; None when there are none."""
    for glob in ("docs/**/*-plan.md", "plans/**/*.md", "planning/**/*.md"):
        if next(root.glob(glob), None):
            return glob
    # Deeper than that lie the packages of others, and nobody waits for a walk through all of them.
    near = ("PLAN.md", "*/PLAN.md", "*/*/PLAN.md")
    return "**/PLAN.md" if any(next(root.glob(glob), None) for glob in near) else None
