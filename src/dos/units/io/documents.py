"""The plan documents of a workspace, read from disk; `units.markdown` parses them.

A document that cannot be read is reported as Unknown and never as an empty one: with an empty
plan, everything would count as done.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from dos.errors import BadInput
from dos.units.markdown import document
from dos.units.markdown.document import Document
from dos.units.policy import Grammar
from dos.unknown import Unknown

LARGEST_BYTES = 64_000_000


def plan_paths(root: Path, glob: str, skip: str = "") -> list[Path]:
    """The files below the root that the glob matches, sorted; without those in `skip`.

    Raises BadInput if the glob is no pattern.
    """
    try:
        found = sorted(root.glob(glob))
    except (ValueError, NotImplementedError) as error:
        raise BadInput(
            f"[paths] plans_glob is {glob!r}, which is no pattern for files here: {error}",
            hint="dos config unset paths.plans_glob",
        ) from error
    paths = []
    for path in found:
        # The worktrees of agents hold copies of the plans.
        if {".git", ".dos"}.intersection(path.relative_to(root).parts):
            continue
        if skip and path.is_relative_to(root / skip):
            continue
        paths.append(path)
    return paths


def read_documents(
    root: Path,
    glob: str,
    grammar: Grammar = Grammar(),
    skip: str = "",
    *,
    texts: Mapping[str, str | None] | None = None,
) -> Iterator[Document | tuple[str, Unknown]]:
    """Yield each document; or its name, and why it could not be read.

    `texts` are all documents that count, by name, in place of those on disk.
    """
    if texts is None:
        names = [str(path.relative_to(root)) for path in plan_paths(root, glob, skip)]
    else:
        names = sorted(texts, key=Path)
    for name in names:
        if texts is None:
            text = read_text(root / name)
        else:
            text = texts[name]
        if isinstance(text, Unknown):
            yield name, text
        elif text is not None:
            plan = document.plan_name(name)
            yield document.read(text, plan=plan, document=name, grammar=grammar)


def read_text(path: Path) -> str | Unknown | None:
    """The text of a document; None if it is gone or is no file; Unknown if it is unreadable."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        return None  # it is being rewritten
    except OSError as error:
        return Unknown(f"it cannot be read: {error.strerror}")
    if len(data) > LARGEST_BYTES:
        return Unknown(f"it is larger than {LARGEST_BYTES:,} bytes")
    if b"\0" in data:
        return Unknown("it is not text: there is a NUL byte in it")
    return data.decode("utf-8", "replace")
