"""What a repository already has that dos can use: agent programs, plan documents."""

import shutil
from pathlib import Path

AGENT_PROGRAMS = {"claude": "claude_code", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}


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
