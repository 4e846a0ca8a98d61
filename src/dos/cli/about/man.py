"""Explain a lane, a reason or a verb.

`dos man lane` and `dos man wedge` list all lanes and reasons; with a name they explain one. A wedge
is a reason for a refusal, a hold, a block or a stop. Any other word is a verb, whose help page is
shown, or else a reason. An unknown lane or reason exits 1; an unknown section or verb exits 2.
"""

from typing import Annotated, Any

from msgspec import Struct, to_builtins

from dos.cli.about.help import page
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet.state.fleet import FleetState
from dos.journal import fold
from dos.loop import tokens
from dos.reasons import table
from dos.reasons.policy import registry
from dos.text import did_you_mean, quote
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"shown": 0, "unknown": 1, "contract_error": 2}


class Args(Struct, kw_only=True):
    """What to explain."""

    section: Annotated[str, Option(help="lane, wedge, or a verb", positional=True)]
    entry: Annotated[
        list[str], Option(help="a lane, a reason, or the rest of the verb", positional=True)
    ] = []


def run(args: Args, context: Context) -> Reply:
    """Return the page of a lane, of a reason or of a verb.

    A verb comes before a reason of the same name. Raises BadInput where there is neither.
    """
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
        if args.entry or find_reason(context.world.config, args.section) is None:
            hint = "`dos --help` lists the verbs, and `dos man wedge` the reasons."
            raise BadInput(error.message, hint=hint) from error
        return _explain_reason(args.section, context)
    return Reply(text=text, data={"verb": " ".join(words), "text": text})


def _list_lanes(context: Context) -> Reply:
    """Return the declared lanes with their kinds."""
    rows = []
    documents = []
    for lane in all_lanes(context.world.config):
        rows.append((lane.lane, lane.kind))
        documents.append(lane.to_json())
    return Reply(
        text=_two_columns(rows),
        data={"section": "lane", "lanes": documents},
        next_action="dos man lane NAME",
    )


def _explain_lane(name: str, context: Context) -> Reply:
    """Return the page of a lane, with the holders of its leases.

    An unknown lane exits 1, with the lanes that there are.
    """
    config = context.world.config
    lane = find_lane(config, name)
    if lane is None:
        names = config.known_lanes()
        error = f"error: unknown lane {quote(name)}; {did_you_mean(name, names, 'lanes')}"
        return Reply(
            code=1,
            stderr=f"{error}\n  hint: `dos man lane` lists them.",
            data={"section": "lane", "lane": name, "known": names},
        )
    holders = []
    for lease in context.world.journal.leases(lapsed=False):
        if lease.lane == lane.lane:
            holders.append(f"{lease.holder}, fence {lease.fence}")
    held_by = ", ".join(holders)
    return Reply(
        text=lane_page(lane, held_by),
        data=lane.to_json() | {"section": "lane", "name": lane.lane, "held_by": held_by or None},
    )


def _list_reasons(context: Context) -> Reply:
    """Return all reasons with their categories and meanings."""
    rows = []
    documents = []
    for reason in all_reasons(context.world.config):
        rows.append((reason.token, f"{reason.category:<13}  {reason.summary}".rstrip()))
        documents.append(reason.to_json())
    return Reply(
        text=_two_columns(rows),
        data={
            "section": "wedge",
            "workspace": str(context.world.workspace.root),
            "count": len(documents),
            "reasons": documents,
        },
        next_action="dos man wedge TOKEN",
    )


def _explain_reason(token: str, context: Context) -> Reply:
    """Return the page of a reason, with the lanes that stopped for it.

    An unknown reason exits 1 and shows the category that its name suggests.
    """
    config = context.world.config
    reason = find_reason(config, token)
    if reason is None:
        category = guess_category(config, token)
        error = f"error: unknown reason {quote(token)}; by its name its category is {category}"
        hint = (
            f"`dos man wedge` lists the reasons; [reasons.{token}] in dos.toml declares this one."
        )
        return Reply(
            code=1,
            stderr=f"{error}\n  hint: {hint}",
            data={
                "section": "wedge",
                "key": token,
                "token": token,
                "category": category,
                "refusal": False,  # no verb refuses for it
            },
            next_action="Use a declared reason: `dos man wedge` lists them.",
        )
    fleet, _ = fold.current(context.world.journal, FleetState)
    lanes = stopped_lanes(reason, fleet)
    return Reply(
        text=reason_page(reason, ", ".join(lanes)),
        data=reason.to_json() | {"section": "wedge", "key": reason.token, "live": lanes},
        next_action=reason.fix,
    )


def _two_columns(rows: list[tuple[str, str]]) -> str:
    """Return rows as lines, with the second column aligned."""
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join(f"{name:<{width}}  {text}" for name, text in rows)


class LaneEntry(Struct, frozen=True, kw_only=True):
    """A lane as its page and its JSON show it. The field names are keys of the JSON."""

    lane: str
    kind: str  # concurrent | exclusive | undeclared
    exclusivity: str
    tree: tuple[str, ...]
    aliases: list[str]
    autopick: bool

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        document: dict[str, Any] = to_builtins(self)
        return document


class ReasonEntry(Struct, frozen=True, kw_only=True):
    """A reason as its page and its JSON show it: built in, or declared by the workspace.

    The field names are keys of the JSON.
    """

    token: str
    kind: str
    category: str
    summary: str
    refusal: bool
    needs: str
    clears_by: str
    retryable: bool
    fix: str
    see_also: tuple[str, ...]
    built_in: bool

    def to_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        document: dict[str, Any] = to_builtins(self)
        return document


def all_lanes(config: Config) -> list[LaneEntry]:
    """Return the entries of all declared lanes."""
    return [_lane_entry(config, name) for name in config.lanes.declared()]


def find_lane(config: Config, name: str) -> LaneEntry | None:
    """Return the entry of a lane, by its name in any case or by an alias; None if unknown."""
    lane = config.canonical_lane(name)
    if lane is None:
        return None
    return _lane_entry(config, lane)


def _lane_entry(config: Config, name: str) -> LaneEntry:
    """Describe a declared lane: its kind, what may run beside it, and its names."""
    lanes = config.lanes
    if name in lanes.exclusive:
        kind = "exclusive"
        exclusivity = "runs alone: nothing else may be held beside it"
    elif name in lanes.repeatable:
        kind = "repeatable"
        exclusivity = "several workers share it, each in the paths of one unit"
    elif name in lanes.concurrent:
        kind = "concurrent"
        exclusivity = "runs beside every lane whose paths it does not meet"
    else:
        kind = "undeclared"
        exclusivity = "has a tree or is picked, and is in no list of lanes that get workers"
    return LaneEntry(
        lane=name,
        kind=kind,
        exclusivity=exclusivity,
        tree=lanes.trees.get(name, ()),
        aliases=[alias for alias in lanes.aliases if lanes.canonical(alias) == name],
        autopick=name in lanes.autopick,
    )


def lane_page(lane: LaneEntry, held_by: str) -> str:
    """Return the page of a lane; `held_by` names the holders of its leases.

    A lane without a tree is shown with what that means: it excludes every other lane.
    """
    tree = ", ".join(lane.tree)
    rows = {
        "NAME": lane.lane,
        "KIND": lane.kind,
        "EXCLUSIVITY": lane.exclusivity,
        "TREE": tree or "none: its region is unknown, so it overlaps every lane",
        "ALIASES": ", ".join(lane.aliases) or "none",
        "AUTOPICK": "yes" if lane.autopick else "no",
        "HELD BY": held_by or "none",
    }
    return _page(rows)


def all_reasons(config: Config) -> list[ReasonEntry]:
    """Return the entries of all reasons, built in or declared."""
    return [_reason_entry(reason) for reason in registry(config.reasons).rows]


def find_reason(config: Config, token: str) -> ReasonEntry | None:
    """Return the entry of a reason; None if unknown."""
    reason = registry(config.reasons).find(token)
    if reason is None:
        return None
    return _reason_entry(reason)


def guess_category(config: Config, token: str) -> str:
    """Return the category of an undeclared reason, by the words in its name.

    The rules are those of `morphology`, and the first that matches wins.
    """
    rules = []
    for rule in config.morphology:
        rules.append((rule.substring, rule.category))
    category = table.category_by_words(token, rules)
    if category:
        return category[0]
    return table.Category.UNCLASSIFIED


def stopped_lanes(reason: ReasonEntry, fleet: FleetState) -> list[str]:
    """Return the lanes whose newest run stopped for this reason."""
    newest = {}
    for run in sorted(fleet.runs.values(), key=lambda run: run.begun_ms):
        newest[run.lane] = run
    token = reason.token.upper()
    return [lane for lane, run in newest.items() if run.stop_reason.upper() == token]


def reason_page(reason: ReasonEntry, lanes: str) -> str:
    """Return the page of a reason; `lanes` names those that stopped for it."""
    clears_by = tokens.words(reason.clears_by)
    if reason.clears_by != reason.needs:
        clears_by += f" (needs {reason.needs})"
    rows = {
        "NAME": reason.token,
        "KIND": reason.kind,
        "CATEGORY": reason.category,
        "REFUSAL?": "yes" if reason.refusal else "no: a run stops for it",
        "MEANING": reason.summary or "(not given in dos.toml)",
        "CLEARED BY": clears_by,
        "TYPICAL FIX": reason.fix or "none is needed",
        "SEE ALSO": ", ".join(reason.see_also) or "-",
        "LIVE": lanes or "on no lane",
    }
    return _page(rows)


def _reason_entry(reason: table.Reason) -> ReasonEntry:
    """Describe a reason of the registry."""
    return ReasonEntry(
        token=reason.token,
        kind=reason.kind,
        category=reason.category,
        summary=reason.message,
        refusal=reason.refusal,
        needs=reason.needs,
        clears_by=reason.clears_by,
        retryable=reason.retryable,
        fix=reason.fix,
        see_also=reason.see_also,
        built_in=table.find(reason.token) is not None,
    )


def _page(rows: dict[str, str]) -> str:
    """Return a page of labels and values."""
    lines = []
    for label, value in rows.items():
        lines.append(f"{label:<12} {value}")
    return "\n".join(lines)
