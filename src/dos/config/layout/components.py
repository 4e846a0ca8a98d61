"""Lanes from what a repository is made of: a component and its tests are one lane, so that a feature fits into it."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from dos import text
from dos.config.infer import EVERYTHING, is_usable_lane_name
from dos.config.layout import packages
from dos.lanes.policy import Lanes

CAP = 12
_TESTS = frozenset(
    (
        "test",
        "tests",
        "spec",
        "specs",
        "__tests__",
        "e2e",
        "integration",
        "integration-tests",
        "integration_tests",
    )
)
_TESTS_OF = re.compile(r"(.+)[-_.](?:unit)?tests?")
_DOCUMENTS = frozenset(("doc", "docs", "documentation"))
_SOURCES = ("src", "lib", "app", "source")
_MANIFESTS = ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod")
_CODE_AT_TOP = re.compile(
    r"(?!(?:setup|conftest|noxfile)\.py$)[^/.]+\.(?:[cm]?[jt]s|py|go|rb|php)$"
)
_BESIDE = re.compile(
    r"(?:__init__|conftest)\.py$|(?:^|/)(?:fixtures|helpers|data|support|utils)(?:/|$)|^[^/]*\.(?:md|txt)$"
)


class _Lane:
    """A lane while it is being made: its folders, relative to the root."""

    def __init__(self, name: str, *folders: str) -> None:
        self.name = name
        self.folders = list(folders)
        self.files: list[str] = []

    @property
    def globs(self) -> tuple[str, ...]:
        return (*(f"{folder}/**" for folder in self.folders), *self.files)


def infer_lanes(root: Path, tracked: Sequence[str], cap: int = CAP) -> Lanes:
    """Every tracked file is in exactly one concurrent lane, and all of them in one exclusive lane.

    What no glob can name, and what is only in a name that no lane can have, is left to the exclusive one.
    """
    files = list(filter(None, map(_nameable, tracked)))
    lanes = _lanes(root, files)
    if not lanes:
        return Lanes(exclusive=("main",), autopick=("main",), trees={"main": (EVERYTHING,)})
    main = _main(lanes)
    for extra in lanes[cap:]:
        main.folders += extra.folders
    lanes = lanes[:cap] if main in lanes[:cap] else [main, *lanes[: cap - 1]]
    _add_rest(main, lanes, files)
    return _taxonomy(lanes)


def _nameable(path: str) -> str:
    """The path as far as globs can name it: below `app`, `app/[id]/page.tsx` is just some file."""
    parts = PurePosixPath(path).parts
    odd = next((place for place, part in enumerate(parts) if not is_usable_lane_name(part)), None)
    if odd is None:
        return path
    return "/".join((*parts[:odd], "_")) if odd else ""


def _lanes(root: Path, files: Sequence[str]) -> list[_Lane]:
    members = packages.members(root, files)
    folders = sorted({path.partition("/")[0] for path in files if "/" in path})
    visible = [folder for folder in folders if not folder.startswith(".")]
    if members:
        apart = [_Lane(PurePosixPath(folder).name, folder) for folder in members]
        free = [
            each
            for each in visible
            if not any(_is_in(member, each) or member == each for member in members)
        ]
        return [
            *_around(root.name, free, files),
            *apart,
            *(_Lane(each, each) for each in free if each in _DOCUMENTS),
        ]
    return _joined(_components(root.name, visible, files))


def _joined(lanes: Sequence[_Lane]) -> list[_Lane]:
    """With the folder of a component's tests, `Shop.Tests` beside `Shop`, in the lane of the component."""
    known = {
        lane.name.lower(): lane for lane in lanes if not _TESTS_OF.fullmatch(lane.name.lower())
    }
    apart = []
    for lane in lanes:
        found = _TESTS_OF.fullmatch(lane.name.lower())
        if found and (component := known.get(found[1])):
            component.folders += lane.folders
        else:
            apart.append(lane)
    return apart


def _around(project: str, free: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    """The lane of the package that is the root of a workspace itself, with its tests; none where it is only a frame."""
    code = [each for each in free if each.lower() in _SOURCES or f"{each}/__init__.py" in files]
    tests = [each for each in free if each.lower() in _TESTS]
    return (
        [_Lane(_called(project, code, files), *dict.fromkeys([*code, *tests]))]
        if set(code) - set(tests)
        else []
    )


def _components(project: str, folders: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    tests = [folder for folder in folders if folder.lower() in _TESTS]
    documents = [folder for folder in folders if folder.lower() in _DOCUMENTS]
    own = [
        each for each in folders if each not in (*tests, *documents) and _has_manifest(each, files)
    ]
    code = [each for each in folders if each not in (*tests, *documents, *own)]
    lanes = [_Lane(folder, folder) for folder in (*own, *documents)]
    if folders == documents and _is_flat(files):
        return []
    if not tests:
        return [_Lane(folder, folder) for folder in code] + lanes
    if mirrored := _mirrored(code, tests, files):
        return mirrored + lanes
    if code or not own:
        together = [*code, *tests]
        return [_Lane(_called(project, together, files), *together), *lanes]
    return [*lanes, _Lane(tests[0], *tests)]


def _mirrored(code: Sequence[str], tests: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    """A lane for each part of the code, where each part has a test folder of its own name and no test is elsewhere."""
    if len(tests) != 1:
        return []
    parts = {folder: folder for folder in code}
    if len(code) == 1:
        inside = _children(code[0], files)
        if any(not child for child in inside):
            return []  # code that belongs to no part
        parts = {child: f"{code[0]}/{child}" for child in inside}
    mirrors = _children(tests[0], files)
    if len(parts) < 2 or not set(parts) <= set(mirrors):
        return []
    below = [path.removeprefix(f"{tests[0]}/") for path in files if path.startswith(f"{tests[0]}/")]
    loose = [rest for rest in below if rest.partition("/")[0] not in parts]
    if any(not _BESIDE.search(rest) for rest in loose):
        return []
    return [_Lane(name, folder, f"{tests[0]}/{name}") for name, folder in parts.items()]


def _children(folder: str, files: Sequence[str]) -> list[str]:
    """The folders right below one; an empty name stands for files that lie there themselves."""
    below = [path.removeprefix(f"{folder}/") for path in files if path.startswith(f"{folder}/")]
    return sorted(
        {rest.partition("/")[0] if "/" in rest else "" for rest in below if not _is_marker(rest)}
    )


def _is_marker(rest: str) -> bool:
    return rest in ("__init__.py", "py.typed", "conftest.py")


def _called(project: str, folders: Sequence[str], files: Sequence[str]) -> str:
    """The name of the one package that a source folder holds, else of the folder that is one.

    Where the code lies at the top, beside examples or scripts, that of the project; else of the first folder.
    """
    sources = [folder for folder in folders if folder.lower() in _SOURCES]
    importable = [
        folder
        for folder in folders
        if folder.lower() not in _TESTS and f"{folder}/__init__.py" in files
    ]
    if _is_flat(files) and not sources and not importable and is_usable_lane_name(project):
        return project
    first = [*sources, *importable, *folders][0]
    inside = [child for child in _children(first, files) if child]
    is_source = first.lower() in _SOURCES
    if is_source and len(inside) == 1 and f"{first}/{inside[0]}/__init__.py" in files:
        return inside[0]
    return first


def _is_flat(files: Sequence[str]) -> bool:
    """There is code at the top itself."""
    return any(_CODE_AT_TOP.fullmatch(path) for path in files)


def _has_manifest(folder: str, files: Sequence[str]) -> bool:
    known = {f"{folder}/{name}" for name in _MANIFESTS}
    return any(path in known for path in files)


def _main(lanes: Sequence[_Lane]) -> _Lane:
    """The one that root files go to: what holds the source, else the first that is not only documents."""
    source = (
        lane
        for lane in lanes
        if any(folder.partition("/")[0].lower() in _SOURCES for folder in lane.folders)
    )
    working = (lane for lane in lanes if lane.folders[0].lower() not in _DOCUMENTS)
    return next(source, None) or next(working, None) or lanes[0]


def _add_rest(main: _Lane, lanes: Sequence[_Lane], files: Iterable[str]) -> None:
    """Files at the top by their names: a wildcard there would overlap every other lane."""
    taken = [folder for lane in lanes for folder in lane.folders]
    for path in files:
        folder = path.partition("/")[0] if "/" in path else ""
        if any(_is_in(path, each) for each in taken):
            continue
        around = _free_folder(path, taken)
        if folder and around:
            main.folders.append(around)
            taken.append(around)
        else:
            main.files.append(path)


def _free_folder(path: str, taken: Sequence[str]) -> str:
    """The highest folder of a path that holds nothing of any lane; empty: there is none."""
    parts = PurePosixPath(path).parts[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if not any(each == folder or _is_in(each, folder) for each in taken):
            return folder
    return ""


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _taxonomy(lanes: Sequence[_Lane]) -> Lanes:
    trees: dict[str, tuple[str, ...]] = {}
    for lane in lanes:
        trees[_free_name(lane, trees)] = lane.globs
    whole = _unused("global", trees)
    listed = tuple(trees)
    return Lanes(
        concurrent=listed, exclusive=(whole,), autopick=listed, trees=trees | {whole: (EVERYTHING,)}
    )


def _free_name(lane: _Lane, taken: Iterable[str]) -> str:
    """Two packages of one name are called by their folders."""
    known = {text.comparison_key(each) for each in taken}
    if text.comparison_key(lane.name) not in known:
        return lane.name
    return _unused(lane.folders[0].replace("/", "-"), taken)


def _unused(name: str, taken: Iterable[str]) -> str:
    known = {text.comparison_key(each) for each in taken}
    numbered = (name, *(f"{name}-{number}" for number in range(2, len(known) + 3)))
    return next(each for each in numbered if text.comparison_key(each) not in known)
