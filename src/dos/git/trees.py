"""What differs between two trees, file by file, with what moved. Whatever is the same is never opened."""

from collections import Counter
from collections.abc import Iterator

from dos.git.changes import FileChange
from dos.git.objects import SUBMODULE, Entry, Objects
from dos.verify import content

ALIKE = 0.5  # of the lines: a file that was taken away and one that came are one that moved
MOST_PAIRS = 2_500


def changes(objects: Objects, old: str, new: str) -> list[FileChange]:
    """From one tree to another; an empty name is a tree with nothing in it."""
    found = list(_differing(objects, old, new, ""))
    gone = {path: entry for path, entry, after in found if entry is not None and after is None}
    come = {path: after for path, entry, after in found if entry is None and after is not None}
    moved = _moved(objects, gone, come)
    sources = set(moved.values())
    return [
        _change(path, entry or gone.get(moved.get(path, "")), after, moved.get(path, ""))
        for path, entry, after in found
        if not (after is None and path in sources)
    ]


def _change(path: str, before: Entry | None, after: Entry | None, old_path: str) -> FileChange:
    status = "R" if old_path else "A" if before is None else "D" if after is None else "M"
    return FileChange(
        path=path,
        old_path=old_path,
        status=status,
        old_blob=before.sha if before else "",
        new_blob=after.sha if after else "",
        old_mode=f"{before.mode:06o}" if before else "",
        new_mode=f"{after.mode:06o}" if after else "",
    )


def _differing(
    objects: Objects, old: str, new: str, folder: str
) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    waiting = [(old, new, folder)]
    while waiting:
        old, new, folder = waiting.pop()
        before = objects.tree(old) if old else {}
        after = objects.tree(new) if new else {}
        for name in sorted(before.keys() | after.keys()):
            mine, theirs = before.get(name), after.get(name)
            if mine == theirs:
                continue
            old_tree = mine.sha if mine and mine.is_tree else ""
            new_tree = theirs.sha if theirs and theirs.is_tree else ""
            if old_tree or new_tree:
                waiting.append((old_tree, new_tree, f"{folder}{name}/"))
            file, became = (None if each and each.is_tree else each for each in (mine, theirs))
            if file is not None or became is not None:
                yield folder + name, file, became


def _moved(objects: Objects, gone: dict[str, Entry], come: dict[str, Entry]) -> dict[str, str]:
    """New path -> old path. The same content first, then what is alike; each file once."""
    moved: dict[str, str] = {}
    left = dict(gone)
    for path, entry in come.items():
        same = next((old for old, before in left.items() if before.sha == entry.sha), None)
        if same is not None and entry.mode != SUBMODULE:
            moved[path] = same
            del left[same]
    rest = [path for path in come if path not in moved]
    if not left or not rest or len(left) * len(rest) > MOST_PAIRS:
        return moved
    old_lines = {path: _lines(objects, entry) for path, entry in left.items()}
    new_lines = {path: _lines(objects, come[path]) for path in rest}
    pairs = sorted(
        ((_likeness(old_lines[old], new_lines[new]), new, old) for old in left for new in rest),
        key=lambda pair: (-pair[0], pair[1:]),
    )
    for likeness, new, old in pairs:
        if likeness >= ALIKE and new not in moved and old not in moved.values():
            moved[new] = old
    return moved


def _lines(objects: Objects, entry: Entry) -> Counter[str]:
    raw = objects.blob(entry.sha) or b""
    return (
        Counter()
        if content.is_binary(raw)
        else Counter(filter(str.strip, content.decoded(raw).split("\n")))
    )


def _likeness(old: Counter[str], new: Counter[str]) -> float:
    return (old & new).total() / max(old.total(), new.total(), 1)
