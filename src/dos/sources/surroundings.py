"""What a repository already has that dos can use: agent programs, a test command, plan documents."""

import shutil
from pathlib import Path

AGENT_PROGRAMS = {"claude": "claude_code", "codex": "codex", "gemini": "gemini", "opencode": "opencode"}


def agent_programs() -> dict[str, str]:
    """The agent programs on the path: program name -> where it is."""
    found = {program: shutil.which(program) for program in AGENT_PROGRAMS}
    return {program: where for program, where in found.items() if where}


def test_command(root: Path) -> str:
    """How this repository is tested, as far as its files say; empty when they do not."""
    makefile = next((root / name for name in ("Makefile", "makefile", "GNUmakefile") if (root / name).is_file()), None)
    if makefile and any(line.startswith("test:") for line in _lines(makefile)):
        return "make test"
    if any("pytest" in line for name in ("pyproject.toml", "setup.cfg", "tox.ini") for line in _lines(root / name)):
        return "python -m pytest -q"
    if any('"test":' in line and "no test specified" not in line for line in _lines(root / "package.json")):
        return "npm test"
    for marker, command in (("Cargo.toml", "cargo test"), ("go.mod", "go test ./...")):
        if (root / marker).is_file():
            return command
    return ""


def plans_glob(root: Path) -> str | None:
    """Where plan documents lie already; None when there are none."""
    for glob in ("docs/**/*-plan.md", "plans/**/*.md", "planning/**/*.md"):
        if next(root.glob(glob), None):
            return glob
    # Deeper than that lie the packages of others, and nobody waits for a walk through all of them.
    near = ("PLAN.md", "*/PLAN.md", "*/*/PLAN.md")
    return "**/PLAN.md" if any(next(root.glob(glob), None) for glob in near) else None


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
