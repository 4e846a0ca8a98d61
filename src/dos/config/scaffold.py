"""The first `dos.toml` of a repository, as `dos init` writes it.

Where the lanes come from is in `layout`; this module has the text, the agent programs on the path
and the place of the plan documents.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from dos.agents.programs import catalog
from dos.config.layout.lanes import infer_lanes_from_directory
from dos.config.schema import Paths
from dos.config.toml_text import key_text, toml_string, value_text
from dos.lanes.policy import Lanes


def scaffold_text(  # noqa: PLR0913
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
    ]
    if lanes.repeatable:
        lines.append(f"repeatable = {value_text(lanes.repeatable)}")
    lines += [
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


def agent_programs() -> dict[str, str]:
    """Return the agent programs on the path that may be proposed, each with its location."""
    found = {}
    for program in catalog.proposed_programs():
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
