"""Remove old packets and logs, and old events.

It shows what is old and removes nothing, unless --apply is given. [retention] says how much is
kept: `verdicts_keep_last` packets, and the logs of `runs_keep_last` runs of each lane. What works
now is never removed, and nothing that is needed to resume a run.
"""

from pathlib import Path
from typing import Annotated, Any

from msgspec import Struct

from dos.agents.io import logs
from dos.cli.journal import prune
from dos.packets.io.files import delete_packet, old_packets
from dos.text import plural
from dos.verbs.args import Option
from dos.verbs.context import Context, Reply

EXITS = {"reported": 0, "contract_error": 2, "lock-busy": 4}

# dos writes none; dos-kernel had them as a class of its own.
NO_AUDITS: dict[str, Any] = {
    "dir": "",
    "data_class": "AUDIT",
    "cap": None,
    "kept": 0,
    "dropped": [],
}


class Args(Struct, kw_only=True):
    """Whether to remove anything, and whether the journal is meant too."""

    apply: Annotated[bool, Option(help="remove what is shown")] = False
    journal: Annotated[bool, Option(help="also prune the journal")] = False


def run(args: Args, context: Context) -> Reply:
    """Return what is old, by class, with the keys of dos-kernel."""
    retention = context.policy.retention
    workspace = context.world.workspace
    packets = workspace.root / context.policy.paths.next_packets
    most_packets = retention.limit("verdicts_keep_last")
    old_files, packets_kept = old_packets(packets, most_packets)
    live = {lease.run_id for lease in context.world.journal.leases()}
    most_runs = retention.limit("runs_keep_last")
    old_logs, runs_kept = logs.old_runs(workspace.state, most_runs, live)
    data: dict[str, Any] = {
        "verdicts": _class(packets, most_packets, packets_kept, old_files),
        "runs": _class(workspace.state / "logs", most_runs, runs_kept, old_logs),
        "audits": NO_AUDITS,
        "_applied": args.apply,
    }
    if args.apply:
        for files in old_files:
            delete_packet(files)
        for files in old_logs:
            logs.delete(files)
    verb = "removed" if args.apply else "would remove"
    lines = [
        f"{verb} {plural(len(old_files), 'packet')}, and the logs of {plural(len(old_logs), 'run')}"
    ]
    if args.journal:
        pruned = prune.run(prune.Args(dry_run=not args.apply), context)
        done = "compacted" if args.apply else "would_compact"
        data["journal"] = {done: bool(pruned.data["removed"]), **pruned.data}
        lines.append(f"journal: {pruned.text}")
    next_action = ""
    if not args.apply:
        next_action = "`dos reap --apply` removes it."
    return Reply(text="\n".join(lines), data=data, next_action=next_action)


def _class(folder: Path, limit: float | None, kept: int, old: list[list[Path]]) -> dict[str, Any]:
    """Return the row of a class of files."""
    names = [str(path.relative_to(folder)) for files in old for path in files]
    row: dict[str, Any] = {
        "dir": str(folder),
        "data_class": "TRAJECTORY",
        "cap": limit,
        "kept": kept,
        "dropped": sorted(names),
    }
    if limit is None:
        row["unbounded"] = True
    return row
