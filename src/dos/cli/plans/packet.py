"""Show the units that can be dispatched now, with prompts.

Each prompt is complete on its own. --write stores the page, the prompts and the dispositions under
[paths] next_packets, where `dos gate` reads them. The exit code is the gate's verdict.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.agents import prompt
from dos.cli.plans.gate import CODES, NEXT
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet import worker_health
from dos.lanes.io.parts import config_with_parts
from dos.loop import gate
from dos.loop.gate import Gate
from dos.packets import packet
from dos.packets.io import gather
from dos.packets.io.files import PacketFiles, read_dispositions, write_packet
from dos.packets.packet import Packet
from dos.text import validated_name
from dos.units.unit import Unit
from dos.unknown import Unknown
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {
    "LIVE": 0,
    "DRAIN": 3,
    "STALE-STAMP": 4,
    "BLOCKED": 5,
    "RACE": 6,
    "contract_error": 2,
    "unknown": 7,
}


class Args(Struct, kw_only=True):
    """Which units to offer, how many, and whether to store the packet."""

    scope: Annotated[
        list[str], Option(help="lane or plan; can be repeated", metavar="NAME", repeatable=True)
    ] = []
    limit: Annotated[int, Option(help="most picks", metavar="N")] = 5
    write: Annotated[bool, Option(help="store the packet and print its path")] = False


def run(args: Args, context: Context) -> Reply:
    """Plan the packet, and print it or store it.

    Without --write nothing is changed. With it, three files are written to [paths] next_packets:
    the page, the prompts, and the dispositions of every unit in scope. No unit is claimed by that.
    """
    if args.limit < 1:
        raise BadInput(f"--limit {args.limit} leaves no pick", hint="Give --limit 1 or more.")
    scope = [validated_name(word, "scope") for word in args.scope]
    config = context.policy
    with_parts = config_with_parts(context.policy_world)
    now = datetime.now(UTC)
    evidence = gather.gather(
        context.world,
        config,
        scope=scope,
        now=now,
        lane_of=lambda unit: worker_health.lane_of(unit, config) or "",
        prompt=lambda unit, _lane, tries: _prompt(unit, tries, with_parts),
        region_of=lambda unit: _region(unit, with_parts),
    )
    if isinstance(evidence, Unknown):
        reason = f"landings could not be read: {evidence.why}"
        return Reply(
            code=EXITS["unknown"],
            text=f"UNKNOWN  {reason}",
            data={"verdict": "UNKNOWN", "reason": reason},
        )
    planned = packet.plan(evidence, args.limit)

    # The tag is only known once the files have a free name, so the page is rendered after that.
    def render(tag: str) -> str:
        header = packet.PageHeader(
            tag=tag,
            root=str(context.world.workspace.root),
            lanes=tuple(config.roster()),
            at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            scope=tuple(scope),
        )
        return packet.render_page(planned, header)

    date = now.date().isoformat()
    if not args.write:
        page = render(f"{date} (not written)")
        text = f"{page}\nverdict={planned.verdict.answer}"
        return _reply(planned, planned.verdict, text, None)
    directory = context.world.workspace.root / config.paths.next_packets
    files = write_packet(directory, planned, date, render)
    # The verdict is read back from the file, so that `dos gate` cannot answer anything else.
    verdict = gate.plan(read_dispositions(files.dispositions))
    lines = []
    for pick in planned.picks:
        lines.append(f"{pick.n}. {pick.plan_id} {pick.phase_id} — {pick.phase_title}")
    lines.append(f"Saved: {files.packet}  (verdict={verdict.answer})")
    return _reply(planned, verdict, "\n".join(lines), files)


def _reply(planned: Packet, verdict: gate.Verdict, text: str, files: PacketFiles | None) -> Reply:
    """Return the reply with the gate's exit code; `files` are the ones that were written."""
    paths = {}
    if files is not None:
        paths = {
            "packet": str(files.packet),
            "prompts": str(files.prompts),
            "dispositions": str(files.dispositions),
        }
    data = {
        **to_builtins(verdict),
        "picks": to_builtins(planned.picks),
        "left": planned.left,
        "dispositions": to_builtins(planned.dispositions),
        "paths": paths,
    }
    code = CODES[Gate(verdict.answer)]
    return Reply(code=code, text=text, data=data, next_action=NEXT[verdict.answer])


def _region(unit: Unit, config: Config) -> tuple[str, ...]:
    """Return the globs of the unit's lane, or of its part of it; none without a lane."""
    lane = worker_health.lane_of(unit, config)
    region = config.lane_region(lane) if lane else None
    return region.globs if region else ()


def _prompt(unit: Unit, tries: Sequence[str], config: Config) -> str:
    """Return the prompt that a worker would give to an agent for this unit."""
    return prompt.unit_prompt(
        unit,
        globs=_region(unit, config),
        acceptance=unit.acceptance or config.workers.acceptance,
        history=tries,
    )
