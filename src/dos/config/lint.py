"""What in a configuration is a mistake although it can be read, each with the command that clears it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dos.config import fix_commands
from dos.config.fix_commands import EditCommands
from dos.config.load import FILE_NAME, LoadedConfig, Problem
from dos.config.schema import Config
from dos.config.toml_text import key_text
from dos.fields import Key
from dos.regions import Region, first_collision, is_within, overlapping_pairs, region
from dos.text import comparison_key

NO_TREES: Mapping[str, str] = {}
MOST_OVERLAPS = 10_000  # pairs grow with the square of the lanes, and nobody reads so many


# The settings that dos.toml may hold and that nothing in this version reads: each is an error. They are accepted, so
# that a dos.toml that dos-kernel wrote still loads. Whoever reads one takes it out of this list.
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
        "enumerate.style",
        "lifecycle.transitions",
        "lifecycle.veto_class",
        "lifecycle.max_transitions_per_cycle",
        "lifecycle.per_plan_cooldown_hours",
        "intervention",
        "tool_stream",
        "marker",
        "noop_streak",
        "precursor",
        "enforcement",
    )
)


class Severity(StrEnum):
    ERROR = "error"
    WARN = "warn"
    INFO = "info"


class Kind(StrEnum):
    CONFIG_INVALID = "CONFIG_INVALID"
    LANE_WITHOUT_TREE = "LANE_WITHOUT_TREE"
    LANE_BOTH_CONCURRENT_AND_EXCLUSIVE = "LANE_BOTH_CONCURRENT_AND_EXCLUSIVE"
    AUTOPICK_LANE_UNDECLARED = "AUTOPICK_LANE_UNDECLARED"
    ALIAS_TARGET_UNDECLARED = "ALIAS_TARGET_UNDECLARED"
    LANE_REGION_SHADOWED = "LANE_REGION_SHADOWED"
    CONCURRENT_LANES_OVERLAP = "CONCURRENT_LANES_OVERLAP"
    REASON_SEE_ALSO_DANGLES = "REASON_SEE_ALSO_DANGLES"
    POLICY_UNREAD = "POLICY_UNREAD"


SEVERITIES = {
    Kind.CONFIG_INVALID: Severity.ERROR,
    Kind.LANE_WITHOUT_TREE: Severity.ERROR,
    Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE: Severity.ERROR,
    Kind.AUTOPICK_LANE_UNDECLARED: Severity.WARN,
    Kind.ALIAS_TARGET_UNDECLARED: Severity.WARN,
    Kind.LANE_REGION_SHADOWED: Severity.WARN,
    Kind.CONCURRENT_LANES_OVERLAP: Severity.WARN,
    Kind.REASON_SEE_ALSO_DANGLES: Severity.INFO,
    Kind.POLICY_UNREAD: Severity.ERROR,
}


class Finding(Struct, frozen=True, kw_only=True):
    kind: Kind
    severity: Severity
    subject: str
    detail: str
    fix: str  # a command


def lint(
    config: Config,
    problems: Iterable[Problem] = (),
    *,
    commands: EditCommands | None = None,
    folder_trees: Mapping[str, str] = NO_TREES,
    set_keys: Iterable[Key] = (),
) -> list[Finding]:
    """Every finding: errors first, then by kind and subject.

    `problems` are those of a lenient load; `likely` are the trees of folders that a lane may be named after; `written`
    are the keys that the file sets.
    """
    commands = commands or EditCommands(LoadedConfig(config=config, path=None), Path(FILE_NAME))
    found = [
        *_unreadable(problems, commands),
        *_lanes_without_tree(config, commands, folder_trees),
        *_lanes_in_two_roles(config),
        *_undeclared(config),
        *_overlapping(config, commands),
        *_dangling_references(config, commands),
        *_unread(set_keys),
    ]
    order = list(Severity)
    return sorted(
        found, key=lambda finding: (order.index(finding.severity), finding.kind, finding.subject)
    )


def as_json(findings: list[Finding]) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "findings": msgspec.to_builtins(findings),
        "counts": {severity.value: counts[severity] for severity in Severity},
    }


def should_fail(findings: list[Finding], *, strict: bool = False) -> bool:
    """Whether the verb exits 1: for an error or a warning, or with `strict` for errors alone."""
    gating = {Severity.ERROR} if strict else {Severity.ERROR, Severity.WARN}
    return any(finding.severity in gating for finding in findings)


def _finding(kind: Kind, subject: str, detail: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=SEVERITIES[kind], subject=subject, detail=detail, fix=fix)


def _unreadable(problems: Iterable[Problem], editing: EditCommands) -> Iterator[Finding]:
    for problem in problems:
        detail = f"{problem}. {problem.hint}" if problem.hint else str(problem)
        yield _finding(
            Kind.CONFIG_INVALID,
            key_text(problem.key) or "dos.toml",
            detail,
            editing.for_problem(problem),
        )


def _lanes_without_tree(
    config: Config, editing: EditCommands, likely: Mapping[str, str]
) -> Iterator[Finding]:
    lanes = config.lanes
    lists = {"concurrent": set(lanes.concurrent), "autopick": set(lanes.autopick)}
    for name in dict.fromkeys((*lanes.concurrent, *lanes.autopick)):
        if lanes.trees.get(name):
            continue
        roles = [role for role, names in lists.items() if name in names]
        tree = likely.get(comparison_key(name))
        yield _finding(
            Kind.LANE_WITHOUT_TREE,
            name,
            f"lane {name!r} ({', '.join(roles)}) has no tree, so nothing can run beside it;"
            f" add {key_text((name,))} and its globs to [lanes.trees]",
            fix_commands.set_command(("lanes", "trees", name), [tree])
            if tree
            else editing.for_key("lanes", "trees"),
        )


def _lanes_in_two_roles(config: Config) -> Iterator[Finding]:
    exclusive = set(config.lanes.exclusive)
    for name in dict.fromkeys(config.lanes.concurrent):
        if name in exclusive:
            yield _finding(
                Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE,
                name,
                f"lane {name!r} is listed as concurrent and as exclusive: it cannot run beside others and alone",
                fix_commands.unset_command(("lanes", "exclusive"), name),
            )


def _undeclared(config: Config) -> Iterator[Finding]:
    lanes = config.lanes
    declared = {comparison_key(name) for name in lanes.roster()}
    for name in dict.fromkeys(lanes.autopick):
        if comparison_key(name) not in declared:
            yield _finding(
                Kind.AUTOPICK_LANE_UNDECLARED,
                name,
                f"autopick names {name!r}, which is neither concurrent nor exclusive",
                fix_commands.unset_command(("lanes", "autopick"), name),
            )
    for word, target in lanes.aliases.items():
        if comparison_key(target.strip()) not in declared:
            yield _finding(
                Kind.ALIAS_TARGET_UNDECLARED,
                word,
                f"alias {word!r} stands for {target!r}, which is neither concurrent nor exclusive",
                fix_commands.unset_command(("lanes", "aliases", word)),
            )


def _overlapping(config: Config, editing: EditCommands) -> Iterator[Finding]:
    lanes = {
        name: region(config.lanes.trees.get(name, ()))
        for name in sorted(set(config.lanes.concurrent))
    }
    known = [(name, tree) for name, tree in lanes.items() if tree.is_known]
    pairs = overlapping_pairs([tree for _, tree in known])
    for one, other in islice(pairs, MOST_OVERLAPS):
        yield _pair(*known[one], *known[other], editing)
    if next(pairs, None):
        detail = f"more than {MOST_OVERLAPS:,} pairs of lanes collide; the others are not listed"
        yield _finding(Kind.CONCURRENT_LANES_OVERLAP, "", detail, editing.for_key("lanes", "trees"))


def _pair(first: str, one: Region, second: str, other: Region, editing: EditCommands) -> Finding:
    first_inside, second_inside = is_within(one, other), is_within(other, one)
    if first_inside == second_inside:
        mine, theirs = first_collision(one, other) or ("", "")
        return _finding(
            Kind.CONCURRENT_LANES_OVERLAP,
            f"{first}+{second}",
            f"lanes {first!r} and {second!r} collide on {mine!r} and {theirs!r}, so they never run side by side;"
            " make their trees disjoint",
            editing.for_key("lanes", "trees", first),
        )
    inner, outer = (first, second) if first_inside else (second, first)
    return _finding(
        Kind.LANE_REGION_SHADOWED,
        inner,
        f"every path of lane {inner!r} lies inside lane {outer!r}, so they never run side by side;"
        f" take it out of the tree of {outer!r}, or make {outer!r} exclusive",
        editing.for_key("lanes", "trees", outer),
    )


def _unread(written: Iterable[Key]) -> Iterator[Finding]:
    for key in unread_keys(written):
        name = key_text(key)
        detail = f"{name} is set, and nothing in this version of dos reads it: it decides nothing"
        yield _finding(
            Kind.POLICY_UNREAD,
            name,
            detail,
            fix_commands.unset_command([str(part) for part in key]),
        )


def _dangling_references(config: Config, editing: EditCommands) -> Iterator[Finding]:
    declared = {comparison_key(name) for name in config.roster()}
    for token, reason in config.reasons.items():
        for reference in reason.see_also:
            named = re.fullmatch(r"\s*lane\s+(.+?)\s*", reference)
            if named is None or named[1].startswith("<") or comparison_key(named[1]) in declared:
                continue
            yield _finding(
                Kind.REASON_SEE_ALSO_DANGLES,
                token,
                f"reason {token} refers to lane {named[1]!r}, which is not declared",
                editing.for_key("reasons", token, "see_also"),
            )


def is_unread(key: Key) -> bool:
    return any(key[:end] in NOT_YET_READ for end in range(1, len(key) + 1))


def unread_keys(written: Iterable[Key]) -> list[Key]:
    """Of the keys that a file sets, those that decide nothing; without the tables and lists around them."""
    found = [key for key in written if is_unread(key)]
    around = {key[:end] for key in found for end in range(1, len(key))}
    leaves = dict.fromkeys(_without_places(key) for key in found if key not in around)
    return sorted(leaves, key=str)


def _without_places(key: Key) -> Key:
    """The key of the list that an entry stands in: one entry of it cannot be unset by name."""
    end = next((place for place, part in enumerate(key) if isinstance(part, int)), len(key))
    return key[:end]
