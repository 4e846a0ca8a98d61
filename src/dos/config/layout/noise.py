"""Folders at whose names one sees that nobody works in them."""

# Folders that are no part of the code: of tools, environments and builds.
NOISE = frozenset((
    ".git", ".dos", ".idea", ".vscode", ".env", ".venv", ".eggs", ".tox", ".mypy_cache",
    ".pytest_cache", ".ruff_cache", "__pycache__", "build", "dist", "env", "htmlcov",
    "node_modules", "site-packages", "target", "venv",
))  # fmt: skip


def is_noise(path: str) -> bool:
    """Whether a path lies in the output of a build, a cache or an environment, by its folders."""
    return not NOISE.isdisjoint(path.split("/")[:-1])
