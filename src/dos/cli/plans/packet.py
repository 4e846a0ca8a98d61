"""Show the units that can be dispatched now, with prompts.

Each prompt is complete on its own. --write stores the page, the prompts and the dispositions under
[paths] next_packets, where `dos gate` reads them. The exit code is the gate's verdict.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from msgspec import Struct, to_builtins

from dos.agents import prompt
from dos.cli.plans.gate import CODES, NEXT
from dos.config.schema import Config
from dos.errors import BadInput
from dos.fleet import lane_entries
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
    scope: Annotated[
        list[str], Option(help="a lane or a plan; can be repeated", metavar="NAME", repeatable=True)
    ] = []
    limit: Annotated[int, Option(help="at most so many picks", metavar="N")] = 5
    write: Annotated[bool, Option(help="write it down, and say where")] = False


def run(args: Args, context: Context) -> Reply:
    if args.limit < 1:
        raise BadInput(
            f"a packet of {args.limit} picks holds nothing", hint="Give --limit 1 or more."
        )
    scope = [validated_name(word, "scope") for word in args.scope]
    config, now = context.policy, datetime.now(UTC)
    found = gather.gather(
        context.world,
        config,
        scope=scope,
        now=now,
        lane_of=lambda unit: lane_entries.lane_of(unit, config) or "",
        prompt=lambda unit, lane, tries: _prompt(unit, lane, tries, config),
    )
    if isinstance(found, Unknown):
        reason = f"what has landed could not be read: {found.why}"
        return Reply(
            code=EXITS["unknown"],
            text=f"UNKNOWN  {reason}",
            data={"verdict": "UNKNOWN", "reason": reason},
        )
    made = packet.plan(found, args.limit)

    def rendered(tag: str) -> str:
        header = packet.PageHeader(
            tag=tag,
            root=str(context.world.workspace.root),
            lanes=tuple(config.roster()),
            at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            scope=tuple(scope),
        )
        return packet.render_page(made, header)

    date = now.date().isoformat()
    if not args.write:
        text = f"{rendered(f'{date} (not written)')}\nverdict={made.verdict.answer}"
        return _reply(made, made.verdict, text, None)
    directory = context.world.workspace.root / config.paths.next_packets
    files = write_packet(directory, made, date, rendered)
    verdict = gate.plan(
        read_dispositions(files.dispositions)
    )  # what was written decides, as for anybody else
    lines = [
        f"{pick.n}. {pick.plan_id} {pick.phase_id} — {pick.phase_title}" for pick in made.picks
    ]
    return _reply(
        made,
        verdict,
        "\n".join([*lines, f"Saved: {files.packet}  (verdict={verdict.answer})"]),
        files,
    )


def _reply(made: Packet, verdict: gate.Verdict, text: str, files: PacketFiles | None) -> Reply:
    data = {
        **to_builtins(verdict),
        "picks": to_builtins(made.picks),
        "left": made.left,
        "dispositions": to_builtins(made.dispositions),
        "paths": {name: str(path) for name, path in _paths(files).items()},
    }
    return Reply(
        code=CODES[Gate(verdict.answer)], text=text, data=data, next_action=NEXT[verdict.answer]
    )


def _paths(files: PacketFiles | None) -> dict[str, Path]:
    return (
        {"packet": files.packet, "prompts": files.prompts, "dispositions": files.dispositions}
        if files
        else {}
    )


def _prompt(unit: Unit, lane: str, tries: Sequence[str], config: Config) -> str:
    region = config.lane_region(lane) if lane else None
    return prompt.unit_prompt(
        unit,
        globs=region.globs if region else (),
        acceptance=unit.acceptance or config.workers.acceptance,
        history=tries,
    )
