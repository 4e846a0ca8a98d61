"""Add a unit to a plan document of the checkout.

It is written only if the parser then reads exactly this unit more, as it was asked for, every other
one as before, and no new problem.
"""

from pathlib import Path

from msgspec import Struct, structs

from dos.config.schema import Config
from dos.errors import BadInput
from dos.machine.filesystem import write_whole
from dos.text import join_some, quote
from dos.units.io import sources
from dos.units.io.documents import plan_paths, read_text
from dos.units.markdown import document
from dos.units.markdown.append import NewUnit, append_unit
from dos.units.markdown.document import Document
from dos.units.unit import Unit
from dos.workspace import Workspace


class AddedUnit(Struct, frozen=True, kw_only=True):
    """A plan document before and after a unit was added."""

    name: str
    before: str
    after: str
    unit: Unit


def plan_addition(
    workspace: Workspace, config: Config, new: NewUnit, *, name: str = ""
) -> AddedUnit:
    """Return the document with the unit at its end; nothing is written.

    `name` is the document; empty: the one of the unit's plan. Raises BadInput where it cannot be
    added.
    """
    if config.plans.source != "documents":
        raise BadInput(
            f"units come from [plans] source = {quote(config.plans.source)}, not from documents",
            hint="Add the unit there.",
        )
    texts = _texts(workspace.root, config)
    name = name or _document_of(texts, config, new.plan)
    if name not in texts:
        raise BadInput(
            f"{quote(name)} is not a plan document; they are {join_some(texts) or 'none'}",
            hint=f"Plans match {config.paths.plans_glob}: create the file first.",
        )
    before = texts[name]
    after = append_unit(before, _read(name, before, config), new)
    unit = _added_unit(_read(name, before, config), _read(name, after, config), new)
    _check_problems(workspace, config, texts, texts | {name: after})
    return AddedUnit(name=name, before=before, after=after, unit=unit)


def write_addition(root: Path, added: AddedUnit) -> None:
    """Write the document. Raises BadInput if it was edited since it was read."""
    path = root / added.name
    if read_text(path) != added.before:
        raise BadInput(f"{added.name} was edited meanwhile", hint="Run `dos plan add` again.")
    write_whole(path, added.after.encode())


def _texts(root: Path, config: Config) -> dict[str, str]:
    """The plan documents on disk that are plain text, by name."""
    texts = {}
    for path in plan_paths(root, config.paths.plans_glob, config.paths.next_packets):
        text = read_text(path)
        if isinstance(text, str) and text.encode() == path.read_bytes():
            texts[path.relative_to(root).as_posix()] = text
    return texts


def _document_of(texts: dict[str, str], config: Config, plan: str) -> str:
    """The one document of a plan."""
    plans = {name: _read(name, text, config).plan for name, text in texts.items()}
    found = [name for name, of_plan in plans.items() if of_plan == plan]
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(
            f"plan {quote(plan)} is in several documents: {join_some(found)}",
            hint=f"Name one: --document {found[0]}",
        )
    raise BadInput(
        f"there is no plan {quote(plan)}; the plans are {join_some(sorted(set(plans.values())))}",
        hint=f"Plans match {config.paths.plans_glob}: create the file first.",
    )


def _read(name: str, text: str, config: Config) -> Document:
    plan = document.plan_name(name)
    return document.read(text, plan=plan, document=name, grammar=config.enumerate)


def _added_unit(before: Document, after: Document, new: NewUnit) -> Unit:
    """The new unit as it is read. Raises BadInput unless it is what was asked for, and alone."""
    known = {unit.name: unit for unit in before.units}
    if new.name in known:
        raise BadInput(
            f"{new.name} is declared already, in {before.name}:{known[new.name].line}",
            hint="Choose another id, or edit that unit.",
        )
    read = {unit.name: unit for unit in after.units}
    unit = read.pop(new.name, None)
    if unit is None or read != known or len(after.units) != len(before.units) + 1:
        raise BadInput(
            f"at the end of {before.name}, {new.name} would not be read as a unit of its own",
            hint=f"Look for an open code block or comment there (`dos enumerate {before.name}`),"
            " use an id such as AUTH4, and keep headings and lists of fields out of the text.",
        )
    asked = (new.title, new.lane, new.paths, new.acceptance)
    if (unit.title, unit.lane, unit.paths, unit.acceptance) != asked or unit.unparseable:
        shown = structs.asdict(unit)
        wrong = [
            f"{key} would be read as {quote(str(shown[key]))}"
            for key in ("title", "lane", "paths", "acceptance")
            if shown[key] != getattr(new, key)
        ]
        raise BadInput(
            f"{new.name}: {join_some(wrong) or unit.unparseable}",
            hint="Write it in one line, without marks of Markdown.",
        )
    return unit


def _check_problems(
    workspace: Workspace, config: Config, before: dict[str, str], after: dict[str, str]
) -> None:
    """Raise BadInput for a problem that the plans did not have before."""
    known = {str(problem) for problem in sources.read(workspace, config, texts=before).problems}
    for problem in sources.read(workspace, config, texts=after).problems:
        if str(problem) not in known:
            raise BadInput(str(problem), hint="Nothing was written; correct the arguments.")
