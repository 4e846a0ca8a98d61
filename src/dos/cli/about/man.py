"""Explain a lane, a reason or a verb.

`dos man lane` and `dos man wedge` list all lanes and reasons; with a name they explain one. A wedge
is a reason for a refusal, a hold, a block or a stop. Any other word is a verb, whose help page is
shown, or else a reason. An unknown lane or reason exits 1; an unknown section or verb exits 2.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.about import man_pages
from dos.cli.about.help import page
from dos.errors import BadInput
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.text import did_you_mean, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "unknown": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    section: Annotated[str, Option(help="lane, wedge, or a verb", positional=True)]
    entry: Annotated[
        list[str], Option(help="a lane, a reason, or the rest of the verb", positional=True)
    ] = []


def run(args: Args, context: Context) -> Reply:
    name = " ".join(args.entry)
    match args.section:
        case "lane":
            if name:
                return _explain_lane(name, context)
            return _list_lanes(context)
        case "wedge":
            if name:
                return _explain_reason(name, context)
            return _list_reasons(context)
    words = [args.section, *args.entry]
    try:
        text = page(words)
    except BadInput as error:
        if args.section in ("reason", "reasons"):
            raise BadInput(
                f"`dos man` has no section {quote(args.section)}",
                hint="`dos man wedge` lists the reasons, and `dos man wedge NAME` explains one.",
            ) from error
        if args.entry or man_pages.find_reason(context.world.config, args.section) is None:
            hint = "`dos --help` lists the verbs, and `dos man wedge` the reasons."
            raise BadInput(error.message, hint=hint) from error
        return _explain_reason(args.section, context)
    return Reply(text=text, data={"verb": " ".join(words), "text": text})


def _list_lanes(context: Context) -> Reply:
    lanes = man_pages.all_lanes(context.world.config)
    return Reply(
        text=_two_columns([(lane.lane, lane.kind) for lane in lanes]),
        data={"lanes": [lane.to_json() for lane in lanes]},
        next_action="dos man lane NAME",
    )


def _explain_lane(name: str, context: Context) -> Reply:
    config = context.world.config
    lane = man_pages.find_lane(config, name)
    if lane is None:
        names = config.known_lanes()
        error = f"error: unknown lane {quote(name)}; {did_you_mean(name, names, 'lanes')}"
        return Reply(
            code=1,
            stderr=f"{error}\n  hint: `dos man lane` lists them.",
            data={"lane": name, "known": names},
        )
    holders = []
    for lease in context.world.journal.leases(lapsed=False):
        if lease.lane == lane.lane:
            holders.append(f"{lease.holder}, fence {lease.fence}")
    held_by = ", ".join(holders)
    return Reply(
        text=man_pages.lane_page(lane, held_by),
        data=lane.to_json() | {"held_by": held_by or None},
    )


def _list_reasons(context: Context) -> Reply:
    reasons = man_pages.all_reasons(context.world.config)
    rows = []
    for reason in reasons:
        rows.append((reason.token, f"{reason.category:<13}  {reason.summary}".rstrip()))
    return Reply(
        text=_two_columns(rows),
        data={"reasons": [reason.to_json() for reason in reasons]},
        next_action="dos man wedge TOKEN",
    )


def _explain_reason(token: str, context: Context) -> Reply:
    config = context.world.config
    reason = man_pages.find_reason(config, token)
    if reason is None:
        category = man_pages.guess_category(config, token)
        error = f"error: unknown reason {quote(token)}; by its name its category is {category}"
        hint = (
            f"`dos man wedge` lists the reasons; [reasons.{token}] in dos.toml declares this one."
        )
        return Reply(
            code=1,
            stderr=f"{error}\n  hint: {hint}",
            data={"token": token, "category": category},
        )
    fleet, _ = fold.current(context.world.journal, FleetState)
    lanes = man_pages.stopped_lanes(reason, fleet)
    return Reply(
        text=man_pages.reason_page(reason, ", ".join(lanes)),
        data=reason.to_json() | {"live": lanes},
        next_action=reason.fix,
    )


def _two_columns(rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)
