"""The packages that a repository declares as a workspace, and readers of manifest files."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

_YAML_ITEM = re.compile(r"^\s*-\s*[\"']?([^\"'#]+?)[\"']?\s*(?:#.*)?$")


class _Workspace(NamedTuple):
    """Which folders are packages: those with the manifest that match, without the excluded."""

    manifest: str
    patterns: list[str]
    excluded: list[str]


def members(root: Path, files: Sequence[str]) -> list[str]:
    """Return the folders of the declared packages, none inside another.

    Empty when the repository declares no workspace.
    """
    found: set[str] = set()
    for workspace in _declared(root):
        ending = f"/{workspace.manifest}"
        for path in files:
            folder = path.removesuffix(ending)
            if folder == path or _matches(folder, workspace.excluded):
                continue
            if _matches(folder, workspace.patterns):
                found.add(folder)
    outermost: list[str] = []
    for folder in sorted(found):
        if not any(folder.startswith(f"{other}/") for other in found):
            outermost.append(folder)
    return outermost


def _declared(root: Path) -> Iterator[_Workspace]:
    """The workspaces that npm, pnpm, Cargo, uv and Go declare."""
    npm = read_json(root / "package.json").get("workspaces", [])
    if isinstance(npm, dict):
        npm = npm.get("packages")
    patterns = [*_strings(npm), *_pnpm(root / "pnpm-workspace.yaml")]
    included = []
    excluded = []
    for pattern in patterns:
        if pattern.startswith("!"):
            excluded.append(pattern[1:])
        else:
            included.append(pattern)
    yield _Workspace("package.json", included, excluded)
    cargo = table(read_toml(root / "Cargo.toml"), "workspace")
    yield _Workspace("Cargo.toml", _strings(cargo.get("members")), _strings(cargo.get("exclude")))
    uv = table(read_toml(root / "pyproject.toml"), "tool", "uv", "workspace")
    yield _Workspace("pyproject.toml", _strings(uv.get("members")), _strings(uv.get("exclude")))
    yield _Workspace("go.mod", _go(root / "go.work"), [])


def _pnpm(path: Path) -> list[str]:
    """The list below `packages:`."""
    lines = iter(read_lines(path))
    for line in lines:
        if line.startswith("packages:"):
            break
    items: list[str] = []
    for line in lines:
        item = _YAML_ITEM.match(line)
        if item:
            items.append(item[1])
        elif line.strip() and not line.lstrip().startswith("#"):
            break
    return items


def _go(path: Path) -> list[str]:
    """The folders that `use` names, alone or in brackets."""
    text = re.sub(r"//.*", "", "\n".join(read_lines(path)))
    folders = re.findall(r"^use\s+([^\s(]+)", text, re.MULTILINE)
    for block in re.findall(r"^use\s*\(([^)]*)\)", text, re.MULTILINE):
        folders += block.split()
    return folders


def _matches(folder: str, patterns: Iterable[str]) -> bool:
    """Whether a pattern matches: `*` is one folder, `**` any number of them."""
    parts = folder.split("/")
    return any(_fits(parts, _clean(pattern).split("/")) for pattern in patterns)


def _fits(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Whether the parts of a path match those of a pattern."""
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(_fits(parts[skipped:], pattern[1:]) for skipped in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def _clean(pattern: str) -> str:
    """A pattern without `./` and a trailing `/`."""
    return pattern.strip().removeprefix("./").rstrip("/")


def _strings(value: object) -> list[str]:
    """The strings of a list; none for anything else."""
    if not isinstance(value, list):
        return []
    return [item for item in value if isinstance(item, str)]


# Readers of manifest files. A file that is missing or broken reads as empty: guessing a layout must
# not fail because of it.


def table(document: dict[str, Any], *keys: str) -> dict[str, Any]:
    """Return the table below these keys; an empty one where there is none."""
    found: Any = document
    for key in keys:
        found = _dictionary(found).get(key)
    return _dictionary(found)


def _dictionary(value: Any) -> dict[str, Any]:
    """The value if it is a dictionary; an empty one for anything else."""
    if isinstance(value, dict):
        return value
    return {}


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one where it cannot be read."""
    import json  # most callers read no manifest

    try:
        # As npm, skip the byte-order mark that Windows editors write.
        found = json.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return _dictionary(found)


def read_toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file; none where it cannot be read."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file; none where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
