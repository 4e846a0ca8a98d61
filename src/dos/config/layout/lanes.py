"""Lanes for a repository that has none yet.

`infer_lanes` makes them of the components among the tracked files: a component and its tests are
one lane, so that the work on a feature fits into one lane. `infer_lanes_from_directory` is for a
directory without git, and takes each folder at the top for a lane.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path, PurePosixPath

from dos import regions
from dos.config.layout import packages
from dos.config.layout.noise import NOISE
from dos.errors import NameInvalid, RegionInvalid
from dos.fields import LONGEST_LANE_NAME
from dos.lanes.policy import Lanes
from dos.text import comparison_key, validated_name

EVERYTHING = "**/*"
CAP = 12
_TESTS = frozenset((
    "test", "tests", "spec", "specs", "__tests__", "e2e", "integration", "integration-tests",
    "integration_tests",
))  # fmt: skip
_TESTS_OF = re.compile(r"(.+)[-_.](?:unit)?tests?")
_DOCUMENTS = frozenset(("doc", "docs", "documentation"))
_SOURCES = ("src", "lib", "app", "source")
_MANIFESTS = ("package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod")
_MARKERS = ("__init__.py", "py.typed", "conftest.py")
_CODE_AT_TOP = re.compile(
    r"(?!(?:setup|conftest|noxfile)\.py$)[^/.]+\.(?:[cm]?[jt]s|py|go|rb|php)$"
)
# Files below a test folder that belong to no part of the code.
_SHARED_TEST_FILES = re.compile(
    r"(?:__init__|conftest)\.py$"
    r"|(?:^|/)(?:fixtures|helpers|data|support|utils)(?:/|$)"
    r"|^[^/]*\.(?:md|txt)$"
)


class _Lane:
    """A lane that is being built: its folders and single files, relative to the root."""

    def __init__(self, name: str, *folders: str) -> None:
        self.name = name
        self.folders = list(folders)
        self.files: list[str] = []

    @property
    def globs(self) -> tuple[str, ...]:
        return (*(f"{folder}/**" for folder in self.folders), *self.files)


def infer_lanes(root: Path, tracked: Sequence[str], cap: int = CAP) -> Lanes:
    """Return lanes for the tracked files: at most `cap` concurrent ones, and an exclusive one.

    Every tracked file is in exactly one concurrent lane, and all are in the exclusive lane. A file
    that no glob can name is in the exclusive lane alone.
    """
    files = [name for name in map(_nameable, tracked) if name]
    lanes = _lanes(root, files)
    if not lanes:
        return Lanes(exclusive=("main",), autopick=("main",), trees={"main": (EVERYTHING,)})
    main = _main_lane(lanes)
    for extra in lanes[cap:]:
        main.folders += extra.folders
    kept = lanes[:cap]
    if main not in kept:
        kept = [main, *lanes[: cap - 1]]
    _add_other_files(main, kept, files)
    return _taxonomy(kept)


def _nameable(path: str) -> str:
    """The path as far as a glob can name it: for `app/[id]/page.tsx`, a file below `app`."""
    parts = PurePosixPath(path).parts
    for number, part in enumerate(parts):
        if not is_usable_lane_name(part):
            if number == 0:
                return ""
            return "/".join((*parts[:number], "_"))
    return path


def _lanes(root: Path, files: Sequence[str]) -> list[_Lane]:
    """The lanes of declared packages, or else of components."""
    members = packages.members(root, files)
    visible = _top_folders(files)
    if not members:
        return _with_their_tests(_components(root.name, visible, files))
    free = []
    for folder in visible:
        if folder not in members and not _holds_any(folder, members):
            free.append(folder)
    lanes = _root_package(root.name, free, files)
    lanes += _lane_for_each(members)
    lanes += _lane_for_each(folder for folder in free if folder in _DOCUMENTS)
    return lanes


def _top_folders(files: Sequence[str]) -> list[str]:
    """The folders at the top that hold tracked files, without hidden ones."""
    folders = set()
    for path in files:
        folder, slash, _ = path.partition("/")
        if slash and not folder.startswith("."):
            folders.add(folder)
    return sorted(folders)


def _folders_named(names: Collection[str], folders: Iterable[str]) -> list[str]:
    """The folders whose name, in any case, is one of these."""
    return [folder for folder in folders if folder.lower() in names]


def _without(removed: Collection[str], folders: Iterable[str]) -> list[str]:
    """The other folders, in their order."""
    return [folder for folder in folders if folder not in removed]


def _lane_for_each(folders: Iterable[str]) -> list[_Lane]:
    """A lane for each folder, with the folder's own name."""
    return [_Lane(PurePosixPath(folder).name, folder) for folder in folders]


def _with_their_tests(lanes: Sequence[_Lane]) -> list[_Lane]:
    """The lanes, with the folder of a component's tests, as `Shop.Tests`, in the lane of `Shop`."""
    components = {}
    for lane in lanes:
        if not _TESTS_OF.fullmatch(lane.name.lower()):
            components[lane.name.lower()] = lane
    kept = []
    for lane in lanes:
        component = None
        tests_of = _TESTS_OF.fullmatch(lane.name.lower())
        if tests_of:
            component = components.get(tests_of[1])
        if component:
            component.folders += lane.folders
        else:
            kept.append(lane)
    return kept


def _root_package(project: str, free: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    """The lane of the package at the root of a workspace, if the root is a package itself."""
    code = []
    for folder in free:
        if folder.lower() in _SOURCES or f"{folder}/__init__.py" in files:
            code.append(folder)
    tests = _folders_named(_TESTS, free)
    if not set(code) - set(tests):
        return []
    name = _component_name(project, code, files)
    return [_Lane(name, *dict.fromkeys([*code, *tests]))]


def _components(project: str, folders: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    """The lanes of a repository that declares no packages, from its top folders."""
    tests = _folders_named(_TESTS, folders)
    documents = _folders_named(_DOCUMENTS, folders)
    if folders == documents and _is_flat(files):
        return []
    others = _without([*tests, *documents], folders)
    own = [folder for folder in others if _has_manifest(folder, files)]
    code = _without(own, others)
    lanes = _lane_for_each([*own, *documents])
    if not tests:
        return _lane_for_each(code) + lanes
    mirrored = _mirrored(code, tests, files)
    if mirrored:
        return mirrored + lanes
    if code or not own:
        together = [*code, *tests]
        return [_Lane(_component_name(project, together, files), *together), *lanes]
    return [*lanes, _Lane(tests[0], *tests)]


def _mirrored(code: Sequence[str], tests: Sequence[str], files: Sequence[str]) -> list[_Lane]:
    """A lane for each part of the code, where every part has a test folder of its name.

    Empty when it is not so, or when a test belongs to no part.
    """
    if len(tests) != 1:
        return []
    test_folder = tests[0]
    parts = dict(zip(code, code, strict=True))
    if len(code) == 1:
        children = _children(code[0], files)
        if "" in children:
            return []  # code that belongs to no part
        parts = {child: f"{code[0]}/{child}" for child in children}
    if len(parts) < 2 or not set(parts) <= set(_children(test_folder, files)):
        return []
    for rest in _below(test_folder, files):
        if rest.partition("/")[0] not in parts and not _SHARED_TEST_FILES.search(rest):
            return []
    return [_Lane(name, folder, f"{test_folder}/{name}") for name, folder in parts.items()]


def _below(folder: str, files: Sequence[str]) -> list[str]:
    """The paths below a folder, relative to it."""
    return [path.removeprefix(f"{folder}/") for path in files if _is_in(path, folder)]


def _children(folder: str, files: Sequence[str]) -> list[str]:
    """The folders right below one. An empty name stands for files in the folder itself."""
    names = set()
    for rest in _below(folder, files):
        folder, slash, _ = rest.partition("/")
        if slash:
            names.add(folder)
        elif rest not in _MARKERS:
            names.add("")
    return sorted(names)


def _component_name(project: str, folders: Sequence[str], files: Sequence[str]) -> str:
    """The name of the one package in a source folder, else of the folder that is a package.

    Where the code lies at the top, beside examples or scripts, it is the project's name; else that
    of the first folder.
    """
    sources = _folders_named(_SOURCES, folders)
    importable = []
    for folder in _without(_folders_named(_TESTS, folders), folders):
        if f"{folder}/__init__.py" in files:
            importable.append(folder)
    if _is_flat(files) and not sources and not importable and is_usable_lane_name(project):
        return project
    first = [*sources, *importable, *folders][0]
    children = _without([""], _children(first, files))
    is_source = first.lower() in _SOURCES
    if is_source and len(children) == 1 and f"{first}/{children[0]}/__init__.py" in files:
        return children[0]
    return first


def _is_flat(files: Sequence[str]) -> bool:
    """Whether there is code at the top of the repository."""
    return any(_CODE_AT_TOP.fullmatch(path) for path in files)


def _has_manifest(folder: str, files: Sequence[str]) -> bool:
    """Whether the folder is a package of its own."""
    manifests = {f"{folder}/{name}" for name in _MANIFESTS}
    return not manifests.isdisjoint(files)


def _main_lane(lanes: Sequence[_Lane]) -> _Lane:
    """The lane that gets the files at the top: the one with sources, else the first with code."""
    for lane in lanes:
        for folder in lane.folders:
            if folder.partition("/")[0].lower() in _SOURCES:
                return lane
    for lane in lanes:
        if lane.folders[0].lower() not in _DOCUMENTS:
            return lane
    return lanes[0]


def _add_other_files(main: _Lane, lanes: Sequence[_Lane], files: Iterable[str]) -> None:
    """Add what no lane has to the main lane: whole folders, and files at the top by their names.

    A wildcard at the top would overlap every other lane.
    """
    taken: list[str] = []
    for lane in lanes:
        taken += lane.folders
    for path in files:
        if any(_is_in(path, folder) for folder in taken):
            continue
        folder = _free_folder(path, taken)
        if folder:
            main.folders.append(folder)
            taken.append(folder)
        else:
            main.files.append(path)


def _free_folder(path: str, taken: Sequence[str]) -> str:
    """The highest folder of a path that holds nothing of any lane. Empty: there is none."""
    parts = PurePosixPath(path).parts[:-1]
    for depth in range(1, len(parts) + 1):
        folder = "/".join(parts[:depth])
        if folder not in taken and not _holds_any(folder, taken):
            return folder
    return ""


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(f"{folder}/")


def _holds_any(folder: str, paths: Iterable[str]) -> bool:
    """Whether one of the paths is below the folder."""
    return any(_is_in(path, folder) for path in paths)


def _taxonomy(lanes: Sequence[_Lane]) -> Lanes:
    """The settings for the lanes, with names that are unique and a lane for everything."""
    trees: dict[str, tuple[str, ...]] = {}
    for lane in lanes:
        trees[_free_name(lane, trees)] = lane.globs
    return _with_lane_for_everything(trees)


def _with_lane_for_everything(trees: dict[str, tuple[str, ...]]) -> Lanes:
    """The settings for concurrent lanes, and an exclusive lane for work that spans them."""
    names = tuple(trees)
    whole = _unused_name("global", trees)
    return Lanes(
        concurrent=names, exclusive=(whole,), autopick=names, trees=trees | {whole: (EVERYTHING,)}
    )


def _free_name(lane: _Lane, taken: Iterable[str]) -> str:
    """The lane's name; where another lane has it, the path of its folder."""
    if comparison_key(lane.name) not in set(map(comparison_key, taken)):
        return lane.name
    return _unused_name(lane.folders[0].replace("/", "-"), taken)


def _unused_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number where it is taken."""
    keys = set(map(comparison_key, taken))
    candidate = name
    number = 1
    while comparison_key(candidate) in keys:
        number += 1
        candidate = f"{name}-{number}"
    return candidate


# Lanes of a directory without git, and the rule for names of lanes


def infer_lanes_from_directory(root: Path, cap: int = CAP) -> Lanes:
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
    return _with_lane_for_everything(trees)


def trees_by_name(root: Path) -> dict[str, str]:
    """Return the tree of a lane that is named after a folder at the top, by its comparison key."""
    trees = {}
    for name in _folders(root):
        glob = f"{name}/**"
        if _region_prefix(name, glob):
            trees[comparison_key(name)] = glob
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
        validated_name(name, "lane name", longest=LONGEST_LANE_NAME)
        if name != name.strip() or "\\" in name:
            return ""
        return regions.prefix(glob)
    except (NameInvalid, RegionInvalid):
        return ""
