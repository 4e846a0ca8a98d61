"""List the units that a plan document declares.

The same grammar finds the units that workers are sent to. A shipped mark counts on the unit's own
heading, row or list item.
"""

from pathlib import Path
from typing import Annotated

from msgspec import DecodeError, Struct, ValidationError, json, to_builtins

from dos.errors import BadInput
from dos.loop import tokens
from dos.text import quote, validated_name
from dos.units.io import documents
from dos.units.markdown import document
from dos.units.markdown.enumerate import Enumeration, enumerate_units
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply, stdout_is_utf8

EXITS = {"CLEAN": 0, "DRIFT": 3, "EMPTY": 4, "contract_error": 2}


class Args(Struct, kw_only=True):
    """The document, and which of its units to list."""

    plan_doc: Annotated[str, Option(help="plan document", metavar="PLAN_DOC", positional=True)]
    series: Annotated[
        str, Option(help="only units of this series, such as AUTH of AUTH2", metavar="ID")
    ] = ""
    shipped: Annotated[str, Option(help="ids of units that have shipped", metavar="JSON-LIST")] = ""


def run(args: Args, context: Context) -> Reply:
    """List the units of one document in its order; git is not read.

    The exit code is 3 if something makes the list doubtful, and 4 if no unit was found. Raises
    BadInput if the document cannot be read.
    """
    path = _document_path(args.plan_doc, context)
    text = documents.read_text(path)
    if not isinstance(text, str):
        why = "it is not a file"
        if text is not None:
            why = text.why
        raise BadInput(f"{quote(args.plan_doc)}: {why}", hint="Give the path of a plan document.")
    series = ""
    if args.series:
        series = validated_name(args.series, "series")
    enumeration = enumerate_units(
        text,
        context.world.config.enumerate,
        series,
        _parse_ids(args.shipped),
        plan=document.plan_name(path.name),
    )
    if not enumeration.units:
        answer = "EMPTY"
    elif enumeration.drift:
        answer = "DRIFT"
    else:
        answer = "CLEAN"
    return Reply(code=EXITS[answer], text=_render(enumeration), data=to_builtins(enumeration))


def _document_path(name: str, context: Context) -> Path:
    """Return the path, relative to here or to the workspace's root, as `dos plan` shows it."""
    for path in (Path(name), context.world.workspace.root / name):
        try:
            if name and path.exists():
                return path
        except (OSError, ValueError):  # a name that is too long, or contains NUL
            break
    raise BadInput(
        f"there is no document {quote(name)}", hint="`dos plan --once` shows the documents."
    )


def _parse_ids(text: str) -> list[str]:
    """Parse --shipped; raises BadInput unless it is a JSON list of strings."""
    if not text:
        return []
    try:
        return json.decode(text, type=list[str])
    except (DecodeError, ValidationError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--shipped is not a list of ids: {error}", hint="For example: --shipped '[\"AUTH1\"]'"
        ) from error


def _render(enumeration: Enumeration) -> str:
    """Return the counts in the form that dos-kernel prints, then a line for each unit and doubt."""
    counts = (
        f"units={len(enumeration.units)} shipped={len(enumeration.shipped)} "
        f"remaining={len(enumeration.remaining)}"
    )
    lines = [f"series={enumeration.series or '-'} {counts}"]
    for unit_id, entry in enumeration.by_unit.items():
        line = f"  {_mark(shipped=entry.shipped)} {unit_id}  {entry.source}"
        if entry.shipped:
            line += f" ({tokens.words(entry.shipped_by)})"
        lines.append(line)
    for drift in enumeration.drift:
        line = f"  drift {drift.kind}: {drift.detail}"
        if drift.span:
            line += f" (line {drift.span[0]})"
        lines.append(line)
    return "\n".join(lines)


def _mark(*, shipped: bool) -> str:
    """Return the sign before a unit: an arrow if it is left to do, a dot if it shipped."""
    if shipped:
        utf8_sign, ascii_sign = "·", "-"
    else:
        utf8_sign, ascii_sign = "→", ">"
    if stdout_is_utf8():
        return utf8_sign
    return ascii_sign
