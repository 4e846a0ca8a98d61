"""The packages of a workspace, as npm, pnpm, Cargo, uv and Go declare them."""

import json
import re
import tomllib
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

_QUOTED = re.compile(r"^\s*-\s*[\"']?([^\"'#]+?)[\"']?\s*(?:#.*)?$")


def members(root: Path, files: Sequence[str]) -> list[str]:
    """The folders of the packages, none inside of another; none where the repository is no workspace."""
    found: set[str] = set()
    for manifest, patterns, excluded in _declared(root):
        folders = {
            path.removesuffix(f"/{manifest}") for path in files if path.endswith(f"/{manifest}")
        }
        found |= {
            each for each in folders if _matches(each, patterns) and not _matches(each, excluded)
        }
    ordered = sorted(found)
    return [each for each in ordered if not any(each.startswith(f"{other}/") for other in ordered)]


def _declared(root: Path) -> Iterable[tuple[str, list[str], list[str]]]:
    """The manifest of a package, and which folders are packages."""
    npm = read_json(root / "package.json").get("workspaces", [])
    patterns = _words(npm.get("packages") if isinstance(npm, dict) else npm) + _pnpm(
        root / "pnpm-workspace.yaml"
    )
    yield "package.json", *_negated(patterns)
    cargo = table(read_toml(root / "Cargo.toml"), "workspace")
    yield "Cargo.toml", _words(cargo.get("members")), _words(cargo.get("exclude"))
    uv = table(read_toml(root / "pyproject.toml"), "tool", "uv", "workspace")
    yield "pyproject.toml", _words(uv.get("members")), _words(uv.get("exclude"))
    yield "go.mod", _go(root / "go.work"), []


def _negated(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    wanted = [each for each in patterns if not each.startswith("!")]
    return wanted, [each[1:] for each in patterns if each.startswith("!")]


def _pnpm(path: Path) -> list[str]:
    """The list below `packages:`."""
    lines = iter(read_lines(path))
    found: list[str] = []
    for line in lines:
        if line.startswith("packages:"):
            break
    for line in lines:
        entry = _QUOTED.match(line)
        if not entry and line.strip() and not line.lstrip().startswith("#"):
            break
        found += [entry[1]] if entry else []
    return found


def _go(path: Path) -> list[str]:
    """What `use` names, alone or in brackets."""
    text = "\n".join(line.partition("//")[0] for line in read_lines(path))
    blocks = re.findall(r"^use\s*\(([^)]*)\)", text, re.MULTILINE)
    single = re.findall(r"^use\s+([^\s(]+)", text, re.MULTILINE)
    return [*single, *(word for block in blocks for word in block.split())]


def _matches(folder: str, patterns: Iterable[str]) -> bool:
    """Folder by folder: `*` is one name, `**` any number of them."""
    parts = folder.split("/")
    return any(_fits(parts, _clean(pattern).split("/")) for pattern in patterns)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _clean(pattern: str) -> str:
    return pattern.strip().removeprefix("./").rstrip("/")


def _words(value: object) -> list[str]:
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def table(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    """A table inside of others; an empty one where there is none."""
    found: Any = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else {}


def read_json(path: Path) -> dict[str, Any]:
    """Empty when it is not there or is not what it should be: a guess does not fail for it."""
    try:
        found = json.loads(
            path.read_text(encoding="utf-8-sig")
        )  # npm, too, skips the mark that Windows editors write
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
