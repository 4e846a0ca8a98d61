"""The plan documents of a workspace, read from disk. What stands in them is for the grammar to say."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from dos.errors import BadInput
from dos.units.markdown import document
from dos.units.markdown.document import Document
from dos.units.policy import Grammar
from dos.unknown import Unknown

LARGEST_BYTES = 64_000_000


def plan_paths(root: Path, glob: str, skip: str = "") -> list[Path]:
    """The files under the root that the glob names, by their names; none of those in the folder to be skipped."""
    try:
        found = sorted(root.glob(glob))
    except (ValueError, NotImplementedError) as error:
        raise BadInput(
            f"[paths] plans_glob is {glob!r}, which is no pattern for files here: {error}",
            hint="dos config unset paths.plans_glob",
        ) from error
    # An agent's worktree is no plan of anybody's.
    return [
        path
        for path in found
        if not {".git", ".dos"}.intersection(path.relative_to(root).parts)
        and not (skip and path.is_relative_to(root / skip))
    ]


def read_documents(
    root: Path,
    glob: str,
    grammar: Grammar = Grammar(),
    skip: str = "",
    *,
    texts: Mapping[str, str | None] | None = None,
) -> Iterator[Document | tuple[str, Unknown]]:
    """Each document; or its name, and why it could not be read. `texts` are all that count, whatever is on disk."""
    names = (
        [str(path.relative_to(root)) for path in plan_paths(root, glob, skip)]
        if texts is None
        else sorted(texts, key=Path)
    )
    for name in names:
        text = read_text(root / name) if texts is None else texts[name]
        if isinstance(text, Unknown):
            yield name, text
        elif text is not None:
            yield document.read(text, plan=document.plan_name(name), document=name, grammar=grammar)


def read_text(path: Path) -> str | Unknown | None:
    """The text of a document; None when it is gone, or is no file."""
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        return None  # it is being written anew
    except OSError as error:
        return Unknown(f"it cannot be read: {error.strerror}")
    if len(data) > LARGEST_BYTES:
        return Unknown(f"it is larger than {LARGEST_BYTES:,} bytes")
    if b"\0" in data:
        return Unknown("it is not text: there is a NUL byte in it")
    return data.decode("utf-8", "replace")
