"""Explain why a dispatch started nothing.

The packet is a .dispositions-TAG.json file; a .race-TAG.json beside it makes the answer RACE. Or
the picks are given as JSON, each at least {"phase": "ID"}.
"""

from pathlib import Path
from typing import Annotated

from msgspec import DecodeError, Struct, json, to_builtins

from dos.errors import BadInput
from dos.loop import gate
from dos.loop.gate import Gate, Verdict
from dos.packets.io import files
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

CODES = {Gate.LIVE: 0, Gate.DRAIN: 3, Gate.STALE_STAMP: 4, Gate.BLOCKED: 5, Gate.RACE: 6}
EXITS = {
    "LIVE": 0,
    "DRAIN": 3,
    "STALE-STAMP": 4,
    "BLOCKED": 5,
    "RACE": 6,
    "contract_error": 2,
    "unknown": 7,
}
# What a loop should do next. Only an exhausted plan (DRAIN) needs new units.
NEXT = {
    Gate.LIVE: "GO: dispatch the live picks.",
    Gate.DRAIN: "No unit is left: replan.",
    Gate.STALE_STAMP: "Units are left: mark the shipped ones in the plan, then ask again.",
    Gate.BLOCKED: "Units are left: clear what blocks them; a replan may do that.",
    Gate.RACE: "Units are left: wait a moment, and make the packet again.",
}


class Args(Struct, kw_only=True):
    """The packet, as a file or as JSON."""

    packet: Annotated[str, Option(help="dispositions file", metavar="PACKET", positional=True)] = ""
    picks_json: Annotated[
        str | None, Option(help="picks to use instead of a file", metavar="JSON")
    ] = None


def run(args: Args, _context: Context) -> Reply:
    """Classify the packet and exit with the code of the verdict.

    Only the packet is read: neither the journal nor git. Raises BadInput unless exactly one of the
    two sources is given, and StaleDispositionContract for a file that is no dispositions file.
    """
    if bool(args.packet) == (args.picks_json is not None):
        raise BadInput(
            "give either a packet or --picks-json",
            hint="For example: dos gate --picks-json '[]'",
        )
    if args.picks_json is not None:
        verdict = _classify(args.picks_json)
    else:
        verdict = gate.plan(files.read_dispositions(Path(args.packet)))
    return Reply(
        code=CODES[verdict.answer],
        text=f"{verdict.answer}  {verdict.reason}",
        data=to_builtins(verdict),
        next_action=NEXT[verdict.answer],
    )


def _classify(text: str) -> Verdict:
    """Classify the picks of --picks-json; raises BadInput unless they are a JSON list."""
    try:
        picks = json.decode(text)
    except (DecodeError, UnicodeError, RecursionError) as error:
        raise BadInput(
            f"--picks-json is not JSON: {error}", hint="Give a list, such as []."
        ) from error
    if not isinstance(picks, list):
        raise BadInput("--picks-json is not a list", hint="Give a list, such as [].")
    return gate.classify(picks)
