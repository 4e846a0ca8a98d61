"""Plan documents: markdown in which a heading that carries an id is a unit of work."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from dos.errors import BadInput
from dos.records.units import Unit

# `## 3. AUTH AUTH2 — title`, `### AUTH2: title`: number and plan may be missing, the id holds a letter and a digit.
_HEADING = re.compile(
    r"^(?P<marks>#{2,4})\s+(?:\d+\.\s+)?(?:(?P<plan>[A-Za-z][\w-]*)\s+)?"
    r"(?P<id>(?=[\w./'-]*[A-Za-z])(?=[\w./'-]*\d)[A-Za-z0-9][\w./'-]*?)\s*(?:[—–:]|\s-\s)\s*(?P<title>.+?)\s*$"
)
_FIELD = re.compile(r"^\s*[-*]\s+\**(?P<name>lane|paths|acceptance)\**\s*:\s*`?(?P<value>.*?)`?\s*$", re.IGNORECASE)


def read(root: Path, glob: str) -> list[Unit]:
    """The units of all plan documents; of several with one name the first."""
    return first_of_each(every(root, glob))


def first_of_each(found: Iterable[Unit]) -> list[Unit]:
    by_name: dict[str, Unit] = {}
    for unit in found:
        by_name.setdefault(unit.name, unit)
    return list(by_name.values())


def every(root: Path, glob: str) -> Iterator[Unit]:
    """Every unit of every plan document under the root, in the order of the documents' names."""
    for document in sorted(root.glob(glob)):
        inside = document.relative_to(root)
        if ".git" in inside.parts or ".dos" in inside.parts:
            continue  # an agent's worktree is no plan of anybody's
        try:
            text = document.read_text(encoding="utf-8", errors="replace")
        except (FileNotFoundError, IsADirectoryError):
            continue  # it is being written anew, or was never a document
        except OSError as error:  # not an empty plan: that would mean that everything is done
            raise BadInput(
                f"the plan document {inside} cannot be read: {error.strerror}", hint=f"Try: cat {document}"
            ) from error
        yield from units(text, plan=_plan_name(document), document=str(inside))


def units(text: str, *, plan: str, document: str) -> Iterator[Unit]:
    heading: re.Match[str] | None = None
    line_number = 0
    section: list[str] = []
    fenced = False
    for number, line in enumerate([*text.splitlines(), "# end"], 1):
        fenced ^= line.lstrip().startswith("```")
        if not fenced and line.startswith("#"):
            if heading:
                yield _unit(heading, section, plan, document, line_number)
            heading, line_number, section = _HEADING.match(line), number, []
        else:
            section.append(line)


def _unit(heading: re.Match[str], section: list[str], plan: str, document: str, line: int) -> Unit:
    fields: dict[str, str] = {}
    prose = []
    for text in section:
        if field := _FIELD.match(text):
            fields[field["name"].lower()] = field["value"].strip().strip("`")
        else:
            prose.append(text)
    return Unit(
        plan=heading["plan"] or plan,
        id=heading["id"],
        title=heading["title"],
        text="\n".join(prose).strip(),
        lane=fields.get("lane", ""),
        paths=tuple(path.strip(" `") for path in fields.get("paths", "").split(",") if path.strip(" `")),
        acceptance=fields.get("acceptance", ""),
        document=document,
        line=line,
    )


def _plan_name(document: Path) -> str:
    return document.stem.removesuffix("-plan").upper()
