"""Explain a lane, a reason or a verb.

`dos man lane` and `dos man wedge` list what there is; with a name they explain one. A wedge is whatever keeps a lane
from moving: a reason for a refusal, a hold, a block or a stop. Anything else is taken for a verb, and its help page is
shown; or for a reason, when there is no such verb. A lane or a reason that is not on its list exits 1; a section or a
verb that there is not exits 2, as everywhere.
"""

from typing import Annotated

from msgspec import Struct

from dos.cli.about import help as help_verb
from dos.cli.about import man_pages
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
    match args.section:
        case "lane":
            return _lane(" ".join(args.entry), context)
        case "wedge":
            return _reason(" ".join(args.entry), context)
    try:
        text = help_verb.page([args.section, *args.entry])
    except BadInput:
        if args.entry or man_pages.find_reason(context.world.config, args.section) is None:
            raise
        return _reason(args.section, context)
    return Reply(text=text, data={"verb": " ".join([args.section, *args.entry]), "text": text})


def _lane(name: str, context: Context) -> Reply:
    config = context.world.config
    if not name:
        every = man_pages.all_lanes(config)
        return Reply(
            text=_listed([(lane.lane, lane.kind) for lane in every]),
            data={"lanes": [lane.to_json() for lane in every]},
            next_action="dos man lane NAME",
        )
    found = man_pages.find_lane(config, name)
    if found is None:
        names = config.known_lanes()
        near = did_you_mean(name, names, "lanes")
        complaint = (
            f"error: there is no lane {quote(name)}; {near}\n  hint: `dos man lane` lists them."
        )
        return Reply(code=1, stderr=complaint, data={"lane": name, "known": names})
    leases = [
        lease for lease in context.world.journal.leases(lapsed=False) if lease.lane == found.lane
    ]
    held = ", ".join(f"{lease.holder}, fence {lease.fence}" for lease in leases)
    return Reply(
        text=man_pages.lane_page(found, held), data=found.to_json() | {"held_by": held or None}
    )


def _reason(token: str, context: Context) -> Reply:
    config = context.world.config
    if not token:
        table = man_pages.all_reasons(config)
        return Reply(
            text=_listed(
                [(row.token, f"{row.category:<13}  {row.summary}".rstrip()) for row in table]
            ),
            data={"reasons": [row.to_json() for row in table]},
            next_action="dos man wedge TOKEN",
        )
    found = man_pages.find_reason(config, token)
    if found is None:
        category = man_pages.guess_category(config, token)
        found_out = f"{quote(token)} is no declared reason; by its name it counts as {category}"
        hint = (
            f"`dos man wedge` lists them; declare one of your own as [reasons.{token}] in dos.toml."
        )
        return Reply(
            code=1,
            stderr=f"error: {found_out}\n  hint: {hint}",
            data={"token": token, "category": category},
        )
    fleet, _ = fold.current(context.world.journal, FleetState)
    live = man_pages.stopped_lanes(found, fleet)
    return Reply(
        text=man_pages.reason_page(found, ", ".join(live)),
        data=found.to_json() | {"live": live},
        next_action=found.fix,
    )


def _listed(rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {kind}" for name, kind in rows)
