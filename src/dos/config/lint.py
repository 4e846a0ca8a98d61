"""What in a configuration is a mistake although it can be read. Pure."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import combinations
from typing import Any

import msgspec
from msgspec import Struct

from dos.config.checks import Problem
from dos.config.notation import key_text
from dos.config.tables import Config
from dos.records.names import folded
from dos.records.regions import Region, first_collision, overlaps


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


SEVERITIES = {
    Kind.CONFIG_INVALID: Severity.ERROR,
    Kind.LANE_WITHOUT_TREE: Severity.ERROR,
    Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE: Severity.ERROR,
    Kind.AUTOPICK_LANE_UNDECLARED: Severity.WARN,
    Kind.ALIAS_TARGET_UNDECLARED: Severity.WARN,
    Kind.LANE_REGION_SHADOWED: Severity.WARN,
    Kind.CONCURRENT_LANES_OVERLAP: Severity.WARN,
    Kind.REASON_SEE_ALSO_DANGLES: Severity.INFO,
}


class Finding(Struct, frozen=True, kw_only=True):
    kind: Kind
    severity: Severity
    subject: str
    detail: str
    fix: str


def lint(config: Config, problems: Iterable[Problem] = ()) -> list[Finding]:
    """Every finding: errors first, then by kind and subject. `problems` are those of a lenient load."""
    found = [
        *(_finding(Kind.CONFIG_INVALID, key_text(it.key) or "dos.toml", str(it), it.hint) for it in problems),
        *_lanes_without_tree(config),
        *_lanes_in_two_roles(config),
        *_undeclared(config),
        *_overlapping(config),
        *_dangling_references(config),
    ]
    order = list(Severity)
    return sorted(found, key=lambda finding: (order.index(finding.severity), finding.kind, finding.subject))


def as_json(findings: list[Finding]) -> dict[str, Any]:
    counts = Counter(finding.severity for finding in findings)
    return {
        "findings": msgspec.to_builtins(findings),
        "counts": {severity.value: counts[severity] for severity in Severity},
    }


def fails(findings: list[Finding], *, strict: bool = False) -> bool:
    """Whether the verb exits 1: for an error or a warning, or with `strict` for errors alone."""
    gating = {Severity.ERROR} if strict else {Severity.ERROR, Severity.WARN}
    return any(finding.severity in gating for finding in findings)


def _finding(kind: Kind, subject: str, detail: str, fix: str) -> Finding:
    return Finding(kind=kind, severity=SEVERITIES[kind], subject=subject, detail=detail, fix=fix)


def _lanes_without_tree(config: Config) -> Iterator[Finding]:
    lanes = config.lanes
    for name in dict.fromkeys((*lanes.concurrent, *lanes.autopick)):
        if not lanes.trees.get(name):
            roles = [role for role in ("concurrent", "autopick") if name in getattr(lanes, role)]
            yield _finding(
                Kind.LANE_WITHOUT_TREE,
                name,
                f"lane {name!r} ({', '.join(roles)}) has no tree: nothing can run beside it",
                f'Add {key_text((name,))} = ["PATH/**"] to [lanes.trees].',
            )


def _lanes_in_two_roles(config: Config) -> Iterator[Finding]:
    for name in dict.fromkeys(config.lanes.concurrent):
        if name in config.lanes.exclusive:
            yield _finding(
                Kind.LANE_BOTH_CONCURRENT_AND_EXCLUSIVE,
                name,
                f"lane {name!r} is listed as concurrent and as exclusive",
                "Take it out of one of the two lists.",
            )


def _undeclared(config: Config) -> Iterator[Finding]:
    lanes = config.lanes
    declared = {folded(name) for name in lanes.roster()}
    for name in dict.fromkeys(lanes.autopick):
        if folded(name) not in declared:
            yield _finding(
                Kind.AUTOPICK_LANE_UNDECLARED,
                name,
                f"autopick names {name!r}, which is neither concurrent nor exclusive",
                f"Add {name!r} to [lanes] concurrent, or take it out of autopick.",
            )
    for word, target in lanes.aliases.items():
        if folded(target.strip()) not in declared:
            yield _finding(
                Kind.ALIAS_TARGET_UNDECLARED,
                word,
                f"alias {word!r} stands for {target!r}, which is neither concurrent nor exclusive",
                f"Declare {target!r} in [lanes], or point {word!r} at one of: {', '.join(lanes.roster())}.",
            )


def _overlapping(config: Config) -> Iterator[Finding]:
    regions = {name: config.lane_region(name) for name in dict.fromkeys(config.lanes.concurrent)}
    known = {name: region for name, region in regions.items() if region is not None and region.known}
    for (first, one), (second, other) in combinations(sorted(known.items()), 2):
        if not overlaps(one, other):
            continue
        first_inside, second_inside = _inside(one, other), _inside(other, one)
        if first_inside == second_inside:
            mine, theirs = first_collision(one, other) or ("", "")
            yield _finding(
                Kind.CONCURRENT_LANES_OVERLAP,
                f"{first}+{second}",
                f"lanes {first!r} and {second!r} collide on {mine!r} and {theirs!r}, so they never run side by side",
                "Make their trees disjoint in [lanes.trees].",
            )
            continue
        inner, outer = (first, second) if first_inside else (second, first)
        yield _finding(
            Kind.LANE_REGION_SHADOWED,
            inner,
            f"every path of lane {inner!r} lies inside lane {outer!r}, so they never run side by side",
            f"Take {inner!r} out of the tree of {outer!r}, or make {outer!r} exclusive.",
        )


def _inside(one: Region, other: Region) -> bool:
    return all(any(prefix.startswith(outer) for outer in other.prefixes) for prefix in one.prefixes)


def _dangling_references(config: Config) -> Iterator[Finding]:
    declared = {folded(name) for name in config.roster()}
    for token, reason in config.reasons.items():
        for reference in reason.see_also:
            named = re.fullmatch(r"\s*lane\s+(.+?)\s*", reference)
            if named is None or named[1].startswith("<") or folded(named[1]) in declared:
                continue
            yield _finding(
                Kind.REASON_SEE_ALSO_DANGLES,
                token,
                f"reason {token} refers to lane {named[1]!r}, which is not declared",
                "Name a declared lane in see_also, or take the reference out.",
            )
