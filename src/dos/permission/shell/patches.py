"""The files that a patch changes: the format of `apply_patch`, and unified diffs."""

import re

_SECTION = re.compile(
    r"^\*\*\* (?:Add File|Update File|Delete File|Move to|Move File|Rename to): ?(.+?)[ \t\r]*$",
    re.MULTILINE,
)
_BEGIN = re.compile(r"^\*\*\* Begin Patch", re.MULTILINE)
_DIFF = re.compile(r"^(?:---|\+\+\+) (?:\"?)([^\t\n\"]+)", re.MULTILINE)
_RENAME = re.compile(r"^(?:rename|copy) (?:from|to) (.+)$", re.MULTILINE)


def patched_paths(text: str) -> tuple[str, ...]:
    """Return the paths that an `apply_patch` text changes, in their order."""
    return tuple(dict.fromkeys(_SECTION.findall(text)))


def is_patch(text: str) -> bool:
    """Whether a text is in the format of `apply_patch`."""
    return bool(_BEGIN.search(text))


def diff_paths(text: str, strip: int = 1) -> tuple[str, ...]:
    """Return the paths that a unified diff changes, without their first `strip` folders."""
    paths: list[str] = []
    for name in _DIFF.findall(text):
        name = name.strip()
        if name and name != "/dev/null":
            paths.append("/".join(name.split("/")[strip:]) or name)
    paths += [name.strip() for name in _RENAME.findall(text)]
    return tuple(dict.fromkeys(paths))
