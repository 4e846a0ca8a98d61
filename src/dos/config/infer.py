"""The first `dos.toml` of a repository: lanes from its folders, and the text of `dos init`."""

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
    """Return a concurrent lane for each folder at the top, and an exclusive one for everything.

    Without a usable folder there is one exclusive lane. At most `cap` folders become lanes.
    """
    trees: dict[str, tuple[str, ...]] = {}
    lanes_by_region: dict[str, str] = {}
    for name in _folders(root):
        glob = f"{name}/**"
        region = _region_prefix(name, glob)
        # Two spellings of one folder are one lane, because on some file systems they are one.
        if region in lanes_by_region:
            trees[lanes_by_region[region]] += (glob,)
        elif region and len(trees) < cap:
            lanes_by_region[region] = name
            trees[name] = (glob,)
    if not trees:
        return Lanes(exclusive=("main",), trees={"main": (EVERYTHING,)})
    names = tuple(trees)
    taken = set(map(text.comparison_key, names))
    whole = "global"
    number = 1
    while whole in taken:
        number += 1
        whole = f"global-{number}"
    return Lanes(
        concurrent=names,
        exclusive=(whole,),
        autopick=names,
        trees=trees | {whole: (EVERYTHING,)},
    )


def trees_by_name(root: Path) -> dict[str, str]:
    """Return the tree of a lane that is named after a folder at the top, by its comparison key."""
    trees = {}
    for name in _folders(root):
        glob = f"{name}/**"
        if _region_prefix(name, glob):
            trees[text.comparison_key(name)] = glob
    return trees


def _folders(root: Path) -> list[str]:
    """The folders at the top, without hidden ones, build output and caches."""
    try:
        with os.scandir(root) as entries:
            # To git a linked folder is a file, and nothing below it can be changed.
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(name for name in names if not name.startswith(".") and name not in NOISE)


def is_usable_lane_name(name: str) -> bool:
    """Whether it can be the name of a lane, and matches only itself in a glob."""
    return bool(_region_prefix(name, name))


def _region_prefix(name: str, glob: str) -> str:
    """The region of a folder. Empty: its name cannot be a lane, or would be read as a pattern."""
    try:
        text.validated_name(name, "lane name", longest=LONGEST_LANE_NAME)
        if name != name.strip() or "\\" in name:
            return ""
        return regions.prefix(glob)
    except (NameInvalid, RegionInvalid):
        return ""


def scaffold(  # noqa: PLR0913
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
    """Return the text of a new `dos.toml`. Without `lanes`, they are inferred from the folders."""
    if lanes is None:
        lanes = infer_lanes_from_directory(root)
    workers: dict[str, str | list[str]] = {
        "agent": agent,
        "command": list(command),
        "setup": setup,
        "acceptance": acceptance,
        "test": test,
    }
    return "\n".join(
        [
            "# The configuration of dos.",
            "# `dos config show --origin` lists every key, and `dos lint` checks this file.",
            "",
            "# Lanes: parts of the tree that one worker may change at a time.",
            "# An exclusive lane runs alone.",
            *_lane_lines(lanes),
            "",
            "# How many workers `dos up` keeps running.",
            "[supervise]",
            f"target = {target}",
            "",
            "# The agent that a worker starts, and the checks that its work has to pass.",
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
            "# trailer_stamp = true  # `(PLAN UNIT)` ending a subject counts without paths",
            '# bookkeeping_prefixes = ["chore:"]  # subjects that never ship anything',
            "",
        ]
    )


def _lane_lines(lanes: Lanes) -> list[str]:
    """The tables of the lanes as lines of TOML."""
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
    "agent": 'a built-in agent, or "command" for any program',
    "command": "program and arguments of the agents `command` and `scripted`",
    "setup": "runs once in every new worktree",
    "acceptance": "must exit 0 on the work of a unit, unless its plan sets another command",
    "test": "must exit 0 on the result before it lands",
}


def _worker_lines(values: Mapping[str, str | list[str]]) -> list[str]:
    """A line for each key of [workers]. A key without a value is a comment, to be filled in."""
    lines = []
    for name, value in values.items():
        line = f"{name} = {value_text(value)}  # {_WORKER_NOTES[name]}"
        lines.append(line if value else f"# {line}")
    return lines


AGENT_PROGRAMS = {
    "claude": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
}


def agent_programs() -> dict[str, str]:
    """Return the agent programs on the path, each with its location."""
    found = {}
    for program in AGENT_PROGRAMS:
        path = shutil.which(program)
        if path:
            found[program] = path
    return found


def plans_glob(root: Path) -> str | None:
    """Return a glob that matches the existing plan documents. None: there are none."""
    for glob in ("docs/**/*-plan.md", "plans/**/*.md", "planning/**/*.md"):
        if next(root.glob(glob), None):
            return glob
    # Only near the top: deeper are the packages of others, and walking them all takes long.
    for glob in ("PLAN.md", "*/PLAN.md", "*/*/PLAN.md"):
        if next(root.glob(glob), None):
            return "**/PLAN.md"
    return None
