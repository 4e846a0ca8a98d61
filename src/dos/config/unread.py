"""The settings that dos.toml may hold and that nothing in this version reads: `dos lint` calls each an error.

They are accepted, so that a dos.toml that dos-kernel wrote still loads. Whoever reads one takes it out of this list.
"""

from collections.abc import Iterable

from dos.config.checks import Key

# A table stands for all of its keys.
NOT_YET_READ: frozenset[Key] = frozenset(
    tuple(key.split("."))
    for key in (
        "workspace",
        "paths.findings_queue",
        "paths.fanout_runs",
        "paths.dispatch_loops",
        "paths.chained_runs",
        "paths.replan_dir",
        "paths.picker_audits",
        "paths.archive_lock",
        "paths.lane_journal",
        "paths.verdict_journal",
        "paths.leases_dir",
        "paths.project_card",
        "retention.verdicts_keep_last",
        "retention.audits_keep_last",
        "retention.projections_compact",
        "data_class",
        "lifecycle.transitions",
        "lifecycle.veto_class",
        "lifecycle.max_transitions_per_cycle",
        "lifecycle.per_plan_cooldown_hours",
        "intervention",
        "tool_stream",
        "marker",
        "precursor",
        "enforcement",
    )
)


def is_unread(key: Key) -> bool:
    return any(key[:end] in NOT_YET_READ for end in range(1, len(key) + 1))


def unread(written: Iterable[Key]) -> list[Key]:
    """Of the keys that a file sets, those that decide nothing; without the tables and lists around them."""
    found = [key for key in written if is_unread(key)]
    around = {key[:end] for key in found for end in range(1, len(key))}
    leaves = dict.fromkeys(_without_places(key) for key in found if key not in around)
    return sorted(leaves, key=str)


def _without_places(key: Key) -> Key:
    """The key of the list that an entry stands in: one entry of it cannot be unset by name."""
    end = next((place for place, part in enumerate(key) if isinstance(part, int)), len(key))
    return key[:end]
