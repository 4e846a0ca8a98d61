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
    plan_doc: Annotated[str, Option(help="the document", metavar="PLAN_DOC", positional=True)]
    series: Annotated[
        str, Option(help="only the units of this series, as AUTH of AUTH2", metavar="ID")
    ] = ""
    shipped: Annotated[
        str, Option(help="ids that are known to have shipped", metavar="JSON-LIST")
    ] = ""


def run(args: Args, context: Context) -> Reply:
    path = _found(args.plan_doc, context)
    text = documents.read_text(path)
    if not isinstance(text, str):
        why = "it is not a file" if text is None else text.why
        raise BadInput(f"{quote(args.plan_doc)}: {why}", hint="Give the path of a plan document.")
    found = enumerate_units(
        text,
        context.world.config.enumerate,
        validated_name(args.series, "series") if args.series else "",
        _listed(args.shipped),
        plan=document.plan_name(path.name),
    )
    code = EXITS["EMPTY"] if not found.units else EXITS["DRIFT"] if found.drift else EXITS["CLEAN"]
    return Reply(code=code, text=_rendered(found), data=to_builtins(found))


def _found(written: str, context: Context) -> Path:
    """From here, or from the root of the workspace, as `dos plan` shows it."""
    for place in (Path(written), context.world.workspace.root / written):
        try:
            if written and place.exists():
                return place
        except (OSError, ValueError):  # a name that is too long, or holds a NUL
            break
    raise BadInput(
        f"there is no document {quote(written)}", hint="`dos plan --once` shows the documents."
    )


def _listed(text: str) -> list[str]:
    if not text:
        return []
    try:
        return json.decode(text, type=list[str])
    except (DecodeError, ValidationError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--shipped is not a list of ids: {error}", hint="For example: --shipped '[\"AUTH1\"]'"
        ) from error


def _rendered(found: Enumeration) -> str:
    done, left = ("·", "→") if stdout_is_utf8() else ("-", ">")
    counts = (
        f"units={len(found.units)} shipped={len(found.shipped)} remaining={len(found.remaining)}"
    )
    lines = [f"series={found.series or '-'} {counts}"]
    for unit_id, entry in found.by_unit.items():
        by = f" ({tokens.words(entry.shipped_by)})" if entry.shipped else ""
        lines.append(f"  {done if entry.shipped else left} {unit_id}  {entry.source}{by}")
    lines += [f"  drift {drift.kind}: {drift.detail}{_place(drift.span)}" for drift in found.drift]
    return "\n".join(lines)


def _place(span: tuple[int, int] | None) -> str:
    return f" (line {span[0]})" if span else ""
