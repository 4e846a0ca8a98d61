"""Mistakes in a configuration that loads, each with the command that clears it."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from dos.config import fix_commands
from dos.config.fix_commands import EditCommands
from dos.config.load import FILE_NAME, LoadedConfig, Problem
from dos.config.schema import Config
from dos.config.toml_text import key_text
from dos.fields import Key
from dos.lanes.policy import SOFT_OVERLAP_CEILING
from dos.regions import Region, first_collision, is_within, overlapping_pairs, region
from dos.text import comparison_key
from dos.units.lifecycle import TRIGGERS

NO_TREES: Mapping[str, str] = {}
MOST_OVERLAPS = 10_000  # the number of pairs grows with the square of the lanes


# The settings that dos.toml may hold and that nothing in this version reads. They load, so that a
# dos.toml that dos-kernel wrote still loads. Remove a setting from its list when code reads it. A
# table stands for all of its keys. Those that should decide something are errors.
NOT_YET_READ: frozenset[Key] = frozenset()
# Those that only name or describe files of dos-kernel, which dos does not have, are a note.
RELEASED_LAYOUT: frozenset[Key] = frozenset(
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
        "retention.audits_keep_last",
        "retention.projections_compact",
        "data_class",
        "enumerate.style",
    )
)
_TABLES: frozenset[Key] = frozenset(
    (field.encode_name,) for field in structs.fields(Config) if field.type is not str
)


class Severity(StrEnum):
    """How serious a finding is, the most serious first."""

    ERROR = "error"
    WARN = "warn"
    INFO = "info"


class Kind(StrEnum):
    """What a finding is about."""

    CONFIG_INVALID = "CONFIG_INVALID"
    LANE_WITHOUT_TREE = "LANE_WITHOUT_TREE"
    LANE_BOTH_CONCURRENT_AND_EXCLUSIVE = "LANE_BOTH_CONCURRENT_AND_EXCLUSIVE"
    AUTOPICK_LANE_UNDECLARED = "AUTOPICK_LANE_UNDECLARED"
    ALIAS_TARGET_UNDECLARED = "ALIAS_TARGET_UNDECLARED"
    LANE_REGION_SHADOWED = "LANE_REGION_SHADOWED"
    CONCURRENT_LANES_OVERLAP = "CONCURRENT_LANES_OVERLAP"
    REASON_SEE_ALSO_DANGLES = "REASON_SEE_ALSO_DANGLES"
    OVERLAP_RATIO_CAPPED = "OVERLAP_RATIO_CAPPED"
    TRIGGER_UNKNOWN = "TRIGGER_UNKNOWN"
    POLICY_UNREAD = "POLICY_UNREAD"
    LAYOUT_UNUSED = "LAYOUT_UNUSED"


SEVERITIES = {
    Kind.CONFIG_INVALID: Severity.ERROR,
    Kind.LANE_WITHOUT_TREE: Severity.ERROR,
    Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE: Severity.ERROR,
    Kind.AUTOPICK_LANE_UNDECLARED: Severity.WARN,
    Kind.ALIAS_TARGET_UNDECLARED: Severity.WARN,
    Kind.LANE_REGION_SHADOWED: Severity.WARN,
    Kind.CONCURRENT_LANES_OVERLAP: Severity.WARN,
    Kind.REASON_SEE_ALSO_DANGLES: Severity.INFO,
    Kind.OVERLAP_RATIO_CAPPED: Severity.INFO,
    Kind.TRIGGER_UNKNOWN: Severity.WARN,
    Kind.POLICY_UNREAD: Severity.ERROR,
    Kind.LAYOUT_UNUSED: Severity.INFO,
}


class Finding(Struct, frozen=True, kw_only=True):
    """One mistake in the configuration."""

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
    """Return every finding: errors first, then by kind and subject.

    `problems` are those of a lenient load. `folder_trees` are the trees of lanes that are named
    after a folder. `set_keys` are the keys that the file sets.
    """
    commands = commands or EditCommands(LoadedConfig(config=config, path=None), Path(FILE_NAME))
    findings = [
        *_unreadable(problems, commands),
        *_lanes_without_tree(config, commands, folder_trees),
        *_lanes_in_two_roles(config),
        *_undeclared(config),
        *_overlapping(config, commands),
        *_dangling_references(config, commands),
        *_capped_ratio(config),
        *_unknown_triggers(config, commands),
        *_unread(set_keys),
    ]
    order = list(Severity)
    return sorted(
        findings,
        key=lambda finding: (order.index(finding.severity), finding.kind, finding.subject),
    )


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """Return the document that `dos lint --json` prints."""
    counts = Counter(finding.severity for finding in findings)
    return {
        "findings": msgspec.to_builtins(findings),
        "counts": {severity.value: counts[severity] for severity in Severity},
    }


def should_fail(findings: list[Finding], *, strict: bool = False) -> bool:
    """Whether `dos lint` exits 1: for an error or a warning; with `strict`, for errors alone."""
    gating = {Severity.ERROR} if strict else {Severity.ERROR, Severity.WARN}
    return any(finding.severity in gating for finding in findings)


def _finding(kind: Kind, subject: str, detail: str, fix: str) -> Finding:
    """A finding, with the severity of its kind."""
    return Finding(kind=kind, severity=SEVERITIES[kind], subject=subject, detail=detail, fix=fix)


def _unreadable(problems: Iterable[Problem], commands: EditCommands) -> Iterator[Finding]:
    """The problems that keep tables from loading."""
    for problem in problems:
        detail = str(problem)
        if problem.hint:
            detail = f"{detail}. {problem.hint}"
        yield _finding(
            Kind.CONFIG_INVALID,
            key_text(problem.key) or "dos.toml",
            detail,
            commands.for_problem(problem),
        )


def _lanes_without_tree(
    config: Config, commands: EditCommands, folder_trees: Mapping[str, str]
) -> Iterator[Finding]:
    """The lanes without a tree. A lane that has a folder's name probably means that folder."""
    lanes = config.lanes
    lists = {
        "concurrent": set(lanes.concurrent),
        "repeatable": set(lanes.repeatable),
        "autopick": set(lanes.autopick),
    }
    for name in dict.fromkeys((*lanes.concurrent, *lanes.repeatable, *lanes.autopick)):
        if lanes.trees.get(name):
            continue
        roles = [role for role, names in lists.items() if name in names]
        tree = folder_trees.get(comparison_key(name))
        fix = commands.for_key("lanes", "trees")
        if tree:
            fix = fix_commands.set_command(("lanes", "trees", name), [tree])
        yield _finding(
            Kind.LANE_WITHOUT_TREE,
            name,
            f"lane {name!r} ({', '.join(roles)}) has no tree, so no worker can take it;"
            f" add {key_text((name,))} and its globs to [lanes.trees]",
            fix,
        )


def _lanes_in_two_roles(config: Config) -> Iterator[Finding]:
    """The lanes that are both concurrent and exclusive."""
    exclusive = set(config.lanes.exclusive)
    for name in dict.fromkeys(config.lanes.concurrent):
        if name in exclusive:
            yield _finding(
                Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE,
                name,
                f"lane {name!r} is listed as concurrent and as exclusive;"
                " it cannot run beside others and also alone",
                fix_commands.unset_command(("lanes", "exclusive"), name),
            )


def _undeclared(config: Config) -> Iterator[Finding]:
    """The names in autopick and in aliases that no lane has."""
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


def _overlapping(config: Config, commands: EditCommands) -> Iterator[Finding]:
    """The pairs of lanes that may run beside others, and whose trees overlap."""
    lanes: list[tuple[str, Region]] = []
    for name in sorted({*config.lanes.concurrent, *config.lanes.repeatable}):
        tree = region(config.lanes.trees.get(name, ()))
        if tree.is_known:
            lanes.append((name, tree))
    pairs = overlapping_pairs([tree for _, tree in lanes])
    for first, second in islice(pairs, MOST_OVERLAPS):
        yield _overlap(lanes[first], lanes[second], commands)
    if next(pairs, None):
        detail = f"more than {MOST_OVERLAPS:,} pairs of lanes overlap; the others are not listed"
        yield _finding(
            Kind.CONCURRENT_LANES_OVERLAP, "", detail, commands.for_key("lanes", "trees")
        )


def _overlap(
    first: tuple[str, Region], second: tuple[str, Region], commands: EditCommands
) -> Finding:
    """The finding on two overlapping lanes: one is inside the other, or they share a part."""
    first_name, first_tree = first
    second_name, second_tree = second
    first_inside = is_within(first_tree, second_tree)
    if first_inside == is_within(second_tree, first_tree):
        first_glob, second_glob = first_collision(first_tree, second_tree) or ("", "")
        return _finding(
            Kind.CONCURRENT_LANES_OVERLAP,
            f"{first_name}+{second_name}",
            f"lanes {first_name!r} and {second_name!r} overlap in {first_glob!r} and"
            f" {second_glob!r}, so they never run at the same time; make their trees disjoint",
            commands.for_key("lanes", "trees", first_name),
        )
    if first_inside:
        inner, outer = first_name, second_name
    else:
        inner, outer = second_name, first_name
    return _finding(
        Kind.LANE_REGION_SHADOWED,
        inner,
        f"every path of lane {inner!r} is inside lane {outer!r}, so they never run at the same"
        f" time; remove it from the tree of {outer!r}, or make {outer!r} exclusive",
        commands.for_key("lanes", "trees", outer),
    )


def _capped_ratio(config: Config) -> Iterator[Finding]:
    """An overlap that is larger than any setting may tolerate."""
    ratio = config.overlap.ratio_max
    if ratio > SOFT_OVERLAP_CEILING:
        yield _finding(
            Kind.OVERLAP_RATIO_CAPPED,
            "overlap.ratio_max",
            f"ratio_max {ratio:g} counts as 1/3, the most that `dos arbitrate` tolerates",
            fix_commands.set_command(("overlap", "ratio_max"), 0.33),
        )


def _unknown_triggers(config: Config, commands: EditCommands) -> Iterator[Finding]:
    """The automatic transitions that nothing ever makes; others are for a person to judge."""
    for transition in config.lifecycle.transitions:
        if transition.auto and transition.trigger not in TRIGGERS:
            yield _finding(
                Kind.TRIGGER_UNKNOWN,
                transition.trigger,
                f"plans never move from {transition.from_class!r} to {transition.to_class!r}: the"
                f" trigger {transition.trigger!r} is none of {', '.join(TRIGGERS)}",
                commands.for_key("lifecycle", "transitions"),
            )


def _unread(set_keys: Iterable[Key]) -> Iterator[Finding]:
    """The settings that no code reads."""
    for key in unread_keys(set_keys):
        name = key_text(key)
        kind = Kind.POLICY_UNREAD
        detail = f"{name} is set, but this version of dos does not read it"
        if _is_among(key, RELEASED_LAYOUT):
            kind = Kind.LAYOUT_UNUSED
            detail = f"{name} has no effect: it describes files of dos-kernel, and dos has none"
        yield _finding(kind, name, detail, fix_commands.unset_command([str(part) for part in key]))


def _dangling_references(config: Config, commands: EditCommands) -> Iterator[Finding]:
    """The reasons whose `see_also` names a lane that is not declared."""
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
                commands.for_key("reasons", token, "see_also"),
            )


def is_unread(key: Key) -> bool:
    """Whether no code of this version reads the setting."""
    return _is_among(key, NOT_YET_READ) or _is_among(key, RELEASED_LAYOUT)


def _is_among(key: Key, settings: frozenset[Key]) -> bool:
    """Whether the settings have the key, or a table around it."""
    return any(key[:end] in settings for end in range(1, len(key) + 1))


def unread_keys(set_keys: Iterable[Key]) -> list[Key]:
    """Return the keys that a file sets in vain, without the tables and lists around them."""
    unread = [key for key in set_keys if is_unread(key)]
    tables = set(_TABLES)  # an empty one sets nothing
    for key in unread:
        tables.update(key[:end] for end in range(1, len(key)))
    leaves = {_without_indexes(key) for key in unread if key not in tables}
    return sorted(leaves, key=str)


def _without_indexes(key: Key) -> Key:
    """The key of the list around an entry, because an entry cannot be unset by its index."""
    for number, part in enumerate(key):
        if isinstance(part, int):
            return key[:number]
    return key
