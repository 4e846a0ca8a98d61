"""The files that a unit's text names: where its work is to be, when it states no paths."""

import re
from collections.abc import Collection

# The first name has no dot, so that neither an address nor a version is a path.
_PATH = re.compile(
    r"(?<![\w./:@+-])(?:\.\./)*(?P<path>[\w-]+/(?:[\w.@+-]+/)*[\w.@+-]*[\w-]\.[A-Za-z][A-Za-z0-9]{0,9})(?![\w/])"
)
_NOT_WORKED_ON = frozenset(
    (
        "zip", "tar", "gz", "tgz", "whl", "jar", "exe", "dll", "so", "png", "jpg", "jpeg", "gif", "ico", "pdf", "svg",
        "mmd", "com", "io", "net",
    )
)  # fmt: skip
_PROSE = frozenset(("md", "rst", "txt", "adoc", "org"))
# Everything touches them, so that a commit does says nothing.
_HUBS = frozenset(
    (
        "__init__.py", "cli.py", "config.py", "conftest.py", "constants.py", "models.py", "settings.py", "utils.py",
    )
)  # fmt: skip


def files(text: str, *, code_dirs: Collection[str] = (), hubs: Collection[str] = ()) -> tuple[str, ...]:
    """Paths as they are written, each once; with `code_dirs` only those under one of these.

    Documents count where nothing else is named: beside code they are what to read first.
    """
    shared = _HUBS | {name.lower() for name in hubs}
    code: list[str] = []
    prose: list[str] = []
    for match in _PATH.finditer(text):
        path = match["path"]
        top, name = path.partition("/")[0], path.rpartition("/")[2].lower()
        suffix = name.rpartition(".")[2]
        if name in shared or suffix in _NOT_WORKED_ON or (code_dirs and top not in code_dirs):
            continue
        (prose if suffix in _PROSE else code).append(path)
    return tuple(dict.fromkeys(code or prose))
